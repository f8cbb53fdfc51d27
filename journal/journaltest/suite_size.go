package journaltest

import (
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// testSize: what was added through the handle itself is there at once, entries as far as the store's unit lets see them.
func (m Maker) testSize(t *testing.T) {
	dir := t.TempDir()
	j := m.Open(t, dir)
	size := func() int64 {
		t.Helper()
		n, err := j.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	const blob = 1 << 20
	for range 2 { // the second time it is there already
		if _, _, err := j.Put(t.Context(), strings.NewReader(strings.Repeat("x", blob))); err != nil {
			t.Fatal(err)
		}
	}
	if got := size() - before; got < blob || got > blob+64<<10 {
		t.Errorf("a blob of %d bytes makes it %d larger", blob, got)
	}
	before = size()
	begin(t, j, "r")
	for i := range uint64(20) {
		e := record(3, "x")
		e.Body = []byte(strings.Repeat("y", journal.MaxInline))
		mustAppend(t, j, "r", 2+i, e)
	}
	if got := size() - before; got < 20*journal.MaxInline || got > 80*journal.MaxInline {
		t.Errorf("20 entries of %d bytes make it %d larger", journal.MaxInline, got)
	}
	if _, err := j.Size(cancelled(t)); err == nil {
		t.Error("the end of the context is not noticed")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Size(t.Context()); !errors.Is(err, journal.ErrUnusable) {
		t.Errorf("after Close: got %v, want %v", err, journal.ErrUnusable)
	}
}
