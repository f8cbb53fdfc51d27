package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

func newReconcile(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "reconcile RUN | --all",
		Short: "Ask the tools' look-ups what became of effects in doubt",
		Long: `Ask the look-ups of a run's tools what became of the effects that are in doubt, and record what they
find. Nothing else is executed; "wrun resume RUN" goes on. Resuming asks them by itself.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if all && len(args) == 1 || !all && len(args) == 0 && !a.canPick() {
				return usage(c, "say either RUN or --all")
			}
			return a.driving(c.Context(), false, func(h *wrun.Host) error {
				if all {
					return a.reconcileAll(c.Context(), h)
				}
				run, err := a.runTaken(c.Context(), h, first(args), inDoubt)
				if err != nil {
					return err
				}
				return a.reconciled(c.Context(), h, run)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every run with an effect in doubt that nobody drives")
	return c
}

// reconcileAll goes through all runs; what one run could not settle does not keep the others from it.
func (a *app) reconcileAll(ctx context.Context, h *wrun.Host) error {
	var runs []string
	for s, err := range h.Journal().List(ctx, journal.Query{Unsettled: true}) {
		if err != nil {
			return err
		}
		if len(s.InDoubt()) > 0 && h.Status(&s) != journal.Running {
			runs = append(runs, s.Run)
		}
	}
	var first error
	for _, run := range runs {
		err := a.reconciled(ctx, h, run)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.say("run %s: %v", run, err)
		}
		if first == nil || !isUncertain(first) && isUncertain(err) {
			first = err
		}
	}
	if len(runs) == 0 {
		a.say("nothing is in doubt")
	}
	return first
}

func isUncertain(err error) bool {
	var u *runtime.UncertainError
	return errors.As(err, &u)
}

// reconciled reports what the look-ups of a run found, a line for each effect, and returns what is left to a person or a
// time.
func (a *app) reconciled(ctx context.Context, h *wrun.Host, run string) error {
	found, err := h.Reconcile(ctx, run)
	if err != nil {
		return &runError{run, err}
	}
	var left error
	for _, f := range found {
		word := "not known"
		var early *runtime.WaitingError
		switch {
		case f.Settled && f.Happened:
			word = "happened"
		case f.Settled:
			word = "did not happen"
		case errors.As(f.Err, &early):
			word = "too early to say"
		}
		if a.json {
			err = a.line(map[string]any{"run": run, "step": f.Step, "verdict": word, "settled": f.Settled})
		} else {
			err = a.printf("%s  %s  %s\n", run, f.Step, word)
		}
		if err != nil {
			return err
		}
		if left == nil || isUncertain(f.Err) && !isUncertain(left) {
			left = f.Err
		}
	}
	if left != nil {
		return &runError{run, left}
	}
	if len(found) == 0 {
		a.say("nothing of run %s is in doubt", run)
	}
	return nil
}
