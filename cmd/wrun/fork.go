package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newFork(a *app) *cobra.Command {
	var at, id, why string
	var yes bool
	c := &cobra.Command{
		Use:   "fork RUN --at STEP",
		Short: "Copy a run up to a step, to go on from there differently",
		Long: `Copy a run up to a step under another id, which is written to standard output. What had begun
before the step is taken with its results; from the step on everything is done again when the copy
is resumed. Effects that took place and would take place once more are listed, and have to be agreed
to. The run itself stays as it is. It may be closed, failed or cancelled: a fork is the way forward.`,
		Example: "  wrun fork invoice-7 --at receipt --id invoice-7b",
		Args:    a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if at == "" {
				return usage(c, "say from which step on: --at STEP")
			}
			if err := journal.Step(at).Validate(); err != nil {
				return usage(c, "--at: %v", err)
			}
			if id == "" {
				id = newID("fork")
			}
			if err := journal.ValidateRun(id); err != nil {
				return usage(c, "--id: %v", err)
			}
			if !utf8.ValidString(why) {
				return usage(c, "--note has to be UTF-8")
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				run, err := a.runTaken(c.Context(), h, first(args), anyRun)
				if err != nil {
					return err
				}
				plan, err := h.PlanFork(c.Context(), run, journal.Step(at))
				if err != nil {
					return &runError{run, err}
				}
				if len(plan.Again) > 0 && !yes {
					if err := a.agree(c, "These happened in the run, or may have, and would happen again in the copy:", plan.Again); err != nil {
						return err
					}
				}
				return a.fork(c.Context(), h, run, journal.Step(at), id, why)
			})
		},
	}
	c.Flags().StringVar(&at, "at", "", "the first `STEP` that is done again")
	c.Flags().StringVar(&id, "id", "", "the copy's id (default a new one)")
	c.Flags().StringVar(&why, "note", "", "why, for the log")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask about the effects that happen again")
	return c
}

func (a *app) fork(ctx context.Context, h *wrun.Host, run string, at journal.Step, id, why string) error {
	f, err := h.Fork(ctx, run, at, id, userName(), why)
	if err != nil {
		return err
	}
	a.say("%s is a copy of %s up to %s: %d results are taken, %d effects are done again", id, run, at, f.Taken, len(f.Again))
	for _, step := range f.InDoubt {
		a.say("in doubt in both: %s", step)
	}
	a.say("next: %s", a.cmd("resume "+id))
	if a.json {
		return a.line(map[string]any{"run": id, "from": run, "at": at, "taken": f.Taken, "again": len(f.Again), "in_doubt": orEmpty(f.InDoubt)})
	}
	return a.printf("%s\n", id)
}

// agree lists effects and asks whether to go on; who cannot be asked has to say --yes.
func (a *app) agree(c *cobra.Command, title string, effects []runtime.Effect) error {
	a.saying.Lock()
	fmt.Fprintln(a.errOut, title)
	for _, e := range effects {
		fmt.Fprintf(a.errOut, "  %s\n", effectText(e))
	}
	a.saying.Unlock()
	if !a.canAsk() {
		return usage(c, "what happened would happen again; say --yes if that is wanted")
	}
	return a.ask(c.Context(), "Go on?")
}

func effectText(e runtime.Effect) string {
	words := []string{string(e.Step), e.Tool, e.Name, e.Note}
	if !e.Known {
		words = append(words, "(its outcome is not known)")
	}
	return toolabi.CleanLine(strings.Join(strings.Fields(strings.Join(words, " ")), " "), 400)
}
