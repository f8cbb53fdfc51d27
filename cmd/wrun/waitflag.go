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

// waitFlags say what a verb does with a run that has to wait.
type waitFlags struct {
	wait      string
	approveBy string
}

func (w *waitFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&w.wait, "wait", "", "wait where the run has to wait, at most for this `DURATION`, instead of suspending it with exit code 3")
	c.Flags().Lookup("wait").NoOptDefVal = forEver
	c.Flags().StringVar(&w.approveBy, "approve-by", "", "deny what nobody has agreed to by then: a `TIME` (RFC 3339), or a duration from now such as 24h")
}

// forEver is what --wait means without a duration.
const forEver = "for ever"

// options are the options of driving a run that the flags give; long is how long to wait, 0 not at all.
func (w *waitFlags) options(c *cobra.Command) (opts runtime.DriveOptions, long time.Duration, err error) {
	opts.By = userName()
	if w.approveBy != "" {
		if opts.ApproveBy, err = momentOf(w.approveBy); err != nil {
			return opts, 0, usage(c, "--approve-by: %v", err)
		}
	}
	switch w.wait {
	case "":
	case forEver:
		long = 1<<63 - 1
	default:
		if long, err = time.ParseDuration(w.wait); err != nil || long <= 0 {
			return opts, 0, usage(c, "--wait=%s: want a duration such as 90s or 2h", w.wait)
		}
	}
	return opts, long, nil
}

// momentOf reads a time, or a duration from now.
func momentOf(s string) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil {
		if d <= 0 {
			return time.Time{}, fmt.Errorf("%s is over already", s)
		}
		return time.Now().Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("%q is neither a time such as 2026-12-24T18:00:00Z nor a duration such as 24h", s)
	}
	return t, nil
}

// gaveUpError says that a run still waits after all the time that somebody wanted to wait.
type gaveUpError struct {
	after time.Duration
	why   error
	waits *runtime.WaitingError // nil when another process drives it
	next  string                // what to type, "" for what waits says, or to resume it
}

func (e *gaveUpError) Error() string {
	return fmt.Sprintf("gave up after %s: %v", e.after, e.why)
}

// driven drives a run, again and again while it has to wait and somebody wants to wait for it. What another process does
// with it meanwhile is waited for too.
func (a *app) driven(ctx context.Context, h *wrun.Host, run string, long time.Duration, drive func() (runtime.Result, error)) (runtime.Result, error) {
	var patience <-chan time.Time
	if long > 0 {
		t := time.NewTimer(long)
		defer t.Stop()
		patience = t.C
	}
	for {
		res, err := drive()
		a.live().left(run, err)
		var waits *runtime.WaitingError
		var busy *runtime.BusyError
		elsewhere := errors.As(err, &busy) && !busy.Unknown && len(busy.Late) == 0
		if long == 0 || !elsewhere && !errors.As(err, &waits) {
			return res, err
		}
		a.say("%v", err)
		if waits != nil {
			a.say("next: %s", a.nextOfWaiting(waits))
		}
		a.live().begin("wait "+run, func(elapsed string) string { return "waiting for run " + run + "  " + elapsed })
		waiting, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- h.Await(waiting, run) }()
		select {
		case err := <-done:
			stop()
			a.live().end("wait " + run)
			if err != nil {
				return res, err
			}
		case <-patience:
			stop()
			<-done
			a.live().end("wait " + run)
			return res, &gaveUpError{after: long, why: err, waits: waits}
		}
	}
}
