package journal_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// liar changes what a journal says.
type liar struct {
	*journaltest.Mem
	read func([]journal.Entry) []journal.Entry
	list func([]journal.State) []journal.State
}

func (l *liar) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return changed(l.Mem.Read(ctx, run, from), l.read)
}

func (l *liar) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return changed(l.Mem.List(ctx, q), l.list)
}

func changed[T any](seq iter.Seq2[T, error], change func([]T) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		for v, err := range seq {
			if err != nil {
				yield(v, err)
				return
			}
			all = append(all, v)
		}
		if change != nil {
			all = change(all)
		}
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// wholeJournal holds two runs with effects, tool state and blobs.
func wholeJournal(t *testing.T) *journaltest.Mem {
	t.Helper()
	m := journaltest.NewMem()
	blob := strings.Repeat("blob", 1000)
	d, n, err := m.Put(t.Context(), strings.NewReader(blob))
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range []string{"a", "b"} {
		withBlob := record("blob")
		withBlob.Blob, withBlob.Size, withBlob.Refs = d, n, []journal.Digest{d}
		withBlob.Writes = []journal.Write{{Space: "s", Key: "k", Expect: uint64(i)}}
		err := m.Append(t.Context(), run, 0, created(), claimed(me), intent("x", journal.Doubt), result("x"), withBlob, finished(journal.OK))
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestVerifyFindsNothingInAWholeJournal(t *testing.T) {
	journaltest.Check(t, wholeJournal(t))
}

// relink gives entries positions and hashes as if they had been written that way.
func relink(run string, es []journal.Entry) []journal.Entry {
	before := journal.ChainStart(run)
	for i := range es {
		es[i].Seq = uint64(i)
		if _, err := es[i].Marshal(before); err != nil {
			panic(err)
		}
		before = es[i].Hash
	}
	return es
}

func TestVerifyFindsWhatAStoreDoesWrong(t *testing.T) {
	type es = []journal.Entry
	for name, l := range map[string]liar{
		"a changed entry":        {read: func(e es) es { e[1].Note = "changed"; return e }},
		"a missing entry":        {read: func(e es) es { return append(e[:2:2], e[3:]...) }},
		"a missing end":          {read: func(e es) es { return e[:5] }},
		"entries swapped":        {read: func(e es) es { e[3], e[4] = e[4], e[3]; return e }},
		"a result of no intent":  {read: func(e es) es { return relink("a", append(e[:2:2], e[3:]...)) }},
		"a second result":        {read: func(e es) es { return relink("a", append(e[:4:4], e[3:]...)) }},
		"another log":            {read: func(e es) es { return relink("other", e) }},
		"another end":            {read: func(e es) es { e[4].Note = "rewritten"; return relink("a", e) }},
		"another state":          {list: func(s []journal.State) []journal.State { s[0].Owner = "somebody"; return s }},
		"runs out of order":      {list: func(s []journal.State) []journal.State { s[0], s[1] = s[1], s[0]; return s }},
		"a run twice":            {list: func(s []journal.State) []journal.State { return append(s, s[1]) }},
		"a run that is not":      {list: func(s []journal.State) []journal.State { return append(s, journal.State{Run: "c", Len: 1}) }},
		"a blob of another size": {read: func(e es) es { e[4].Size++; return relink("a", e) }},
		"a blob that is not":     {read: func(e es) es { e[4].Refs = []journal.Digest{{1}}; return relink("a", e) }},
		"a lost update":          {read: func(e es) es { e[4].Writes[0].Expect = 1; return relink("a", e) }},
	} {
		t.Run(name, func(t *testing.T) {
			l.Mem = wholeJournal(t)
			faults := 0
			for fault := range journal.Verify(t.Context(), &l) {
				faults++
				if !errors.Is(fault, journal.ErrDamaged) && !errors.Is(fault, journal.ErrNotFound) {
					t.Errorf("got %v, want that it is damaged", fault)
				}
			}
			if faults == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

func TestVerifyCanBeLeft(t *testing.T) {
	l := liar{Mem: wholeJournal(t), read: func(e []journal.Entry) []journal.Entry { return e[:1] }}
	n := 0
	for range journal.Verify(t.Context(), &l) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d faults, want to see one", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for fault := range journal.Verify(ctx, l.Mem) {
		if !errors.Is(fault, context.Canceled) {
			t.Errorf("got %v, want %v", fault, context.Canceled)
		}
	}
}
