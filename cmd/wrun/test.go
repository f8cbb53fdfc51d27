package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// testFlags are those of wrun test.
type testFlags struct {
	cases, run string
	record     recordFlags
	points     string // --crash-points
	seed       uint64
}

func newTest(a *app) *cobra.Command {
	var flags testFlags
	c := &cobra.Command{
		Use:   "test [TOOL.wasm|DIR]",
		Short: "Run the cases of a tool: calls in a world that is written down",
		Long: `Run the cases of a tool: calls, each with the world that it is made in and with what should come of
it. The cases are *.yaml files in the directory "cases" beside the module; of a directory with the
source of a tool, this one by default, which is built first, in DIR/cases. docs/testing.md describes the format.

A tool runs as it does otherwise, with its real host functions, in the sandbox. What it talks to is
played on this machine, and a request that its world has no answer to fails the case. Nothing leaves
the machine, nothing is written into the journal, and no time is waited for but short pauses between
two attempts of a call.

With --crash-points, what the tools declare is tested with each case that passes: the call is cut off at
every append to its journal, or at so many of them, and resumed; its requests go wrong; and what its
world saw is held against the declaration. docs/crash-points.md says what is done, and what is found.

With --record a case is written instead: of a real call, which is made with the grants that are given,
or of one that is in the journal. Values of secrets are never in it.

The exit code is 1 when a case failed or a tool breaks its declaration, and 2 when the cases have
mistakes.`,
		Example: "  wrun test ./charge\n  wrun test payments.wasm --run declined -v\n  wrun test payments.wasm --crash-points all\n" +
			"  wrun test payments.wasm --record finds --tool find --input @find.json --allow-http https://ledger.example.com\n" +
			"  wrun test payments.wasm --record seven --from invoice-7",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			only, err := regexp.Compile(flags.run)
			if err != nil {
				return usage(c, "--run: %v", err)
			}
			if err := flags.record.check(c); err != nil {
				return err
			}
			crash, err := crashOptions(flags.points, flags.seed, c.Flags().Changed("crash-seed"))
			if err != nil {
				return usage(c, "--crash-points: %v", err)
			}
			m, dir, err := a.underTest(c.Context(), orHere(args))
			if err != nil {
				return err
			}
			if flags.cases != "" {
				dir = flags.cases
			}
			if flags.record.name != "" {
				return a.record(c, m, dir, &flags.record)
			}
			files, err := readCases(dir, flags.cases == "")
			if err != nil {
				return err
			}
			return a.test(c.Context(), m, files, only, crash)
		},
	}
	c.Flags().StringVar(&flags.cases, "cases", "", "the `FILE` or directory of the cases (default cases beside the module)")
	c.Flags().StringVar(&flags.points, "crash-points", "none", "test what tools declare at `all|N` moments of each case that passes")
	c.Flags().Uint64Var(&flags.seed, "crash-seed", 0, "draw the N moments as another run did that said this seed")
	flags.record.add(c)
	c.Flags().StringVar(&flags.run, "run", "", "run only the cases whose names match this `REGEXP`")
	return c
}

// underTest returns the module that is tested and where its cases are by default. What is a directory is built.
func (a *app) underTest(ctx context.Context, word string) (*sandbox.Module, string, error) {
	if info, err := os.Stat(word); err == nil && info.IsDir() {
		wasm, err := a.buildTool(ctx, word)
		if err != nil {
			return nil, "", err
		}
		m, err := sandbox.Inspect(wasm)
		return m, filepath.Join(word, "cases"), named(err, word)
	}
	wasm, err := readModule(word)
	if err != nil {
		return nil, "", err
	}
	m, err := sandbox.InspectCached(wasm, cachePath())
	return m, filepath.Join(filepath.Dir(word), "cases"), named(err, word)
}

// bench compiles a module for its cases.
func (a *app) bench(ctx context.Context, m *sandbox.Module) (*tooltest.Bench, error) {
	compiler, err := compilerCommand()
	if err != nil {
		return nil, err
	}
	return tooltest.New(ctx, m, tooltest.Config{Cache: cacheDir(), Compiler: compiler.Command})
}

// test runs the cases that are wanted, and says what came of them.
func (a *app) test(ctx context.Context, m *sandbox.Module, files []caseFile, only *regexp.Regexp, crash *tooltest.CrashOptions) (err error) {
	b, err := a.bench(ctx, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	began := time.Now()
	var results []tooltest.Result
	failed, left, broken := 0, 0, 0
	for _, f := range files {
		for _, c := range f.Cases {
			if !only.MatchString(c.Name) {
				left++
				continue
			}
			r, err := b.Run(ctx, f.File, c)
			if err != nil {
				return fmt.Errorf("%s: case %s: %w", f.path, c.Name, err)
			}
			if !r.Passed() {
				failed++
			}
			results = append(results, r)
			if err := a.sayResult(f.path, r); err != nil {
				return err
			}
			if crash == nil || !r.Passed() {
				continue
			}
			kept, err := a.testDeclaration(ctx, b, f.path, f.File, c, *crash)
			if err != nil {
				return fmt.Errorf("%s: case %s: crash points: %w", f.path, c.Name, err)
			}
			if !kept {
				broken++
			}
		}
	}
	if len(results) == 0 {
		return &codedError{codeCases, fmt.Errorf("no case has a name that matches %q; there are %d", only, left)}
	}
	t := testTotals{Cases: len(results), Failed: failed, Left: left, Took: time.Since(began)}
	if left == 0 { // a part of the cases says nothing of what the others use
		if err := a.sayCoverage(tooltest.Cover(b.Manifest(), results)); err != nil {
			return err
		}
	}
	if err := a.sayTotals(t); err != nil {
		return err
	}
	if failed > 0 {
		return &codedError{codeCaseFailed, fmt.Errorf("%s failed", t)}
	}
	if broken > 0 {
		return &codedError{codeDeclaration, fmt.Errorf("%d of %s with a tool that breaks its declaration", broken, number(uint64(t.Cases), "case", "cases"))}
	}
	return nil
}
