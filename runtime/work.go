package runtime

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/journal"
)

// maxCrashes is how many crashes in a row without progress an automatic driver accepts. Then a person has to ask.
const maxCrashes = 3

// Work drives every run that can go on by itself, one after the other, and returns when there is none left or ctx ends.
// Runs that wait for a person or a time, reached a limit, diverged, are driven by a living process, crashed three times in a row without progress,
// or have a driver that this program lacks, are left alone. Each run is driven at most once.
//
// report, when not nil, is told what came of each; when it returns false, Work ends.
func (e *Engine) Work(ctx context.Context, report func(run string, res Result, err error) bool) error {
	after := ""
	for {
		run, err := e.next(ctx, after)
		if err != nil || run == "" {
			return err
		}
		after = run
		res, err := e.Drive(ctx, run, DriveOptions{})
		if errors.Is(err, ErrInterrupted) {
			return err
		}
		if report != nil && !report(run, res, err) {
			return nil
		}
	}
}

// next finds the next run that can go on. The list is not held while a run is driven.
func (e *Engine) next(ctx context.Context, after string) (string, error) {
	for s, err := range e.cfg.Journal.List(ctx, journal.Query{After: after, Unfinished: true}) {
		if err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if _, ok := e.cfg.Drivers[s.Driver]; ok && s.Crashes < maxCrashes && e.canGoOn(&s) {
			return s.Run, nil
		}
	}
	return "", nil
}

// CanGoOn says whether a run that nobody drives can be driven further now, without anybody saying something first.
func (e *Engine) CanGoOn(s *journal.State) bool { return !s.Finished && e.canGoOn(s) }

// canGoOn says whether a run can be driven now. A cancelled one can always be closed.
func (e *Engine) canGoOn(s *journal.State) bool {
	if s.Imported || !s.CancelAsked && e.waitsForSomebody(s) {
		return false
	}
	return e.mayClaim(s, false) == nil
}

// waitsForSomebody says whether a run cannot go on before someone has said something, or before its time has come. One
// that was cut off with an effect in doubt can: a look-up may know.
func (e *Engine) waitsForSomebody(s *journal.State) bool {
	switch {
	case s.Late > 0 || s.Unconfirmed, s.Stopped == journal.StopLimit: // whatever else is said, the limit stays until it is raised
		return true
	case s.Woken:
		return false
	case s.Stopped == journal.StopWaiting:
		return s.Due == 0 || e.cfg.Now().UnixNano() < s.Due
	}
	return s.Stopped == journal.StopDiverged || s.Stopped == journal.StopUncertain
}
