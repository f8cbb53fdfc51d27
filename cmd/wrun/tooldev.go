package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/toolbuild"
	"github.com/wrun-dev/wrun/internal/watch"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// lookEvery is how often tool dev looks at the files. It reads their times, and nothing of what is in them.
const lookEvery = 300 * time.Millisecond

func newToolDev(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Build and test a tool, and again whenever a file of it changes",
		Long: `Build the tool in a directory, or in this one, and run its tests, and do so again whenever one of its files has changed and
the others have come to rest. Ctrl-C ends it, with exit code 130; what fails does not.

The module is written as by "wrun tool build" when it builds. The tests are those of "go test" where the
tool is in Go, and the cases below DIR/cases.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := orHere(args)
			if info, err := os.Stat(dir); err != nil {
				return fileError(err)
			} else if !info.IsDir() {
				return fileError(fmt.Errorf("%s is not a directory", dir))
			}
			if output == "" {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return fileError(err)
				}
				output = filepath.Base(abs) + ".wasm"
			}
			ticker := time.NewTicker(lookEvery)
			defer ticker.Stop()
			return a.develop(c.Context(), dir, output, ticker.C, casesOf(c.Root(), dir, output))
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the module to this `FILE` (default DIR.wasm)")
	return c
}

// develop makes a round now, and one after each change that is seen at a tick, until the context ends.
func (a *app) develop(ctx context.Context, dir, output string, ticks <-chan time.Time, cases func(context.Context) error) error {
	w := watch.Dir{Path: dir, Skip: notSources}
	err := w.Each(ctx, ticks, func(ctx context.Context) {
		if err := a.round(ctx, dir, output, cases); err != nil && ctx.Err() == nil {
			a.report(ctx, err)
		}
		if ctx.Err() == nil {
			a.say("waiting for a change in %s; Ctrl-C ends this", dir)
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fileError(err)
}

// notSources says of a path whether a change there is no change of the tool: what building writes, what begins with a dot, and what
// editors keep beside a file that is being edited.
func notSources(path string) bool {
	name := filepath.Base(path)
	return name[0] == '.' || name[0] == '#' || strings.HasSuffix(name, "~") || filepath.Ext(name) == ".wasm" || filepath.Ext(name) == ".tar"
}

// round builds the tool and runs its tests, then its cases; cases may be nil.
func (a *app) round(ctx context.Context, dir, output string, cases func(context.Context) error) error {
	wasm, err := a.buildTool(ctx, dir)
	if err != nil {
		return err
	}
	m, err := sandbox.Inspect(wasm)
	if err != nil {
		return named(err, dir)
	}
	if err := writeFile(output, wasm); err != nil {
		return err
	}
	line := moduleLine(m)
	line["file"] = output
	if err := a.either(line, "%s  %s %s, digest %s\n", output, m.Manifest.Name, m.Manifest.Version, m.Digest.Short()); err != nil {
		return err
	}
	if lang, _, err := toolbuild.Look(dir); err == nil && lang == toolbuild.Go {
		if err := a.goTest(ctx, dir); err != nil {
			return err
		}
	}
	if cases == nil {
		return nil
	}
	return cases(ctx)
}

// goTest runs the tests of a tool in Go.
func (a *app) goTest(ctx context.Context, dir string) error {
	out, err := toolbuild.Test(ctx, dir)
	if ctx.Err() != nil {
		return err
	}
	a.saying.Lock()
	fmt.Fprint(a.errOut, toolabi.CleanText(string(out), maxSaid))
	a.saying.Unlock()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return &codedError{codeDevTests, fmt.Errorf("go test in %s: %w", dir, err)}
	}
	return err
}
