package journaltest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testRead(t *testing.T) {
	t.Run("a run that does not exist", m.readNone)
	t.Run("from a position", m.readFrom)
	t.Run("while appending", m.readWhileAppending)
	t.Run("until the context ends", m.readCancelled)
}

func (m Maker) readNone(t *testing.T) {
	j := m.open(t)
	begin(t, j, "run-1")
	for _, run := range []string{"run", "run-", "run-10", "", "run-1\x00", "\xff"} {
		n := 0
		for _, err := range j.Read(t.Context(), run, 0) {
			if n++; !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("read %q: got %v, want %v", run, err, journal.ErrNotFound)
			}
		}
		if n != 1 {
			t.Errorf("read %q yielded %d times, want one error", run, n)
		}
	}
}

func (m Maker) readFrom(t *testing.T) {
	const n = 500
	j := m.open(t)
	begin(t, j, "a")
	begin(t, j, "b")
	begin(t, j, "c")
	var es []journal.Entry
	for i := int64(2); i < n; i++ {
		es = append(es, record(i, "x"))
	}
	mustAppend(t, j, "b", 2, es...)
	all := entries(t, j, "b", 0)
	if len(all) != n {
		t.Fatalf("read %d entries, want %d", len(all), n)
	}
	for _, from := range []uint64{0, 1, 2, 255, n - 1, n, n + 1, 1 << 63} {
		got := entries(t, j, "b", from)
		want := all[min(from, n):]
		if !slices.EqualFunc(got, want, func(a, b journal.Entry) bool { return a.Seq == b.Seq && a.Hash == b.Hash }) {
			t.Errorf("from %d: read %d entries, want the %d from there", from, len(got), len(want))
		}
	}
}

func (m Maker) readWhileAppending(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	n := uint64(2)
	for e, err := range j.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n < 300 {
			mustAppend(t, j, "r", n, record(int64(n), "x"))
			n++
		}
		if last := e.Seq == n-1; last != (e.Seq == 299) {
			t.Fatalf("entry %d came when the log had %d", e.Seq, n)
		}
	}
	for range j.Read(t.Context(), "r", 0) {
		break // leaving early holds nothing up
	}
	mustAppend(t, j, "r", n, record(int64(n), "x"))
}

func (m Maker) readCancelled(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	for _, err := range j.Read(cancelled(t), "r", 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	}
	for _, err := range j.List(cancelled(t), journal.Query{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	}
}

func (m Maker) testList(t *testing.T) {
	const runs = 300
	j := m.open(t)
	if got := list(t, j, journal.Query{}); len(got) != 0 {
		t.Errorf("an empty journal lists %v", got)
	}
	var all, open []string
	for i := range runs {
		run := runName(i)
		begin(t, j, run)
		if i%3 == 0 {
			mustAppend(t, j, run, 2, journal.Entry{Kind: journal.Finished, Time: 3, Owner: owner, Outcome: journal.OK})
		} else {
			open = append(open, run)
		}
		all = append(all, run)
	}
	for _, c := range []struct {
		name string
		q    journal.Query
		want []string
	}{
		{"all", journal.Query{}, all},
		{"unfinished", journal.Query{Unfinished: true}, open},
		{"after one", journal.Query{After: all[99]}, all[100:]},
		{"after what is not there", journal.Query{After: "run-0099a"}, all[100:]},
		{"after the last", journal.Query{After: all[runs-1]}, nil},
		{"one", journal.Query{Run: all[7]}, all[7:8]},
		{"one, finished", journal.Query{Run: all[3], Unfinished: true}, nil},
		{"one, before after", journal.Query{Run: all[7], After: all[7]}, nil},
		{"none", journal.Query{Run: "run-"}, nil},
		{"unfinished after", journal.Query{Unfinished: true, After: open[10]}, open[11:]},
	} {
		if got := list(t, j, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %d runs, want %d: %v", c.name, len(got), len(c.want), got)
		}
	}
	// What a finished run leaves unsettled, until somebody says something.
	late := all[3]
	if got := list(t, j, journal.Query{Unsettled: true}); !slices.Equal(got, open) {
		t.Errorf("unsettled: got %d runs, want those that are not finished", len(got))
	}
	mustAppend(t, j, late, 3, journal.Entry{Kind: journal.Late, Time: 4, Step: "pay", Name: "t", Owner: owner, Outcome: journal.OK})
	if got := list(t, j, journal.Query{Unsettled: true, After: all[2]}); len(got) != len(open)-1 || got[0] != late {
		t.Errorf("unsettled, with one that is late: got %d runs, the first %s, want %s", len(got), got[0], late)
	}
	mustAppend(t, j, late, 4, record(5, journal.RecordAcknowledged))
	if got := list(t, j, journal.Query{Unsettled: true}); !slices.Equal(got, open) {
		t.Errorf("unsettled, and acknowledged: got %d runs, want those that are not finished", len(got))
	}
	for s, err := range j.List(t.Context(), journal.Query{Unfinished: true}) {
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, j, s.Run, s.Len, record(9, "seen")) // the caller may append between two
	}
}

func list(t *testing.T, j journal.Journal, q journal.Query) []string {
	t.Helper()
	var runs []string
	for s, err := range j.List(t.Context(), q) {
		if err != nil {
			t.Fatalf("list %+v: %v", q, err)
		}
		runs = append(runs, s.Run)
	}
	return runs
}
