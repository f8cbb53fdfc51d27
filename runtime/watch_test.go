package runtime_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// touchable is a store that tells when it was changed, and counts how often it is read.
type touchable struct {
	journaltest.Store
	changed atomic.Int64
	reads   atomic.Int64
}

func (s *touchable) Touched() (time.Time, error) { return time.Unix(0, s.changed.Load()), nil }

func (s *touchable) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	s.reads.Add(1)
	return s.Store.Read(ctx, run, from)
}

// A journal in which nothing happens is left alone, and what is appended is seen soon.
func TestWatchReadsAJournalThatHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
		p := m.start(nil)
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
			t.Fatal(err)
		}
		store := &touchable{Store: m.mem.Handle()}
		store.changed.Store(time.Now().UnixNano())
		watcher := m.process(store, nil)
		var finished atomic.Bool
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for e, err := range watcher.Watch(t.Context(), "r", 0) {
				if err != nil {
					t.Error(err)
				}
				finished.Store(e.Kind == journal.Finished)
			}
		}()
		time.Sleep(4 * time.Second) // of the bubble
		before := store.reads.Load()
		if before > 6 {
			t.Errorf("in 4 seconds in which nothing happened it was read %d times", before)
		}
		if _, err := m.drive(p, steps("pure")); err != nil {
			t.Fatal(err)
		}
		store.changed.Store(time.Now().UnixNano())
		began := time.Now()
		<-ended
		if took := time.Since(began); !finished.Load() || took > 300*time.Millisecond { // of the bubble
			t.Errorf("the end is seen after %s, %v", took, finished.Load())
		}
	})
}

func TestAWatchThatIsStoppedSaysWhy(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for _, err := range p.Watch(ctx, "r", 0) {
		last = err
		cancel(why)
	}
	if !errors.Is(last, why) {
		t.Errorf("it ends with %v", last)
	}
}
