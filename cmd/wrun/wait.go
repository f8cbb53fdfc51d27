package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

func newWait(a *app) *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait RUN",
		Short: "Wait until a run has ended, or needs somebody",
		Long: `Wait until a run has ended, or until nobody drives it and it needs a person, or a time that has not
come. Nothing is driven and nothing is changed: another process goes on with the run, such as
"wrun resume --due --watch". What is written, and the exit code, are those of "wrun resume RUN" for
a run in that state; with --timeout 8 when it is not in one by then.`,
		Example: "  wrun wait invoice-7\n  wrun wait invoice-7 --timeout 10m",
		Args:    a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("timeout") && timeout <= 0 {
				return usage(c, "--timeout: want a duration such as 90s or 2h")
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				run, err := a.runOf(c.Context(), h, first(args), unfinished)
				if err != nil {
					return err
				}
				return a.wait(c.Context(), h, run, timeout)
			})
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after this `DURATION`, with exit code 8 (default never)")
	return c
}

// errPatience is the cause of a context that --timeout has ended.
var errPatience = errors.New("the time is over")

func (a *app) wait(ctx context.Context, h *wrun.Host, run string, timeout time.Duration) error {
	limited, stop := ctx, func() {}
	if timeout > 0 {
		limited, stop = context.WithTimeoutCause(ctx, timeout, errPatience)
	}
	defer stop()
	res, err := h.Rest(limited, run, func() { a.say("nobody drives run %s; it goes on with: %s", run, a.cmd("resume "+run)) })
	if context.Cause(limited) == errPatience && (errors.Is(err, errPatience) || errors.Is(err, context.DeadlineExceeded)) {
		err = &gaveUpError{after: timeout, why: fmt.Errorf("run %s is neither finished nor in need of anybody", run), next: a.cmd("show " + run)}
	}
	if ctx.Err() != nil && err != nil {
		return err
	}
	return a.ended(run, res, err)
}

// stoppedProblem is a run that was let go of and that a person has to see to, as its log says it.
func (a *app) stoppedProblem(e *runtime.StoppedError) problem {
	switch {
	case e.Stop == journal.StopLimit && strings.Contains(e.Note, "the journal takes about "):
		return problem{code: codeJournalQuota, next: a.cmd("resume " + e.Run + " --journal-quota SIZE")}
	case e.Stop == journal.StopLimit && strings.Contains(e.Note, "its quota is "):
		return problem{code: codeRunQuota, next: a.cmd("resume " + e.Run + " --run-quota SIZE")}
	case e.Stop == journal.StopLimit:
		return problem{code: codeBudget, next: a.raise(e.Run, limitIn(e.Note))}
	case e.Stop == journal.StopDiverged:
		return problem{code: codeDiverged, next: a.cmd("log " + e.Run)}
	case e.Stop == journal.StopUncertain:
		return problem{code: codeUncertain, next: a.cmd("show " + e.Run)}
	case e.Stop == journal.StopWaiting:
		return problem{code: codeWaiting, next: a.cmd("resume " + e.Run + " --wait")}
	}
	return problem{code: codeCrashed, next: a.cmd("log "+e.Run) + "\n" + a.cmd("resume "+e.Run)}
}
