package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/toolbox"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newToolAdd(a *app) *cobra.Command {
	var grants grantFlags
	var yes bool
	c := &cobra.Command{
		Use:   "add FILE.wasm",
		Short: "Add a tool: look at what it asks for, and remember what you grant to it",
		Long: `Show what a module is and what it asks for, ask whether to add it, and remember it under its name,
with what it is granted. None of it is run.

It is granted what its manifest determines by itself: its targets of HTTP, its own store, artifacts.
What only you can say comes from flags: where secrets are found, directories, mail. What a flag says
takes the place of what the manifest or an earlier version has there. What is not granted is listed,
with the flag for it. The grants belong to these bytes, wherever they are used; another version of
the tool is shown with what changed, and asked about again.

Where nobody can be asked, --yes has to be said.`,
		Example: `  wrun tool add payments.wasm --secret stripe=env:STRIPE_KEY@https://api.stripe.com
  wrun tool add report.wasm --workspace ./reports --allow-artifacts=50MiB --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			flags, err := grants.grants(c)
			if err != nil {
				return err
			}
			if !isModuleFile(args[0]) {
				return usage(c, "%q is no file of a module: want one with a / in its path or .wasm at its end, such as ./%s", toolabi.CutText(args[0], 80), toolabi.CutText(args[0], 80))
			}
			p, err := a.proposal(args[0], flags)
			if err != nil {
				return err
			}
			p.again = a.cmd("tool add " + quoted(args[0]) + grants.text() + " --yes")
			if err := a.compile(c.Context(), p); err != nil {
				return err
			}
			return a.addTool(c, p, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "add it without asking")
	grants.add(c)
	return c
}

// proposal is a tool as it would be added.
type proposal struct {
	box     toolbox.Box
	given   string // the file as it was named
	path    string // and where it is
	wasm    []byte
	info    *sandbox.Module
	grants  hostfuncs.Grants
	useless hostfuncs.Grants // what flags grant and the module does not ask for
	again   string           // the command that adds it and asks nobody
	// before is what is remembered of the name, nil for nothing; was is that module, nil where its bytes cannot be used.
	before *grantfile.Record
	was    *sandbox.Module
}

// proposal reads a module and works out what it would be granted: what flags say, what was granted before and is still asked for,
// and what the manifest determines and nobody has decided about yet.
func (a *app) proposal(path string, flags hostfuncs.Grants) (*proposal, error) {
	wasm, err := readModule(path)
	if err != nil {
		return nil, err
	}
	p := &proposal{given: path, wasm: wasm}
	if p.path, err = filepath.Abs(path); err != nil {
		return nil, fileError(err)
	}
	if p.info, err = wrun.CheckModule(wasm); err != nil {
		return nil, named(err, path)
	}
	m := p.info.Manifest
	if err := toolbox.CheckName(m.Name); err != nil {
		return nil, &codedError{codeModule, fmt.Errorf("%s: %w", path, err)}
	}
	if p.box, err = a.toolbox(); err != nil {
		return nil, err
	}
	if err := p.remember(m.Name); err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, w := range grantfile.Words(flags) {
		said[slot(w)] = true
	}
	unsaid := func(w grantfile.Word) bool { return !said[slot(w)] }
	all, offered := flags, authority.Offered(m)
	if p.before != nil {
		all = all.Union(grantfile.Select(p.before.Grants, unsaid))
	}
	if p.was != nil { // what was offered then was decided about then
		decided := grantfile.Words(authority.Offered(p.was.Manifest))
		offered = grantfile.Select(offered, func(w grantfile.Word) bool { return !slices.Contains(decided, w) })
	}
	flagged := grantfile.Words(flags)
	p.grants, p.useless = authority.Usable(m, all)
	p.useless = grantfile.Select(p.useless, func(w grantfile.Word) bool { return slices.Contains(flagged, w) })
	p.grants = p.grants.Union(grantfile.Select(offered, unsaid))
	if err := p.grants.Validate(); err != nil {
		return nil, &codedError{codeModule, fmt.Errorf("%s: what it would be granted: %w", path, err)}
	}
	return p, nil
}

// slot is what a flag takes the place of, of what was granted before or a manifest determines: the secret, the setting, the store
// or the directory of its name; everything of its kind where there are no names.
func slot(w grantfile.Word) string {
	switch w.Flag {
	case "secret", "set", "dir":
		name, _, _ := strings.Cut(w.Value, "=")
		return w.Flag + " " + name
	case "allow-kv":
		return w.Flag + " " + strings.TrimSuffix(w.Value, ":ro")
	}
	return w.Flag
}

// remember finds what was added under the name.
func (p *proposal) remember(name string) error {
	rec, err := p.box.Find(name)
	var unknown *toolbox.UnknownError
	if errors.As(err, &unknown) {
		return nil
	}
	if err != nil {
		return err
	}
	p.before = &rec
	if wasm, err := p.box.Module(rec); err == nil {
		if m, err := sandbox.Inspect(wasm); err == nil {
			p.was = m
		}
	}
	return nil
}

// compile compiles the module as a call of it would, so that what only a compiler finds is said now.
func (a *app) compile(ctx context.Context, p *proposal) error {
	compiler, err := compilerCommand()
	if err != nil {
		return err
	}
	s, err := sandbox.New(ctx, sandbox.Config{
		Source:   func(context.Context, toolabi.Digest) ([]byte, error) { return p.wasm, nil },
		CacheDir: cacheDir(), Compiler: compiler.Command, CompileTimeout: compiler.Timeout, CompileMemory: compiler.Memory, OnCompile: a.compiling,
	})
	if err != nil {
		return err
	}
	s.Add(p.info)
	return errors.Join(named(s.Prepare(ctx, p.info.Digest), p.path), s.Close(context.WithoutCancel(ctx)))
}

// addTool shows the proposal, asks, and remembers it.
func (a *app) addTool(c *cobra.Command, p *proposal, yes bool) error {
	m := p.info.Manifest
	if p.before != nil && p.before.Digest == p.info.Digest && p.before.Grants.Equal(p.grants) {
		a.say("%s %s was added already, with these bytes and these grants; nothing was changed", m.Name, m.Version)
		return a.added(*p.before)
	}
	a.saying.Lock()
	fmt.Fprint(a.errOut, p.text())
	a.saying.Unlock()
	if !yes {
		if !a.canAsk() {
			return &notAskedError{"whether to add it", p.again}
		}
		if err := a.ask(c.Context(), fmt.Sprintf("Add %s %s with these grants?", m.Name, m.Version)); err != nil {
			return err
		}
	}
	rec := grantfile.Record{
		Name: m.Name, Version: m.Version, Digest: p.info.Digest, File: strings.ToValidUTF8(p.path, "\uFFFD"),
		Added: time.Now().UTC().Truncate(time.Second), Grants: p.grants,
	}
	if err := p.box.Add(rec, p.wasm, p.before); err != nil {
		return a.boxError(err)
	}
	a.say("next: %s", a.cmd("call "+m.Name+" "+m.Tools[0].Name+" '{}'"))
	return a.added(rec)
}

// added writes what is remembered of a tool to standard output.
func (a *app) added(rec grantfile.Record) error {
	if a.json {
		return a.line(recordLine(rec))
	}
	return a.printf("%s %s, digest %s, grants: %s\n", rec.Name, rec.Version, rec.Digest.Short(), grantsText(rec.Grants))
}

// boxError says of an error of the system that it was about the configuration.
func (a *app) boxError(err error) error {
	if _, known := a.grantProblem(err); known {
		return err
	}
	return fileError(err)
}
