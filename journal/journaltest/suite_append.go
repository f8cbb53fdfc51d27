package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testAppend(t *testing.T) {
	t.Run("sets schema, position and hash", m.appendSets)
	t.Run("at exactly the length", m.appendAt)
	t.Run("after the given hash", m.appendAfter)
	t.Run("all or none", m.appendAtomic)
	t.Run("a step and phase once", m.appendOnce)
	t.Run("by the rules", m.appendRules)
	t.Run("within the caps", m.appendCaps)
	t.Run("not when the context has ended", m.appendCancelled)
	t.Run("copies", m.appendCopies)
}

func (m Maker) appendSets(t *testing.T) {
	j := m.open(t)
	es := []journal.Entry{created(1), claimed(2), intent(3, "charge", journal.Doubt)}
	es[0].Seq, es[0].Schema, es[0].Hash = 77, 9, journal.DigestOf(nil) // what the caller thinks does not count
	mustAppend(t, j, "r", 0, es...)
	got := entries(t, j, "r", 0)
	if len(got) != len(es) {
		t.Fatalf("read %d entries, want %d", len(got), len(es))
	}
	for i, e := range got {
		if e.Seq != uint64(i) || e.Schema != journal.Schema {
			t.Errorf("entry %d has position %d and schema %d", i, e.Seq, e.Schema)
		}
		if e.Seq != es[i].Seq || e.Schema != es[i].Schema || e.Hash != es[i].Hash {
			t.Errorf("entry %d was read with %d %d %s, append told its caller %d %d %s", i,
				e.Seq, e.Schema, e.Hash.Short(), es[i].Seq, es[i].Schema, es[i].Hash.Short())
		}
	}
	if s := state(t, j, "r"); s.Head != got[2].Hash || s.Owner != owner || len(s.InDoubt()) != 1 {
		t.Errorf("the folded log is %+v", s)
	}
}

func (m Maker) appendAt(t *testing.T) {
	j := m.open(t)
	refuse(t, j, journal.ErrConflict, "r", 1, created(1))
	mustAppend(t, j, "r", 0, created(1))
	for _, at := range []uint64{0, 2, math.MaxUint64} {
		refuse(t, j, journal.ErrConflict, "r", at, claimed(2))
	}
	mustAppend(t, j, "r", 1, claimed(2))
	refuse(t, j, journal.ErrConflict, "r", 1, claimed(2))
}

func (m Maker) appendAfter(t *testing.T) {
	j := m.open(t)
	e := created(1)
	e.After = journal.DigestOf([]byte("some log"))
	refuse(t, j, journal.ErrConflict, "r", 0, e)
	mustAppend(t, j, "r", 0, created(1))
	e = claimed(2)
	e.After = journal.DigestOf([]byte("another end"))
	refuse(t, j, journal.ErrConflict, "r", 1, e)
	e.After = state(t, j, "r").Head
	mustAppend(t, j, "r", 1, e)
	late := record(4, "b")
	late.After = state(t, j, "r").Head
	refuse(t, j, journal.ErrInvalid, "r", 2, record(3, "a"), late)
}

func (m Maker) appendAtomic(t *testing.T) {
	j := m.open(t)
	refuse(t, j, journal.ErrInvalid, "r", 0, created(1), claimed(2), result(3, "charge"))
	begin(t, j, "r")
	good := record(3, "first", journal.Write{Space: "s", Key: "k", Value: []byte("v")})
	refuse(t, j, journal.ErrInvalid, "r", 2, good, result(4, "charge"), record(5, "third"))
	stale := record(4, "second", journal.Write{Space: "s", Key: "other", Expect: 5})
	refuse(t, j, journal.ErrStale, "r", 2, good, stale)
	if _, _, err := j.Get(t.Context(), "s", "k"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the write of a refused append: got %v, want %v", err, journal.ErrNotFound)
	}
	mustAppend(t, j, "r", 2, intent(3, "charge", journal.Doubt), result(4, "charge"), intent(5, "mail", journal.Doubt))
	if got := length(t, j, "r"); got != 5 {
		t.Errorf("the log has %d entries, want 5", got)
	}
}

func (m Maker) appendOnce(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	mustAppend(t, j, "r", 2, intent(3, "charge", journal.Doubt))
	refuse(t, j, journal.ErrExists, "r", 3, intent(4, "charge", journal.Doubt))
	mustAppend(t, j, "r", 3, result(4, "charge"))
	refuse(t, j, journal.ErrExists, "r", 4, intent(5, "charge", journal.Doubt))
	refuse(t, j, journal.ErrExists, "r", 4, result(5, "charge"))
	refuse(t, j, journal.ErrExists, "r", 4, intent(5, "mail", journal.Redo), result(6, "mail"), intent(7, "mail", journal.Redo))
	mustAppend(t, j, "r", 4, record(5, "evidence"), record(5, "evidence"))
	begin(t, j, "r2")
	mustAppend(t, j, "r2", 2, intent(3, "charge", journal.Doubt))
	void := journal.Entry{Kind: journal.Void, Time: 4, Step: "charge", Owner: owner}
	again := result(5, "charge")
	again.OnCut, again.Name, again.Request = journal.Redo, "tool", journal.DigestOf([]byte("charge"))
	refuse(t, j, journal.ErrExists, "r2", 3, void, again) // a step that has ended does not begin again
	mustAppend(t, j, "r2", 3, void)
	refuse(t, j, journal.ErrExists, "r2", 4, again)
}

