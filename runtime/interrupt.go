package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// unhurried is the context of what must not be broken off, because that would leave its outcome unknown, or lose a reply that
// had its price. Its own timeout bounds it, and a process that has to end and cannot wait for ever; and a limit, unless it is
// unlimited.
func (e *Engine) unhurried(ctx context.Context, unlimited bool) (context.Context, func()) {
	doing, give := context.WithCancelCause(context.WithoutCancel(ctx))
	var timer *time.Timer
	var mu sync.Mutex // guards timer
	stop := context.AfterFunc(ctx, func() {
		if !interrupted(ctx) { // a limit of the call's
			if !unlimited {
				give(context.Cause(ctx))
			}
			return
		}
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(e.cfg.Grace, func() { give(context.Cause(ctx)) })
	})
	return doing, func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
		give(nil)
	}
}

// interrupted says whether a context ended for another reason than a limit of the call.
func interrupted(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	var limit *toolabi.Error
	return !errors.As(context.Cause(ctx), &limit)
}

// ended returns why nothing more is begun under a context that has ended: a limit of the call, or an interruption.
func (r *Run) ended(ctx context.Context) error {
	if interrupted(ctx) {
		return fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
	}
	return &cutError{context.Cause(ctx)}
}

// cutError unwinds a guest that has reached a limit; the limit is the call's outcome.
type cutError struct{ err error }

func (e *cutError) Error() string { return e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }
