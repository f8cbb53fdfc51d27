package boltdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

func owners(t *testing.T, path string) int {
	t.Helper()
	files, err := os.ReadDir(path + ".owners")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// Who releases what it claimed leaves no file; who does not, leaves one that says that it is dead.
func TestAnOwnersFileStaysOnlyWhileARunNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	for _, releases := range []bool{true, false} {
		j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		me, err := j.Owner()
		if err != nil {
			t.Fatal(err)
		}
		entries := []journal.Entry{{Kind: journal.Created, Name: "d"}, {Kind: journal.Claimed, Owner: me}}
		if releases {
			entries = append(entries, journal.Entry{Kind: journal.Released, Name: "done", Owner: me})
		}
		if err := j.Append(t.Context(), fmt.Sprintf("run-%t", releases), 0, entries...); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		want := 1
		if releases {
			want = 0
		}
		if got := owners(t, path); got != want {
			t.Errorf("releases %t: %d files of owners are left, want %d", releases, got, want)
		}
	}
}

// The files of killed processes are removed once there are many, but for those that a run still needs.
func TestFilesOfTheDeadAreSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	needed, err := j.Owner()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), "r", 0, journal.Entry{Kind: journal.Created, Name: "d"}, journal.Entry{Kind: journal.Claimed, Owner: needed}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for i := range 70 {
		f := filepath.Join(path+".owners", fmt.Sprintf("%032x", i))
		if err := os.WriteFile(f, []byte("1 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(path+".owners", needed), old, old); err != nil {
		t.Fatal(err)
	}
	j, err = boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Owner(); err != nil {
		t.Fatal(err)
	}
	if got := owners(t, path); got != 2 {
		t.Errorf("%d files of owners are left, want the needed one and the new one", got)
	}
	if live, err := j.Liveness(needed); live != journal.Dead || err != nil {
		t.Errorf("the needed one is %v, %v", live, err)
	}
}
