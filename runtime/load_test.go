package runtime_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

// readCounter counts the entries that are read.
type readCounter struct {
	journaltest.Store
	entries *atomic.Int64
}

func (c readCounter) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range c.Store.Read(ctx, run, from) {
			c.entries.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

// A process that resumes a long run reads its log once: behind its claim it reads what is new.
func TestALogIsReadOnceByWhoeverResumesIt(t *testing.T) {
	m := newMachine(t, map[string]tool{"it": func(*guest, string) string { return `1` }})
	stops := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := repeat(20, "it")(ctx, r); err != nil {
			return nil, err
		}
		return nil, runtime.Unable(errors.New("no model"))
	}
	if _, err := m.drive(m.start(nil), stops); err == nil {
		t.Fatal("it did not stop")
	}
	var before int64
	for range m.mem.Read(t.Context(), "r", 0) {
		before++
	}
	var read atomic.Int64
	p := m.start(func(j journaltest.Store) journaltest.Store { return readCounter{j, &read} })
	if _, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Version: "1", Drive: stops}}); err == nil {
		t.Fatal("it did not stop")
	}
	if got := read.Load(); got < before || got > before+2 {
		t.Errorf("%d entries were read of a log of %d and a claim", got, before)
	}
}
