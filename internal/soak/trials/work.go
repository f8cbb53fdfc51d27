package trials

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped ends a worker because of a fault, which is in the report.
var ErrStopped = errors.New("a trial has ended other than it should")

// Work lets n workers make trials, each with its number, until all have returned. The first error ends the others; ErrStopped is told
// to nobody, since the report says more.
func Work(ctx context.Context, n int, work func(ctx context.Context, worker int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			err := work(ctx, i)
			if err == nil {
				return
			}
			stop(ErrStopped)
			if !errors.Is(err, ErrStopped) {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Pause waits, or returns the cause of the end of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
