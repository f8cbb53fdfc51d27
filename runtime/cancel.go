package runtime

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
)

// Cancel says that a run starts no further step. It may be said by anyone at any time; whoever drives the run ends what
// is under way, and closes it. Cancelling twice is fine.
//
// Errors: journal.ErrClosed for a finished run; journal.ErrImported; journal.ErrNotFound.
func (e *Engine) Cancel(ctx context.Context, run, by, note string) error {
	return untilSettled(func() error {
		s, err := e.state(ctx, run)
		switch {
		case err != nil:
			return err
		case s.Finished:
			return fmt.Errorf("run %s: %w", run, journal.ErrClosed)
		case s.Imported:
			return fmt.Errorf("run %s: %w", run, journal.ErrImported)
		case s.CancelAsked:
			return nil
		}
		return e.extend(ctx, s, journal.Entry{Kind: journal.Cancel, By: by, Note: note})
	})
}
