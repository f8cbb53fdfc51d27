package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime"
)

func newResume(a *app) *cobra.Command {
	var grants grantFlags
	var waits waitFlags
	var limits budgetFlags
	var takeOver, due, watch bool
	c := &cobra.Command{
		Use:   "resume RUN | --due [--watch]",
		Short: "Go on with a run",
		Long: `Go on with a run from the journal alone: with the modules, the plan, the input and the
grants that it began with. What is recorded is served; only what is not is executed. A
finished run returns what it returned, and nothing is executed.

With --due every run goes on that can by itself: what was answered or settled, what has
become due, what was cut off; one line each to standard output. With --watch this goes on
until the command is stopped. Runs that crashed three times in a row, or have taken as much
as they may, are left to a person: --max-steps and the like let one of them take more.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := grants.grants(c)
			if err != nil {
				return err
			}
			opts, long, err := waits.options(c)
			if err != nil {
				return err
			}
			if opts.Budget, err = limits.budget(c); err != nil {
				return err
			}
			opts.Grants, opts.TakeOver = g, takeOver
			switch {
			case due && len(args) == 1, !due && len(args) == 0 && !a.canPick():
				return usage(c, "say either RUN or --due")
			case watch && !due:
				return usage(c, "--watch goes with --due")
			case due && (takeOver || long != 0 || !g.IsZero() || !opts.Budget.IsZero() || !opts.ApproveBy.IsZero()):
				return usage(c, "--due goes with --watch alone")
			case due:
				return a.driving(c.Context(), false, func(h *wrun.Host) error { return a.resumeDue(c.Context(), h, watch) })
			}
			return a.driving(c.Context(), false, func(h *wrun.Host) error {
				run, err := a.runTaken(c.Context(), h, first(args), goesOn)
				if err != nil {
					return err
				}
				res, err := a.driven(c.Context(), h, run, long, func() (runtime.Result, error) { return h.Drive(c.Context(), run, opts) })
				return a.ended(run, res, err)
			})
		},
	}
	c.Flags().BoolVar(&takeOver, "take-over", false, "go on although it cannot be told whether the process that drove it still lives")
	c.Flags().BoolVar(&due, "due", false, "go on with every run that can go on by itself")
	c.Flags().BoolVar(&watch, "watch", false, "with --due: until the command is stopped")
	grants.add(c)
	limits.add(c)
	waits.add(c)
	a.addQuotas(c)
	a.addMetrics(c)
	return c
}

// watchEvery is how often resume --due --watch looks for something to do.
const watchEvery = 500 * time.Millisecond

// resumeDue drives what can go on by itself. What becomes of one run does not keep the others from it; the first failure of
// the journal does.
func (a *app) resumeDue(ctx context.Context, h *wrun.Host, watch bool) error {
	a.several = true
	for {
		var failed error
		err := h.Work(ctx, func(run string, res runtime.Result, err error) bool {
			a.live().left(run, err)
			failed = a.cameOf(run, res, err)
			return failed == nil
		})
		if err = errors.Join(failed, err); err != nil || !watch {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", runtime.ErrInterrupted, context.Cause(ctx))
		case <-time.After(watchEvery):
		}
	}
}

// cameOf writes what came of a run, and returns what ends the whole command: that nothing can be written any more.
func (a *app) cameOf(run string, res runtime.Result, err error) error {
	var journalFailed *runtime.JournalError
	if errors.As(err, &journalFailed) {
		return &runError{run, err}
	}
	p := problem{}
	if err != nil {
		p = a.problem(err)
	}
	if a.json {
		l := map[string]any{"run": run, "exit": p.exit}
		if err == nil {
			l["output"] = shown(res.Output)
		} else {
			l["code"], l["message"], l["next"] = p.code.id, p.title, p.next
		}
		return a.line(l)
	}
	if err == nil {
		return a.printf("%s  done  %s\n", run, visible(res.Output))
	}
	return a.printf("%s  %s  %s\n", run, p.code.title, p.title)
}
