package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
	var waits waitFlags
	var limits limitFlags
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
			opts, long, err := waits.options(c)
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
			read, err := readModules(p, filepath.Dir(args[0]))
			if err != nil {
				return err
			}
			return a.driving(c.Context(), true, func(h *wrun.Host) error {
				modules, err := addModules(c.Context(), h, run, read)
				if err != nil {
					return err
				}
				return a.begin(c.Context(), h, run, runtime.Spec{
					Driver: plan.Name, Version: plan.Version, Plan: text, Input: in, Modules: modules, Grants: g,
					Limits: limits.limits(),
				}, opts, long)
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "the run's id (default a new one)")
	c.Flags().StringVar(&input, "input", "{}", "the plan's input: `JSON`, @FILE or - for standard input")
	grants.add(c)
	limits.add(c)
	waits.add(c)
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

// planModule is a module of a plan: its name there, and its bytes.
type planModule struct {
	name string
	path string
	wasm []byte
}

// readModules reads the modules of a plan, which lie in its directory or below, and holds the plan's calls against them.
func readModules(p *plan.Plan, dir string) ([]planModule, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fileError(err)
	}
	defer root.Close()
	var modules []planModule
	tools := map[string]toolabi.Tool{}
	for _, src := range p.Sources() {
		wasm, manifest, err := readModule(root, dir, src.File)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", src.Line, err)
		}
		modules = append(modules, planModule{src.Name, filepath.Join(dir, filepath.FromSlash(src.File)), wasm})
		for _, t := range manifest.Tools {
			tools[src.Name+"."+t.Name] = t
		}
	}
	for _, c := range p.Calls() {
		t, ok := tools[c.Tool]
		if !ok {
			return nil, &codedError{codeNoTool, fmt.Errorf("step %s calls %s, which the plan's modules do not have", c.Step, c.Tool)}
		}
		if c.Input == nil {
			continue // it has expressions in it, and is judged when they have values
		}
		if err := runtime.CheckJSON(t.Input, c.Input); err != nil {
			return nil, &codedError{codePlan, fmt.Errorf("step %s: input of %s: %w", c.Step, c.Tool, err)}
		}
	}
	return modules, nil
}

func readModule(root *os.Root, dir, file string) ([]byte, *toolabi.Manifest, error) {
	file = filepath.FromSlash(file)
	if _, err := root.Stat(file); err != nil { // also when a link leads out of the directory
		return nil, nil, fileError(err)
	}
	path := filepath.Join(dir, file)
	wasm, err := sandbox.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	m, err := sandbox.Inspect(wasm)
	if err != nil {
		return nil, nil, named(err, path)
	}
	return wasm, m.Manifest, nil
}

// addModules makes the modules of a plan known.
func addModules(ctx context.Context, h *wrun.Host, run string, modules []planModule) ([]runtime.Module, error) {
	var added []runtime.Module
	for _, m := range modules {
		a, err := addModule(ctx, h, run, m.wasm, m.path)
		if err != nil {
			return nil, err
		}
		a.Name = m.name
		added = append(added, a)
	}
	return added, nil
}
