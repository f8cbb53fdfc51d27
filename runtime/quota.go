package runtime

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
)

// QuotaError says that a run, or the journal, takes as much space as it may, before a step that would have taken more. The run
// stops: it is not closed, and a process that allows more goes on with it.
type QuotaError struct {
	Run  string
	Step journal.Step
	// Journal says that it is the journal as a whole which is too large, and not the run.
	Journal bool
	// Used and Limit are in bytes.
	Used, Limit int64
}

// Error says how much of what.
func (e *QuotaError) Error() string {
	what := "run " + e.Run + " takes"
	if e.Journal {
		what = "the journal takes about"
	}
	return fmt.Sprintf("%s %d bytes, its quota is %d: step %s of run %s is not begun", what, e.Used, e.Limit, e.Step, e.Run)
}

func (*QuotaError) stop() string { return journal.StopLimit }

// withinQuota says why a step does not begin, or nil.
func (r *Run) withinQuota(ctx context.Context, step journal.Step) error {
	if limit := r.engine.cfg.RunQuota; limit > 0 {
		used, err := r.takes(ctx)
		if err != nil {
			return err
		}
		if used >= limit {
			return &QuotaError{Run: r.id, Step: step, Used: used, Limit: limit}
		}
	}
	if limit := r.engine.cfg.JournalQuota; limit > 0 {
		used, err := r.engine.sizer.Size(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return r.ended(ctx)
		case err != nil:
			return r.journalError(err)
		case used >= limit:
			return &QuotaError{Run: r.id, Step: step, Journal: true, Used: used, Limit: limit}
		}
	}
	return nil
}

// takes is how many bytes the run's entries take, with their bodies, also those that are blobs, and its artifacts. Each blob
// counts once. The modules of a run do not count: other runs have the same.
func (r *Run) takes(ctx context.Context) (int64, error) {
	_, artifacts, err := (&holding{run: r}).Usage(ctx)
	if err != nil {
		return 0, err
	}
	return r.kept.entries() + int64(artifacts), nil
}

// weight is what the entries of a run take, folded from its log; where there is no quota nothing is counted.
type weight struct {
	counted bool
	bytes   int64
	bodies  map[journal.Digest]bool
}

func (w *weight) add(e journal.Entry) {
	if !w.counted {
		return
	}
	w.bytes += int64(e.EncodedLen())
	if e.Blob.IsZero() || w.bodies[e.Blob] {
		return
	}
	if w.bodies == nil {
		w.bodies = map[journal.Digest]bool{}
	}
	w.bodies[e.Blob] = true
	w.bytes += e.Size
}
