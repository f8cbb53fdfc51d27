package boltdb_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// schema1 writes the file of an earlier version where it can be opened, and returns its bytes too.
func schema1(t *testing.T) (path string, image []byte) {
	t.Helper()
	f, err := os.Open("../../testdata/journals/schema1/journal.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if image, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "journal.db")
	place(t, path, image)
	return path, image
}

func TestAnOlderFileIsKeptAndMigrated(t *testing.T) {
	path, image := schema1(t)
	var told []boltdb.Migration
	opts := boltdb.Options{OnMigrate: func(m boltdb.Migration) { told = append(told, m) }}
	for range 2 {
		j, err := boltdb.Open(t.Context(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		for q, want := range map[journal.Query]int{{}: 4, {Unfinished: true}: 2, {Unsettled: true}: 2} {
			if n := runs(t, j, q); n != want {
				t.Errorf("%+v: it has %d runs, want %d", q, n, want)
			}
		}
		if err := j.Append(t.Context(), "done", uint64(length(t, j, "done")), journal.Entry{Kind: journal.Record, Name: "x", Time: math.MaxInt64}); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	kept := path + ".schema1"
	if len(told) != 1 || told[0] != (boltdb.Migration{From: 1, To: boltdb.Schema, Kept: kept}) {
		t.Errorf("told %+v", told)
	}
	if b, err := os.ReadFile(kept); err != nil || !bytes.Equal(b, image) {
		t.Errorf("the copy has %d bytes, want %d as they were: %v", len(b), len(image), err)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info.Mode(), err)
	}
}

func TestAnOlderFileStaysAsItIsWhereThatIsWanted(t *testing.T) {
	path, image := schema1(t)
	for range 2 {
		if _, err := boltdb.Open(t.Context(), path, boltdb.Options{NoMigrate: true}); !errors.Is(err, journal.ErrOlder) {
			t.Errorf("got %v, want %v", err, journal.ErrOlder)
		}
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, image) {
		t.Errorf("it has changed: %v", err)
	}
	if _, err := os.Stat(path + ".schema1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy was made: %v", err)
	}
	j := create(t, t.TempDir())
	defer j.Close()
	if _, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{NoMigrate: true}); err != nil {
		t.Errorf("one of the present schema: %v", err)
	}
}

// Where no copy can be kept nothing is migrated.
func TestWithoutACopyThereIsNoMigration(t *testing.T) {
	path, image := schema1(t)
	if err := os.Mkdir(path+".schema1", 0o700); err != nil { // which no file can be renamed to
		t.Fatal(err)
	}
	if _, err := boltdb.Open(t.Context(), path, boltdb.Options{}); err == nil {
		t.Error("it was migrated")
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, image) {
		t.Errorf("it has changed: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func runs(t *testing.T, j journal.Journal, q journal.Query) (n int) {
	t.Helper()
	for _, err := range j.List(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
