package main

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

func newCancel(a *app) *cobra.Command {
	var by, why string
	c := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run: it starts no further step",
		Long: `Cancel a run. It starts no further step; what is under way is finished and recorded by the process
that drives it. Where nobody drives it, it is closed at once. Effects in doubt are named, and can
still be settled. What has happened stays as it is: "wrun rollback RUN" undoes it.`,
		Args: a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if !utf8.ValidString(why + by) {
				return usage(c, "the flags have to be UTF-8")
			}
			if by == "" {
				by = userName()
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				run, err := a.runTaken(c.Context(), h, first(args), unfinished)
				if err != nil {
					return err
				}
				return a.cancel(c.Context(), h, run, by, why)
			})
		},
	}
	c.Flags().StringVar(&why, "note", "", "why, for the log")
	c.Flags().StringVar(&by, "by", "", "who cancels it (default the user)")
	return c
}

func (a *app) cancel(ctx context.Context, h *wrun.Host, run, by, why string) error {
	if err := h.Cancel(ctx, run, by, why); err != nil {
		return &runError{run, err}
	}
	_, err := h.Drive(ctx, run, runtime.DriveOptions{By: by}) // which executes nothing any more
	var busy *runtime.BusyError
	var closed *runtime.FailedError
	switch {
	case errors.As(err, &busy):
		if a.json {
			return a.line(map[string]any{"run": run, "closed": false, "by": by, "next": a.cmd("show " + run)})
		}
		a.say("run %s is cancelled; %v, and ends what is under way", run, busy)
		return nil
	case errors.As(err, &closed) && closed.Outcome == journal.Cancelled:
		if a.json {
			return a.line(map[string]any{"run": run, "closed": true, "by": by, "next": a.cmd("show " + run)})
		}
		a.say("run %s is cancelled and closed. next: %s", run, a.cmd("show "+run))
		return nil
	}
	return err
}
