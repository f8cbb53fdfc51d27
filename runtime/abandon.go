package runtime

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Abandon closes a run as failed although effects of it are in doubt, or although it waits. What is in doubt is named, and
// can still be settled with Resolve. It claims the run first, so it is refused while the run is being driven.
//
// Errors: *BusyError; journal.ErrClosed for a finished run; journal.ErrNotFound.
func (e *Engine) Abandon(ctx context.Context, run, by, why string) error {
	by, why = e.cfg.Secrets.HideText(by), e.cfg.Secrets.HideText(why) // the end of the run says both, too, and they are cut
	return untilSettled(func() error {
		s, err := e.state(ctx, run)
		switch {
		case err != nil:
			return err
		case s.Finished:
			return fmt.Errorf("run %s: %w", run, journal.ErrClosed)
		}
		if err := e.mayClaim(s, false); err != nil {
			return err
		}
		text := fmt.Sprintf("the run was abandoned by %s", someone(by))
		if why != "" {
			text += ": " + why
		}
		body, err := encodeError(toolabi.NewError(toolabi.Failed, text))
		if err != nil {
			return err
		}
		return e.asOwner(ctx, s, journal.Entry{
			Kind: journal.Finished, Outcome: journal.Fail, Abandon: true, Body: body,
			By: someone(by), Note: leftInDoubt(s.InDoubt(), why),
		})
	})
}

// leftInDoubt is the note of an end that leaves effects in doubt.
func leftInDoubt(steps []journal.Step, why string) string {
	if len(steps) > 0 {
		why = note(why, fmt.Sprintf("nobody knows whether these happened: %v", steps))
	}
	return toolabi.CutText(why, maxNote)
}

// Confirm says that somebody has looked at a run which was restored from a backup: all that the world has seen of it is in
// its log, or has been settled, and it may do what must not be repeated. Errors: ErrNotOpen for a run that was not
// restored, or is confirmed already; journal.ErrNotFound.
func (e *Engine) Confirm(ctx context.Context, run, by, why string) error {
	return untilSettled(func() error {
		s, err := e.state(ctx, run)
		switch {
		case err != nil:
			return err
		case !s.Unconfirmed:
			return fmt.Errorf("run %s waits for nobody to confirm it: %w", run, ErrNotOpen)
		}
		return e.extend(ctx, s, journal.Entry{Kind: journal.Record, Name: journal.RecordConfirmed, By: someone(by), Note: why})
	})
}
