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
	"github.com/wrun-dev/wrun/toolabi"
)

func newRun(a *app) *cobra.Command {
	var id, input string
	var grants grantFlags
	var waits waitFlags
	var labels labelFlags
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
			g, err := a.operatorGrants(c, &grants)
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
			named, err := labels.labels(c)
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
			read, err := a.readModules(p, filepath.Dir(args[0]))
			if err != nil {
				return err
			}
			return a.driving(c.Context(), true, func(h *wrun.Host) error {
				modules, err := a.addModules(c.Context(), h, run, read)
				if err != nil {
					return err
				}
				begun, err := g.of(c.Context(), h, run, modules...)
				if err != nil {
					return err
				}
				return a.begin(c.Context(), h, run, runtime.Spec{
					Driver: plan.Name, Version: plan.Version, Plan: text, Input: in, Modules: modules, Grants: begun,
					Limits: limits.limits(), Labels: named,
				}, g.flags, opts, long)
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "the run's id (default a new one)")
	c.Flags().StringVar(&input, "input", "{}", "the plan's input: `JSON`, @FILE or - for standard input")
	grants.add(c)
	limits.add(c)
	waits.add(c)
	labels.add(c)
	a.addQuotas(c)
	a.addMetrics(c)
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

// planModule is a module of a plan, with its name there.
type planModule struct {
	name string
	foundModule
}

// readModules reads the modules of a plan, which lie in its directory or below or were added, and holds the plan's calls against
// them.
func (a *app) readModules(p *plan.Plan, dir string) ([]planModule, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fileError(err)
	}
	defer root.Close()
	var modules []planModule
	tools := map[string]toolabi.Tool{}
	for _, src := range p.Sources() {
		found, err := a.readModule(root, dir, src)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", src.Line, err)
		}
		modules = append(modules, planModule{src.Name, found})
		for _, t := range found.info.Manifest.Tools {
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

func (a *app) readModule(root *os.Root, dir string, src plan.Source) (foundModule, error) {
	if src.Added != "" {
		return a.addedModule(src.Added)
	}
	file := filepath.FromSlash(src.File)
	if _, err := root.Stat(file); err != nil { // also when a link leads out of the directory
		return foundModule{}, fileError(err)
	}
	return a.moduleFile(filepath.Join(dir, file))
}

// addModules makes the modules of a plan known.
func (a *app) addModules(ctx context.Context, h *wrun.Host, run string, modules []planModule) ([]runtime.Module, error) {
	var added []runtime.Module
	for _, m := range modules {
		known, err := a.addModule(ctx, h, run, m.foundModule)
		if err != nil {
			return nil, err
		}
		known.Name = m.name
		added = append(added, known)
	}
	return added, nil
}
