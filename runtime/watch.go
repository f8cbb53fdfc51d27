package runtime

import (
	"context"
	"iter"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// watchEvery is how often Watch looks for entries of other processes.
const watchEvery = 100 * time.Millisecond

// toucher is a journal that tells without being read when it was changed last.
type toucher interface{ Touched() (time.Time, error) }

// Watch yields the entries of a run from position from, as they are appended by whatever process, and ends with the run.
// A journal that tells when it was changed is read only then, and every few seconds in case that it tells wrong.
// Errors: journal.ErrNotFound, the journal's, and context.Cause(ctx) when ctx ends first.
func (e *Engine) Watch(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			still := e.stillness()
			news := false
			for entry, err := range e.cfg.Journal.Read(ctx, run, from) {
				news = true
				if err != nil && ctx.Err() != nil {
					err = context.Cause(ctx)
				}
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
			for again := true; again; again = still() {
				select {
				case <-ctx.Done():
					yield(journal.Entry{}, context.Cause(ctx))
					return
				case <-tick.C:
				}
			}
		}
	}
}

// latest returns a function that gives the folded log of a run as it is now. It is read again only where the journal may have changed since.
func (e *Engine) latest(run string) func(context.Context) (*journal.State, error) {
	var s *journal.State
	var still func() bool
	return func(ctx context.Context) (_ *journal.State, err error) {
		if s == nil || !still() {
			still = e.stillness()
			s, err = e.state(ctx, run)
		}
		return s, err
	}
}

// stillness returns a function that says whether nothing was appended to the journal since; false where that cannot be told. What was
// changed in the last moments counts as changed once more: two changes can have the same time.
func (e *Engine) stillness() (still func() bool) {
	j, ok := e.cfg.Journal.(toucher)
	if !ok {
		return func() bool { return false }
	}
	began := time.Now()
	was, err := j.Touched()
	fresh := began.Sub(was) < 2*watchEvery
	return func() bool {
		now, again := j.Touched()
		return err == nil && again == nil && !fresh && now.Equal(was) && time.Since(began) < 50*watchEvery
	}
}

// ended says whether a run is finished and has nothing from a position on.
func (e *Engine) ended(ctx context.Context, run string, from uint64) bool {
	s, err := e.state(ctx, run)
	return err == nil && s.Finished && from >= s.Len
}
