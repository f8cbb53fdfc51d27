package runtime

import (
	"context"
	"iter"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// watchEvery is how often Watch looks for entries of other processes.
const watchEvery = 100 * time.Millisecond

// Watch yields the entries of a run from position from, as they are appended by whatever process, and ends with the run.
// Errors: journal.ErrNotFound, the journal's, and context.Cause(ctx) when ctx ends first.
func (e *Engine) Watch(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			news := false
			for entry, err := range e.cfg.Journal.Read(ctx, run, from) {
				news = true
				if !yield(entry, err) || err != nil {
					return
				}
				from = entry.Seq + 1
				if entry.Kind == journal.Finished {
					return
				}
			}
			if !news && e.ended(ctx, run, from) {
				return
			}
			select {
			case <-ctx.Done():
				yield(journal.Entry{}, context.Cause(ctx))
				return
			case <-tick.C:
			}
		}
	}
}

// ended says whether a run is finished and has nothing from a position on.
func (e *Engine) ended(ctx context.Context, run string, from uint64) bool {
	s, err := e.state(ctx, run)
	return err == nil && s.Finished && from >= s.Len
}
