package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newAgent(a *app) *cobra.Command {
	var id string
	var grants grantFlags
	var waits waitFlags
	var labels labelFlags
	var limits limitFlags
	var budget budgetFlags
	c := &cobra.Command{
		Use:   "agent AGENT.yaml TASK",
		Short: "Let a model work on a task with tools",
		Long: `Let a model work on a task with tools, and write its last answer to standard output.
docs/agents.md describes the file. TASK is text, @FILE or - for standard input.

What the model answers is in the journal before anything is done about it, and what came of
each call after it: "wrun resume RUN" asks for nothing again that was answered, and "wrun cost
RUN" says what was paid. With --id the same agent with the same task under the same id is one
run; with another task or model, other instructions, tools or limits it is refused.

Which model is asked says the file, or WRUN_MODEL: scripted, openai/NAME or anthropic/NAME.
WRUN_MODEL_BASE_URL says where else it is than at its provider's, and WRUN_MODEL_KEY where its
key comes from: env:VARIABLE, file:PATH or cmd:PROGRAM; at the provider's own address
env:OPENAI_API_KEY or env:ANTHROPIC_API_KEY when nothing is said. The file itself cannot say
either, because it is not the operator's.`,
		Example: `  wrun agent cashier.yaml 'What is in account 7?' --id cashier-1 --allow-http https://bank.example.com`,
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := a.operatorGrants(c, &grants)
			if err != nil {
				return err
			}
			run, err := runID(c, id, agent.Name)
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
			if opts.Budget, err = budget.budget(c); err != nil {
				return err
			}
			task, err := a.task(c, args[1])
			if err != nil {
				return err
			}
			read, err := a.readAgent(args[0], a.chooseModel)
			if err != nil {
				return err
			}
			if opts.Budget.Cost != 0 && read.agent.Model.Prices == nil {
				return usage(c, `--max-cost needs "prices" under "model" in %s: what a million tokens cost`, args[0])
			}
			return a.driving(c.Context(), true, func(h *wrun.Host) error {
				modules, err := a.addModules(c.Context(), h, run, read.modules)
				if err != nil {
					return err
				}
				begun, err := g.of(c.Context(), h, run, modules...)
				if err != nil {
					return err
				}
				spec, err := read.agent.Spec(task, modules, begun, limits.limits())
				if err != nil {
					return &codedError{codeAgent, fmt.Errorf("%s: %w", args[0], err)}
				}
				spec.Labels = named
				if err := sameAgent(c.Context(), h, run, &spec); err != nil {
					return err
				}
				return a.begin(c.Context(), h, run, spec, g.flags, opts, long)
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "the run's id (default a new one)")
	grants.add(c)
	limits.add(c)
	budget.add(c)
	waits.add(c)
	labels.add(c)
	a.addQuotas(c)
	a.addMetrics(c)
	return c
}

// task reads what the agent is to do.
func (a *app) task(c *cobra.Command, arg string) (string, error) {
	text, err := a.argument(c.Context(), arg)
	if err != nil {
		return "", err
	}
	switch {
	case !utf8.Valid(text):
		return "", toolabi.NewError(toolabi.BadInput, "the task is not UTF-8")
	case len(text) == 0:
		return "", usage(c, "the task is empty")
	}
	return string(text), nil
}

// sameAgent says why a run that exists is not the one that a specification makes, with what is different.
func sameAgent(ctx context.Context, h *wrun.Host, run string, now *runtime.Spec) error {
	then, err := h.Spec(ctx, run)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil
	case err != nil:
		return &runError{run, err}
	case then.Driver != agent.Name:
		return nil // and Start says so
	}
	if err := agent.Changed(run, then, now); err != nil {
		return &runError{run, err}
	}
	return nil
}

// readAgent is an agent with its modules.
type readAgent struct {
	agent   *agent.Agent
	modules []planModule
}

// readAgent reads an agent's file and what it names, which lies in its directory or below, or was added. choose says which model is
// asked.
func (a *app) readAgent(path string, choose func(*agent.Model) error) (readAgent, error) {
	var r readAgent
	text, err := readFile(path)
	if err != nil {
		return r, err
	}
	f, err := agent.Parse(text)
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if err := choose(&f.Agent.Model); err != nil {
		return r, err
	}
	dir := filepath.Dir(path)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return r, fileError(err)
	}
	defer root.Close()
	script := ""
	if f.Agent.Model.Protocol == agent.Scripted {
		if script, err = scriptBeside(root, path, f.Script); err != nil {
			return r, err
		}
	}
	has := map[string]agent.Offers{}
	for _, src := range f.Sources {
		found, err := a.readModule(root, dir, src)
		if err != nil {
			return r, fmt.Errorf("%s: line %d: %w", path, src.Line, err)
		}
		r.modules = append(r.modules, planModule{src.Name, found})
		has[src.Name] = agent.OfferedBy(found.info.Manifest)
	}
	if r.agent, err = f.With(script, has); err != nil {
		return r, &codedError{codeAgent, fmt.Errorf("%s: %w", path, err)}
	}
	return r, nil
}
