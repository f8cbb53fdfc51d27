package main

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime"
)

func newRollback(a *app) *cobra.Command {
	var grants grantFlags
	var waits waitFlags
	var why string
	c := &cobra.Command{
		Use:   "rollback RUN",
		Short: "Undo what a finished run did, with its tools' compensations",
		Long: `Undo what a finished run did: each call that had effects is undone by the tool that its module names
for it, the last first, in a run of its own named RUN~rollback. What is in doubt is looked up first;
while nobody knows whether an effect took place, nothing is undone. What did not happen is not undone,
and what no tool can undo is listed. Cancel a run that is not finished first.`,
		Args: a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := grants.grants(c)
			if err != nil {
				return err
			}
			opts, long, err := waits.options(c)
			if err != nil {
				return err
			}
			if !utf8.ValidString(why) {
				return usage(c, "--note has to be UTF-8")
			}
			opts.Grants = g
			return a.driving(c.Context(), false, func(h *wrun.Host) error {
				run, err := a.runTaken(c.Context(), h, first(args), finished)
				if err != nil {
					return err
				}
				return a.rollback(c.Context(), h, run, why, opts, long)
			})
		},
	}
	c.Flags().StringVar(&why, "note", "", "why, for the log")
	grants.add(c)
	waits.add(c)
	a.addQuotas(c)
	return c
}

func (a *app) rollback(ctx context.Context, h *wrun.Host, run, why string, opts runtime.DriveOptions, long time.Duration) error {
	left, err := h.Rollback(ctx, run, opts.By, why)
	var doubt *runtime.UncertainError
	if errors.As(err, &doubt) { // perhaps a look-up knows
		if err := a.reconciled(ctx, h, run); err != nil {
			return err
		}
		left, err = h.Rollback(ctx, run, opts.By, why)
	}
	for _, e := range left {
		a.say("no tool undoes %s", effectText(e))
	}
	if err != nil {
		return &runError{run, err}
	}
	back := runtime.RollbackOf(run)
	res, err := a.driven(ctx, h, back, long, func() (runtime.Result, error) { return h.Drive(ctx, back, opts) })
	return a.ended(back, res, err)
}
