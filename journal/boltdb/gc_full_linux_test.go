package boltdb_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Where nothing more may begin, because the disk is full, what nobody needs can still be removed.
func TestAFullDiskCanBeCollected(t *testing.T) {
	dir := newTmpfs(t, "size=16m")
	j, err := boltdb.Create(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	fillRun(t, j, "old", true)
	other, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Put(t.Context(), strings.NewReader(strings.Repeat("o", 2<<20))); err != nil {
		t.Fatal(err)
	}
	other.Close() // with its pin
	fillUp(t, filepath.Join(dir, "other"))
	got, err := j.Collect(t.Context(), boltdb.CollectOptions{Keep: map[journal.Status]time.Duration{journal.Done: 0}})
	if err != nil || got.Runs != 1 || got.BlobBytes < 2<<20 {
		t.Errorf("got %+v, %v, want a run and a blob to be removed", got, err)
	}
	if err := j.Append(t.Context(), "next", 0, created()); err != nil {
		t.Errorf("afterwards a run cannot begin: %v", err)
	}
	whole(t, j.Path())
}

// A journal on a full disk can be backed up to another one: there is hardly a better reason to.
func TestAJournalOnAFullDiskIsBackedUp(t *testing.T) {
	dir := newTmpfs(t, "size=16m")
	j, err := boltdb.Create(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	fillRun(t, j, "old", true)
	fillRun(t, j, "other", false)
	release, err := boltdb.Maintain(t.Context(), j, "nothing") // so that the file of that lock is there
	if err != nil {
		t.Fatal(err)
	}
	release()
	fillUp(t, filepath.Join(dir, "other"))
	in := look(t, j)
	back, _ := restored(t, backup(t, j))
	if got := look(t, back); !got.equal(in) {
		t.Errorf("put back was %+v, want %+v", got, in)
	}
}
