package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// recordFlags are those that make a case of a call.
type recordFlags struct {
	name, tool, input, from, step string
	grants                        grantFlags
}

func (r *recordFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&r.name, "record", "", "make a real call, with --tool, --input and grants, and write it as the case `NAME`")
	c.Flags().StringVar(&r.tool, "tool", "", "with --record: the `TOOL` that is called")
	c.Flags().StringVar(&r.input, "input", "{}", "with --record: its input, `JSON|@FILE`")
	c.Flags().StringVar(&r.from, "from", "", "with --record: write a call of this `RUN` of the journal instead of making one")
	c.Flags().StringVar(&r.step, "step", call.Step, "with --from: the `STEP` of the call")
	r.grants.add(c)
}

// check says what is wrong with the flags together.
func (r *recordFlags) check(c *cobra.Command) error {
	if r.name == "" {
		for _, name := range []string{"tool", "input", "from", "step"} {
			if c.Flags().Changed(name) {
				return usage(c, "--%s is for --record NAME", name)
			}
		}
		if len(r.grants.given) > 0 {
			return usage(c, "grants are for --record NAME; a case grants what its file says")
		}
		return nil
	}
	switch {
	case !toolabi.IsModuleName(r.name):
		return usage(c, "--record: want a name of lower-case letters, digits and inner hyphens")
	case r.from == "" && r.tool == "":
		return usage(c, "--record: which call? want --tool TOOL, or --from RUN")
	case r.from != "" && (r.tool != "" || c.Flags().Changed("input") || len(r.grants.given) > 0):
		return usage(c, "--from: the tool, its input and its grants are the run's")
	}
	return nil
}

// record writes a call as a case beside the others.
func (a *app) record(c *cobra.Command, m *sandbox.Module, dir string, r *recordFlags) (err error) {
	path := filepath.Join(dir, r.name+".yaml")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, &codedError{codeFile, fmt.Errorf("%s is there already; choose another name, or remove it", path)})
	}
	log, vault, err := a.recordedLog(c, m, r)
	if err != nil {
		return err
	}
	b, err := a.bench(c.Context(), m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	file, notes, err := b.Record(c.Context(), log, journal.Step(r.step), r.name)
	if err != nil {
		return fmt.Errorf("record %s: %w", r.name, err)
	}
	text, err := file.Text()
	if err != nil {
		return err
	}
	if name := vault.Find(text); name != "" {
		return &codedError{codeSecret, fmt.Errorf("the case would hold the value of secret %s; nothing was written", name)}
	}
	if err := writeNew(path, text); err != nil {
		return err
	}
	for _, note := range notes {
		a.say("%s", note)
	}
	return a.tryRecorded(c.Context(), b, path)
}

// recordedLog returns the log of the call, and what knows the values of its secrets.
func (a *app) recordedLog(c *cobra.Command, m *sandbox.Module, r *recordFlags) (log []journal.Entry, vault *hostfuncs.Vault, err error) {
	vault = hostfuncs.NewVault(nil)
	know := func(g hostfuncs.Grants) {
		for _, s := range g.Secrets { // one that cannot be read could not be sent either
			_, _ = vault.Own(c.Context(), s.Name, s.Source)
		}
	}
	if r.from != "" {
		err = a.with(c.Context(), false, func(h *wrun.Host) error {
			spec, err := h.Spec(c.Context(), r.from)
			if err != nil {
				return err
			}
			know(spec.Grants)
			log, err = wholeLog(c.Context(), h, r.from)
			return err
		})
		return log, vault, err
	}
	input, err := a.jsonInput(c.Context(), r.input)
	if err != nil {
		return nil, nil, err
	}
	if err := checkCall(m, r.tool, input); err != nil {
		return nil, nil, err
	}
	g, err := a.operatorGrants(c, &r.grants)
	if err != nil {
		return nil, nil, err
	}
	know(g.file.Union(g.flags))
	log, err = a.callOnce(c.Context(), m, r.tool, input, g.file.Union(g.flags))
	return log, vault, err
}

// callOnce makes a real call on a journal of its own, which is removed again, and returns its log.
func (a *app) callOnce(ctx context.Context, m *sandbox.Module, tool string, input []byte, g hostfuncs.Grants) (log []journal.Entry, err error) {
	dir, err := os.MkdirTemp("", "wrun-record-")
	if err != nil {
		return nil, fileError(err)
	}
	defer os.RemoveAll(dir)
	usual := a.journalPath
	a.journalPath = filepath.Join(dir, "journal.db")
	defer func() { a.journalPath = usual }()
	err = a.driving(ctx, true, func(h *wrun.Host) error {
		module, err := h.AddInspected(m)
		if err != nil {
			return err
		}
		spec := runtime.Spec{Driver: call.Name, Version: call.Version, Plan: []byte(module.Name + "." + tool), Input: input, Modules: []runtime.Module{module}, Grants: g}
		if err := finishRecorded(ctx, h, spec); err != nil {
			return err
		}
		log, err = wholeLog(ctx, h, tooltest.RunID)
		return err
	})
	return log, err
}

// finishRecorded drives a call to its end, whichever that is. Times are waited for; nobody is there to answer for a person.
func finishRecorded(ctx context.Context, h *wrun.Host, spec runtime.Spec) error {
	for {
		_, err := h.Run(ctx, tooltest.RunID, spec, runtime.DriveOptions{})
		var waits *runtime.WaitingError
		switch {
		case err == nil, errors.As(err, new(*runtime.FailedError)), errors.As(err, new(*runtime.UncertainError)):
			return nil
		case !errors.As(err, &waits):
			return err
		case waits.For == toolabi.FuncApprove:
			return &codedError{codeUsage, fmt.Errorf("the call asks a person (%s), whom --record cannot ask; make it with wrun call --id RUN, answer it, and then say --from RUN", toolabi.CleanLine(waits.Text, 200))}
		}
		if err := h.Await(ctx, tooltest.RunID); err != nil {
			return err
		}
	}
}

// wholeLog reads the log of a run with the bodies of its entries.
func wholeLog(ctx context.Context, h *wrun.Host, run string) (log []journal.Entry, err error) {
	for e, err := range h.Journal().Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if e.Body, err = h.Body(ctx, e); err != nil {
			return nil, err
		}
		log = append(log, e)
	}
	return log, nil
}

// writeNew makes a file that is not there, and the directory that it is in.
func writeNew(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fileError(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fileError(err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fileError(err)
	}
	return nil
}

// tryRecorded runs a case that was just written, so that its author sees whether it can be kept as it is.
func (a *app) tryRecorded(ctx context.Context, b *tooltest.Bench, path string) error {
	a.say("%s is written; this is how it runs:", path)
	f, err := readCaseFile(path)
	if err != nil {
		return &codedError{codeCases, err}
	}
	for _, c := range f.Cases {
		res, err := b.Run(ctx, f, c)
		if err != nil {
			return err
		}
		if err := a.sayResult(path, res); err != nil {
			return err
		}
	}
	return nil
}
