package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// await begins a step that waits. Its intent is on the disk with the release of the run, in one append.
func (r *Run) await(ctx context.Context, o op, step journal.Step, intent journal.Entry) (outcome, error) {
	p, err := o.pending()
	if err != nil {
		o.refused = readable(hostfuncs.AsError(err))
		return r.record(ctx, o, step, nil, outcome{err: o.refused})
	}
	intent.Due, intent.Expires = unixNano(p.Due), unixNano(p.Expires)
	if p.Text != "" {
		intent.Note = toolabi.CutText(p.Text, maxNote)
	}
	if intent, err = r.log.add(intent, false); err != nil {
		return outcome{}, err
	}
	r.observe(o, step, Event{Phase: Begun, Began: announced(&intent), Request: o.request})
	return r.goOnWaiting(ctx, o, step, &intent)
}

// goOnWaiting answers a step that waits for the clock once it is due, and denies one that has expired. Everything else
// comes from outside.
func (r *Run) goOnWaiting(ctx context.Context, o op, step journal.Step, intent *journal.Entry) (outcome, error) {
	switch {
	case intent.Due != 0:
		if err := r.until(ctx, o, step, intent.Name, intent.Due, r.engine.cfg.Patience); err != nil {
			return outcome{}, err
		}
		p, err := o.pending()
		if err != nil {
			return outcome{}, &hostError{fmt.Errorf("step %s: %w", step, err)}
		}
		return r.record(ctx, o, step, intent, outcome{reply: p.Reply})
	case intent.Expires != 0 && r.now() > intent.Expires:
		o.refused, o.now = expiredAnswer(intent), true // somebody may be answering at this moment
		return r.record(ctx, o, step, intent, outcome{err: o.refused})
	}
	return outcome{}, &WaitingError{Run: r.id, Step: step, For: intent.Name, Text: intent.Note, Due: timeOf(intent.Expires)}
}

// now is the time as the log sees it: a clock that was set back does not bring back what has expired there.
func (r *Run) now() (now int64) {
	r.log.view(func(_ *journal.History, s *journal.State) { now = max(r.engine.cfg.Now().UnixNano(), s.Time) })
	return now
}

// expiredAnswer is the answer to a question that nobody answered in time.
func expiredAnswer(intent *journal.Entry) *toolabi.Error {
	e := toolabi.NewError(toolabi.Denied, fmt.Sprintf("nobody agreed before %s", timeOf(intent.Expires).UTC().Format(time.RFC3339)))
	e.Detail = toolabi.DetailExpired
	return e
}

// until returns when a time has come that is near; for what is farther away than patience the run is suspended.
func (r *Run) until(ctx context.Context, o op, step journal.Step, what string, due int64, patience time.Duration) error {
	left := time.Duration(due - r.engine.cfg.Now().UnixNano())
	if left <= 0 {
		return nil
	}
	if left > patience {
		return &WaitingError{Run: r.id, Step: step, For: what, Due: timeOf(due)}
	}
	if o.frame != nil {
		defer o.frame.pause()()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return r.ended(ctx)
	}
}

// noteWaiting remembers that a step waits. What else the run has to do goes on.
func (r *Run) noteWaiting(w *WaitingError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.waits {
		if known.Step == w.Step {
			return
		}
	}
	r.waits = append(r.waits, w)
}

// waiting returns what the run waits for, or nil. It says when time alone lets the run go on.
func (r *Run) waiting() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waits) == 0 {
		return nil
	}
	all := *r.waits[0]
	for _, w := range r.waits[1:] {
		all.Also = append(all.Also, w.Step)
		if all.Due.IsZero() || !w.Due.IsZero() && w.Due.Before(all.Due) {
			all.Due = w.Due
		}
	}
	return &all
}

// pause stops the clock of a call and of those that called it, until resume is called: waiting is not living.
func (f *frame) pause() (resume func()) {
	f.mu.Lock()
	running := f.clock.Stop()
	left := time.Until(f.deadline)
	f.mu.Unlock()
	outer := func() {}
	if f.caller != nil {
		outer = f.caller.pause()
	}
	return func() {
		outer()
		f.mu.Lock()
		defer f.mu.Unlock()
		if running {
			f.deadline = time.Now().Add(left)
			f.clock.Reset(left)
		}
	}
}

// Sleep waits until a time has passed since the step began. A wait of a second or less is waited for here; a longer one
// suspends the run, and whoever drives it once it is due goes on. Errors: *WaitingError.
func (r *Run) Sleep(ctx context.Context, step journal.Step, d time.Duration) error {
	return r.sleep(ctx, step, toolabi.SleepRequest{MS: uint64(max(d.Milliseconds(), 1))}, func(now time.Time) time.Time { return now.Add(d) })
}

// SleepUntil is Sleep until a moment. One that has passed returns at once.
func (r *Run) SleepUntil(ctx context.Context, step journal.Step, t time.Time) error {
	return r.sleep(ctx, step, toolabi.SleepRequest{Until: t.UnixNano()}, func(time.Time) time.Time { return t })
}

func (r *Run) sleep(ctx context.Context, step journal.Step, req toolabi.SleepRequest, due func(now time.Time) time.Time) error {
	_, err := r.waitFor(ctx, step, toolabi.FuncSleep, req, func() (hostfuncs.Pending, error) {
		reply, err := toolabi.Encode(toolabi.SleepReply{})
		return hostfuncs.Pending{Due: due(r.engine.cfg.Now()), Reply: reply}, err
	})
	return err
}

// waitFor is a step of the driver's own that waits.
func (r *Run) waitFor(ctx context.Context, step journal.Step, name string, request any, pending func() (hostfuncs.Pending, error)) ([]byte, error) {
	answered, err := r.ask(step)
	if err != nil {
		return nil, err
	}
	defer answered()
	body, err := toolabi.Encode(request)
	if err != nil {
		return nil, err
	}
	out, err := r.step(ctx, op{
		step: step, name: name, class: toolabi.Wait, request: body, digest: requestDigest(name, body), pending: pending,
	})
	switch {
	case err != nil:
		return nil, err
	case out.err != nil:
		return nil, out.err
	}
	return out.reply, nil
}

// Await returns when a run that waits, or is driven by another process, can go on: something was answered or settled, its
// time has come, it was cancelled or is finished, or it does not wait any more but for somebody to say what became of an
// effect, or the like, which Drive then says. It drives nothing. Errors: journal.ErrNotFound, the journal's, and context.Cause(ctx).
func (e *Engine) Await(ctx context.Context, run string) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	latest := e.latest(run)
	for {
		s, err := latest(ctx)
		switch {
		case err != nil && !errors.Is(err, journal.ErrBusy):
			return err
		case err == nil && (s.Finished || e.canGoOn(s) || stoppedOtherwise(s)):
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// stoppedOtherwise says whether nobody drives a run, and time or an answer are not what it waits for.
func stoppedOtherwise(s *journal.State) bool {
	return s.Owner == "" && (s.Imported || s.Stopped != journal.StopWaiting || s.Late > 0 || s.Unconfirmed)
}

// unixNano is a time as an entry has it. The log knows no time before 1970, and takes 0 for none.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.UnixNano(), 1)
}

// timeOf is the time of an entry's field, zero for 0.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
