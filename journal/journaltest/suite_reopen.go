package journaltest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testReopen(t *testing.T) {
	dir := t.TempDir()
	j := m.Open(t, dir)
	begin(t, j, "r")
	blob := []byte("a blob")
	d, n, err := j.Put(t.Context(), bytes.NewReader(blob))
	if err != nil {
		t.Fatal(err)
	}
	e := record(3, "x", journal.Write{Space: "s", Key: "k", Value: []byte("v")}, journal.Write{Space: "s", Key: "gone"},
		journal.Write{Space: "s", Key: "gone", Delete: true, Expect: 1})
	e.Blob, e.Size = d, n
	mustAppend(t, j, "r", 2, e, intent(4, "charge", journal.Doubt))
	id, _ := j.ID()
	owner, _ := j.Owner()
	want := state(t, j, "r")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	j = m.openDir(t, dir)
	if got := state(t, j, "r"); got.Len != 4 || got.Head != want.Head || len(got.InDoubt()) != 1 {
		t.Errorf("after opening again the log is %+v, want %+v", got, want)
	}
	if got, _ := j.ID(); got != id {
		t.Errorf("after opening again the id is %s, want %s", got.Short(), id.Short())
	}
	if got, _ := j.Owner(); got == owner {
		t.Errorf("a new handle has the old owner %q", got)
	}
	if v, version, err := j.Get(t.Context(), "s", "k"); string(v) != "v" || version != 1 || err != nil {
		t.Errorf("after opening again the key is %q in version %d, %v", v, version, err)
	}
	if _, version, err := j.Get(t.Context(), "s", "gone"); version != 2 || !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("after opening again the deleted key has version %d, %v", version, err)
	}
	refuse(t, j, journal.ErrExists, "r", 4, intent(5, "charge", journal.Doubt))
	mustAppend(t, j, "r", 4, result(5, "charge"))
}

func (m Maker) testClose(t *testing.T) {
	dir := t.TempDir()
	keep, j := m.openDir(t, dir), m.Open(t, dir)
	begin(t, j, "r")
	for range 2 {
		if err := j.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := j.Append(t.Context(), "r", 2, record(3, "x")); !errors.Is(err, journal.ErrUnusable) {
		t.Errorf("append after close: got %v, want %v", err, journal.ErrUnusable)
	}
	for _, err := range j.Read(t.Context(), "r", 0) {
		if !errors.Is(err, journal.ErrUnusable) {
			t.Errorf("read after close: got %v, want %v", err, journal.ErrUnusable)
		}
	}
	for _, err := range j.List(t.Context(), journal.Query{}) {
		if !errors.Is(err, journal.ErrUnusable) {
			t.Errorf("list after close: got %v, want %v", err, journal.ErrUnusable)
		}
	}
	if got := length(t, keep, "r"); got != 2 {
		t.Errorf("through the other handle the log has %d entries, want 2", got)
	}
}
