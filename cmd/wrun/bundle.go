package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/toolabi"
)

// bundleProblem knows what can be wrong with a bundle.
func (a *app) bundleProblem(err error) (problem, bool) {
	if lost := (*codedError)(nil); errors.As(err, &lost) && lost.code == codeOutput { // standard output is full, and not the journal's disk
		return problem{code: codeOutput}, true
	}
	return known(err, []sentinel{
		{bundle.ErrForeign, codeNotBundle, ""},
		{boltdb.ErrOtherBundle, codeNotBundle, ""},
		{bundle.ErrDamaged, codeBundleDamaged, ""},
		{bundle.ErrNewer, codeBundleNewer, ""},
		{boltdb.ErrOccupied, codeOccupied, "the same command, with --force"},
	})
}

// writeBundle writes a bundle to a file, or to standard output for "-".
func (a *app) writeBundle(c *cobra.Command, file string, force bool, write func(io.Writer) error) error {
	if file == "" {
		return usage(c, "the FILE has no name")
	}
	if file == "-" {
		if f, ok := a.out.(*os.File); ok && isTerminal(f) {
			return usage(c, "a bundle is not written to a terminal: name a FILE")
		}
		if a.json {
			return usage(c, "--json writes to standard output: name a FILE")
		}
		return write(outputWriter{a})
	}
	path, err := a.journal()
	if err != nil {
		return err
	}
	if boltdb.Belongs(file, path) {
		return usage(c, "%s belongs to the journal itself: name another FILE", toolabi.CleanLine(file, 300))
	}
	err = bundle.Write(c.Context(), file, force, write)
	if errors.Is(err, fs.ErrExist) {
		return occupied{err}
	}
	return err
}

// occupied is boltdb.ErrOccupied for a file.
type occupied struct{ error }

func (occupied) Is(target error) bool { return target == boltdb.ErrOccupied }

// outputWriter writes to standard output; its errors have the code for that.
type outputWriter struct{ a *app }

func (w outputWriter) Write(b []byte) (int, error) {
	if err := w.a.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// openBundle opens a bundle, or standard input for "-".
func (a *app) openBundle(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(a.in), nil
	}
	if file == "" {
		return nil, &codedError{codeFile, errors.New("the FILE of the bundle has no name")}
	}
	info, err := os.Stat(file) // first: opening a pipe waits for somebody at its other end
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &codedError{codeFile, fmt.Errorf("%s is no regular file; standard input is -", file)}
	}
	return os.Open(file)
}

// namesBundle says whether what names a run is the file of a bundle. Like a module, it has to look like a file: what happens to lie in the
// working directory under the id of a run is not shown in its place.
func namesBundle(run string) bool {
	return (strings.ContainsAny(run, `/\`) || strings.HasSuffix(run, ".wrun")) && bundle.Is(run)
}

// reading is with for what looks at one run, which can also be named by the beginning of its id, or by the file of a bundle. That is unpacked into a directory of its
// own, which is removed again. f is given the run's id.
func (a *app) reading(ctx context.Context, run string, f func(h *wrun.Host, run string) error) (err error) {
	return a.looking(ctx, run, wrun.Config{}, f)
}

// looking is reading with a configuration.
func (a *app) looking(ctx context.Context, run string, cfg wrun.Config, f func(h *wrun.Host, run string) error) (err error) {
	if !namesBundle(run) {
		if strings.ContainsAny(run, `/\`) { // no run has such an id
			return a.noBundle(run)
		}
		err := a.opened(ctx, cfg, func(h *wrun.Host) error {
			id, err := a.runOf(ctx, h, run, anyRun)
			if err != nil {
				return err
			}
			return f(h, id)
		})
		if strings.HasSuffix(run, ".wrun") && (errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrNoJournal)) {
			if wrong := a.noBundle(run); !errors.Is(wrong, fs.ErrNotExist) {
				return wrong
			}
		}
		return err
	}
	in, err := os.Open(run)
	if err != nil {
		return err
	}
	defer in.Close()
	told, done := meter(a, copied("unpacking", lengthOf(in)))
	h, imported, err := wrun.OpenBundle(ctx, a.configured(cfg), in, boltdb.ImportOptions{Progress: told})
	done()
	if err != nil {
		return fmt.Errorf("%s: %w", run, err)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	a.say("of %s, exported from the journal %s", toolabi.CleanLine(run, 300), imported.From.Short())
	a.bundled = true
	return f(h, imported.Run)
}

// noBundle says why a file is none that can be looked at.
func (a *app) noBundle(file string) error {
	in, err := a.openBundle(file)
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("%s: %w", file, bundle.ErrForeign), in.Close())
}

// taken says of an id that it names another run.
func taken(err error) error {
	if errors.Is(err, journal.ErrExists) {
		return &codedError{codeOtherRun, err}
	}
	return err
}
