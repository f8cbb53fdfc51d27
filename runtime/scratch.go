package runtime

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/journal"
)

// scratchLog is the log of one run in memory, under the same rules as every log. It is for what is tried on a copy and
// thrown away; nothing of it survives the process.
type scratchLog struct {
	mu      sync.Mutex
	state   *journal.State  // guarded by mu
	entries []journal.Entry // guarded by mu
}

var _ journal.Journal = (*scratchLog)(nil)

func (s *scratchLog) Append(_ context.Context, _ string, at uint64, entries ...journal.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := journal.Extend(s.state, at, entries, s.has)
	if err != nil {
		return err
	}
	s.state, s.entries = x.State, append(s.entries, x.Entries...)
	return nil
}

// has says whether the log holds an entry of a step and phase. The caller holds mu.
func (s *scratchLog) has(step journal.Step, phase uint8) (bool, error) {
	return slices.ContainsFunc(s.entries, func(e journal.Entry) bool { return e.Step == step && e.Phase() == phase }), nil
}

func (s *scratchLog) Read(_ context.Context, _ string, from uint64) iter.Seq2[journal.Entry, error] {
	s.mu.Lock()
	entries := s.entries[min(from, uint64(len(s.entries))):]
	s.mu.Unlock()
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *scratchLog) List(context.Context, journal.Query) iter.Seq2[journal.State, error] {
	s.mu.Lock()
	state := s.state.Clone()
	s.mu.Unlock()
	return func(yield func(journal.State, error) bool) { yield(*state, nil) }
}

func (s *scratchLog) Close() error { return nil }
