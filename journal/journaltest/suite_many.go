package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testMany(t *testing.T) {
	t.Run("one winner for each position", m.manyOneRun)
	t.Run("runs do not disturb each other", m.manyRuns)
	t.Run("counter kept by compare and write", m.manyCounter)
}

// manyOneRun lets several appenders on several handles race for every position of one log.
func (m Maker) manyOneRun(t *testing.T) {
	const appenders, positions = 8, 20
	dir := t.TempDir()
	handles := []Store{m.openDir(t, dir), m.openDir(t, dir)}
	begin(t, handles[0], "r")
	var mu sync.Mutex
	wins := map[uint64][]string{}
	var wg sync.WaitGroup
	for i := range appenders {
		j, name := handles[i%len(handles)], fmt.Sprint("appender ", i)
		wg.Go(func() {
			for at := uint64(2); at < 2+positions; {
				err := j.Append(t.Context(), "r", at, record(3, name))
				if err == nil {
					mu.Lock()
					wins[at] = append(wins[at], name)
					mu.Unlock()
				} else if !errors.Is(err, journal.ErrConflict) {
					t.Errorf("append at %d: %v", at, err)
					return
				}
				at++
			}
		})
	}
	wg.Wait()
	for _, e := range entries(t, handles[1], "r", 2) {
		if w := wins[e.Seq]; len(w) != 1 || w[0] != e.Name {
			t.Errorf("position %d holds the entry of %s; told that they won: %v", e.Seq, e.Name, w)
		}
	}
	if got := length(t, handles[0], "r"); got != 2+positions {
		t.Errorf("the log has %d entries, want %d", got, 2+positions)
	}
}

func (m Maker) manyRuns(t *testing.T) {
	const runs, each = 12, 10
	dir := t.TempDir()
	handles := []Store{m.openDir(t, dir), m.openDir(t, dir)}
	var wg sync.WaitGroup
	for i := range runs {
		j, run := handles[i%len(handles)], runName(i)
		wg.Go(func() {
			if err := j.Append(t.Context(), run, 0, created(1)); err != nil {
				t.Errorf("create %s: %v", run, err)
				return
			}
			for at := uint64(1); at <= each; at++ {
				if err := j.Append(t.Context(), run, at, record(2, run)); err != nil {
					t.Errorf("append to %s at %d: %v", run, at, err)
				}
				for e, err := range j.Read(t.Context(), run, at) {
					if err != nil || e.Seq != at || e.Name != run {
						t.Errorf("read back from %s: %d %s, %v", run, e.Seq, e.Name, err)
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range runs {
		if got := length(t, handles[0], runName(i)); got != 1+each {
			t.Errorf("%s has %d entries, want %d", runName(i), got, 1+each)
		}
	}
}

// manyCounter adds up through Expect: no update is lost.
func (m Maker) manyCounter(t *testing.T) {
	const adders, each = 6, 8
	dir := t.TempDir()
	handles := []Store{m.openDir(t, dir), m.openDir(t, dir)}
	var wg sync.WaitGroup
	for i := range adders {
		j, run := handles[i%len(handles)], runName(i)
		begin(t, j, run)
		wg.Go(func() {
			for at := uint64(2); at < 2+each; {
				v, version, err := j.Get(t.Context(), "s", "sum")
				if err != nil && !errors.Is(err, journal.ErrNotFound) {
					t.Error(err)
					return
				}
				w := journal.Write{Space: "s", Key: "sum", Value: append(v, '1'), Expect: version}
				switch err := j.Append(t.Context(), run, at, record(3, "add", w)); {
				case err == nil:
					at++
				case !errors.Is(err, journal.ErrStale):
					t.Errorf("append to %s: %v", run, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if v, version, err := handles[0].Get(t.Context(), "s", "sum"); len(v) != adders*each || version != adders*each || err != nil {
		t.Errorf("the sum is %d in version %d, %v, want %d", len(v), version, err, adders*each)
	}
}
