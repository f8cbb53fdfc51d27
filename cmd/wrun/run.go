package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newRun(a *app) *cobra.Command {
	var id, input string
	var grants grantFlags
	c := &cobra.Command{
		Use:   "run PLAN.yaml",
		Short: "Run a plan",
		Long: `Run a plan and write its output to standard output. docs/plans.md describes plans.

With --id the same plan with the same input under the same id is one run: a second
"wrun run" goes on with it, or returns what it returned.`,
		Example: `  wrun run invoice.yaml --id invoice-7 --input '{"number":7}' --allow-http https://ledger.example.com`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := grants.grants(c)
			if err != nil {
				return err
			}
			run, err := runID(c, id, plan.Name)
			if err != nil {
				return err
			}
			in, err := a.jsonInput(c.Context(), input)
			if err != nil {
				return err
			}
			p, text, err := readPlan(args[0], in)
			if err != nil {
				return err
			}
			return a.with(c.Context(), true, func(h *wrun.Host) error {
				modules, err := addModules(h, p, filepath.Dir(args[0]))
				if err != nil {
					return err
				}
				return a.begin(c.Context(), h, run, runtime.Spec{
					Driver: plan.Name, Version: plan.Version, Plan: text, Input: in, Modules: modules, Grants: g,
				}, userName())
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "the run's id (default a new one)")
	c.Flags().StringVar(&input, "input", "{}", "the plan's input: `JSON`, @FILE or - for standard input")
	grants.add(c)
	return c
}

// readPlan reads a plan and judges it and its input.
func readPlan(path string, input []byte) (*plan.Plan, []byte, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := runtime.CheckJSON(p.InputSchema(), input); err != nil {
		return nil, nil, toolabi.NewError(toolabi.BadInput, fmt.Sprintf("input of %s: %v", path, err))
	}
	return p, text, nil
}

// addModules reads the modules of a plan, which lie in its directory or below, and checks that they have the tools that
// the plan names.
func addModules(h *wrun.Host, p *plan.Plan, dir string) ([]runtime.Module, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fileError(err)
	}
	defer root.Close()
	var modules []runtime.Module
	tools := map[string]bool{}
	for _, src := range p.Sources() {
		if _, err := root.Stat(filepath.FromSlash(src.File)); err != nil { // also when a link leads out of the directory
			return nil, fmt.Errorf("line %d: %w", src.Line, fileError(err))
		}
		path := filepath.Join(dir, filepath.FromSlash(src.File))
		wasm, err := sandbox.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", src.Line, err)
		}
		m, err := h.AddModule(wasm)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", src.Line, named(err, path))
		}
		m.Name = src.Name
		modules = append(modules, m)
		for _, t := range m.Manifest.Tools {
			tools[m.Name+"."+t.Name] = true
		}
	}
	if i := slices.IndexFunc(p.Tools(), func(t string) bool { return !tools[t] }); i >= 0 {
		return nil, &codedError{codeNoTool, fmt.Errorf("the plan names %s, which its modules do not have", p.Tools()[i])}
	}
	return modules, nil
}

func newResume(a *app) *cobra.Command {
	var grants grantFlags
	var takeOver bool
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run",
		Long: `Go on with a run from the journal alone: with the modules, the plan, the input and the
grants that it began with. What is recorded is served; only what is not is executed. A
finished run returns what it returned, and nothing is executed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := grants.grants(c)
			if err != nil {
				return err
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				res, err := h.Drive(c.Context(), args[0], runtime.DriveOptions{Grants: g, By: userName(), TakeOver: takeOver})
				return a.ended(args[0], res, err)
			})
		},
	}
	c.Flags().BoolVar(&takeOver, "take-over", false, "go on although it cannot be told whether the process that drove it still lives")
	grants.add(c)
	return c
}
