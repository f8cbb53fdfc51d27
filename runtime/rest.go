package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// StoppedError says that nobody drives a run, and that a person has to see to it before it goes on.
type StoppedError struct {
	Run string
	// Stop is why it was let go of, a name such as journal.StopLimit; "" where it crashed again and again.
	Stop string
	// Note is what the log says of that.
	Note string
}

// Error gives the note.
func (e *StoppedError) Error() string {
	switch {
	case e.Stop == "":
		return fmt.Sprintf("run %s crashed %d times in a row without progress; nobody goes on with it by itself", e.Run, maxCrashes)
	case e.Note == "":
		return fmt.Sprintf("run %s was stopped: %s", e.Run, e.Stop)
	}
	return e.Note
}

// Rest returns once a run is at rest: it has ended, or nobody drives it and it needs a person, or a time that has not come. It drives
// nothing and changes nothing. What it returns is what Drive would of a run in that state, with a *StoppedError in the place of errors
// that say more than the log does. idle, when not nil, is called once where nobody drives the run although it could go on.
//
// Errors: those of Drive; *StoppedError; journal.ErrImported; journal.ErrNotFound; the journal's; and context.Cause(ctx).
func (e *Engine) Rest(ctx context.Context, run string, idle func()) (Result, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	latest := e.latest(run)
	for {
		s, err := latest(ctx)
		switch {
		case errors.Is(err, journal.ErrBusy):
		case err != nil && ctx.Err() != nil:
			return Result{}, context.Cause(ctx)
		case err != nil:
			return Result{}, err
		case s.Finished:
			return e.result(ctx, run)
		case e.ownerLives(s):
			var busy *BusyError
			if errors.As(e.mayClaim(s, false), &busy) && busy.Unknown { // perhaps nobody does
				return Result{}, busy
			}
		default:
			if err := e.needs(ctx, s); err != nil {
				return Result{}, err
			}
			if idle != nil {
				idle()
				idle = nil
			}
		}
		select {
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// result is what came of a finished run.
func (e *Engine) result(ctx context.Context, run string) (Result, error) {
	l, err := e.load(ctx, run)
	if err != nil {
		return Result{}, err
	}
	res, err := e.finished(ctx, l, *l.history.Finished())
	res.Driver = l.history.Created().Name
	return res, err
}

// needs says what a run that nobody drives needs before it can go on, or nil.
func (e *Engine) needs(ctx context.Context, s *journal.State) error {
	switch doubt := s.InDoubt(); {
	case s.Imported:
		return fmt.Errorf("run %s: %w", s.Run, journal.ErrImported)
	case s.CancelAsked: // whoever comes by closes it
		return nil
	case s.Late > 0:
		return &LateError{Run: s.Run}
	case s.Unconfirmed:
		return &UnconfirmedError{Run: s.Run, Step: append(doubt, "")[0]}
	case s.Stopped == journal.StopLimit:
		return e.stopped(ctx, s)
	case s.Woken:
		return nil
	case s.Stopped == journal.StopWaiting && s.Due != 0 && e.cfg.Now().UnixNano() >= s.Due:
		return nil
	case s.Stopped == journal.StopWaiting, len(doubt) == 0 && asksSomebody(s):
		return e.waiting(ctx, s)
	case len(doubt) > 0:
		l, err := e.load(ctx, s.Run)
		if err != nil {
			return err
		}
		return uncertainIn(s.Run, l.history, doubt[0], l.history.Find(doubt[0]))
	case s.Stopped == journal.StopDiverged, s.Stopped == journal.StopUncertain, s.Crashes >= maxCrashes:
		return e.stopped(ctx, s)
	}
	return nil
}

// waiting says what a run waits for: a person, where one is asked, or a time.
func (e *Engine) waiting(ctx context.Context, s *journal.State) error {
	l, err := e.load(ctx, s.Run)
	if err != nil {
		return err
	}
	var steps, clocks []journal.Step
	for _, step := range s.InOrder() {
		switch o := s.Open[step]; {
		case o.OnCut != journal.Await:
		case o.Due == 0:
			steps = append(steps, step)
		default:
			clocks = append(clocks, step)
		}
	}
	if steps = append(steps, clocks...); len(steps) == 0 { // the pause before an attempt, or a look-up
		return e.stopped(ctx, s)
	}
	o, intent := s.Open[steps[0]], l.history.Find(steps[0]).Intent
	return &WaitingError{Run: s.Run, Step: steps[0], For: intent.Name, Text: intent.Note, Due: timeOf(max(o.Due, o.Expires)), Also: steps[1:]}
}

// stopped is why a run was let go of, as its log says it.
func (e *Engine) stopped(ctx context.Context, s *journal.State) error {
	err := &StoppedError{Run: s.Run, Stop: s.Stopped}
	for entry, readErr := range e.cfg.Journal.Read(ctx, s.Run, 0) {
		if readErr != nil {
			return readErr
		}
		if entry.Kind == journal.Released {
			err.Note = entry.Note
		}
	}
	return err
}