func (m Maker) appendRules(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	foreign := intent(3, "charge", journal.Doubt)
	foreign.Owner = "somebody else"
	refuse(t, j, journal.ErrFenced, "r", 2, foreign)
	refuse(t, j, journal.ErrInvalid, "r", 2, record(1, "before the last entry"))
	refuse(t, j, journal.ErrInvalid, "r", 2, intent(3, "a\x00b", journal.Doubt))
	refuse(t, j, journal.ErrInvalid, "../escape", 0, created(1))
	refuse(t, j, journal.ErrInvalid, "nul\x00in it", 0, created(1))
	refuse(t, j, journal.ErrInvalid, strings.Repeat("r", 200), 0, created(1))
	mustAppend(t, j, "r", 2, journal.Entry{Kind: journal.Restored, Time: 3}, claimed(3))
	refuse(t, j, journal.ErrUnconfirmed, "r", 4, intent(4, "charge", journal.Doubt))
	mustAppend(t, j, "r", 4, journal.Entry{Kind: journal.Cancel, Time: 4})
	refuse(t, j, journal.ErrCancelled, "r", 5, intent(5, "charge", journal.Doubt))
	mustAppend(t, j, "r", 5, journal.Entry{Kind: journal.Finished, Time: 5, Owner: owner, Outcome: journal.Cancelled})
	refuse(t, j, journal.ErrClosed, "r", 6, claimed(6))
}

func (m Maker) appendCaps(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	refuse(t, j, journal.ErrInvalid, "r", 2)
	refuse(t, j, journal.ErrInvalid, "r", 2, make([]journal.Entry, journal.MaxAppend+1)...)
	e := record(3, "body")
	e.Body = bytes.Repeat([]byte("x"), journal.MaxInline+1)
	refuse(t, j, journal.ErrInvalid, "r", 2, e)
	long := record(3, "note")
	long.Note = strings.Repeat("x", journal.MaxEntry)
	refuse(t, j, journal.ErrInvalid, "r", 2, long)
	text := record(3, "not \xff UTF-8")
	refuse(t, j, journal.ErrInvalid, "r", 2, text)
	both := record(3, "body and blob")
	both.Body, both.Blob, both.Size = []byte("x"), journal.DigestOf([]byte("x")), 1
	refuse(t, j, journal.ErrInvalid, "r", 2, both)
	for _, w := range []journal.Write{
		{Key: "k"}, {Space: "s"},
		{Space: strings.Repeat("s", journal.MaxSpace+1), Key: "k"}, {Space: "s", Key: strings.Repeat("k", journal.MaxKey+1)},
		{Space: "s", Key: "k", Value: []byte("v"), Delete: true},
	} {
		refuse(t, j, journal.ErrInvalid, "r", 2, record(3, "write", w))
	}
	e.Body = e.Body[:journal.MaxInline]
	many := make([]journal.Entry, 100)
	for i := range many {
		many[i] = record(int64(3+i), "one of many")
	}
	mustAppend(t, j, "r", 2, e)
	mustAppend(t, j, "r", 3, many...)
}

func (m Maker) appendCancelled(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	if err := j.Append(cancelled(t), "r", 2, record(3, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("append under an ended context: got %v, want %v", err, context.Canceled)
	}
	if got := length(t, j, "r"); got != 2 {
		t.Errorf("the log has %d entries, want 2", got)
	}
	mustAppend(t, j, "r", 2, record(3, "the handle is usable"))
}

// appendCopies changes what was given and what was read, and reads again.
func (m Maker) appendCopies(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	e := record(3, "copied", journal.Write{Space: "s", Key: "k", Value: []byte("value")})
	e.Body = []byte("body")
	mustAppend(t, j, "r", 2, e)
	copy(e.Body, "XXXX")
	copy(e.Writes[0].Value, "XXXXX")
	for range 2 {
		got := entries(t, j, "r", 2)[0]
		v, _, err := j.Get(t.Context(), "s", "k")
		if s := fmt.Sprintf("%s %s %s %v", got.Body, got.Writes[0].Value, v, err); s != "body value value <nil>" {
			t.Errorf("read %s", s)
		}
		copy(got.Body, "YYYY")
		copy(got.Writes[0].Value, "YYYYY")
		copy(v, "YYYYY")
	}
}
