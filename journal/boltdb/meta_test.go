package boltdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Whatever changes in one of the two header pages, the journal does not go back by a commit without a word.
func TestADamagedHeaderPageIsNoStepBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries := []journal.Entry{{Kind: journal.Created, Name: "d"}, {Kind: journal.Record, Name: "acknowledged to someone"}}
	for i := range entries {
		if err := j.Append(t.Context(), "r", uint64(i), entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []int{0, os.Getpagesize()} {
		for i := page + 16; i < page+16+64; i++ {
			damaged := append([]byte(nil), whole...)
			damaged[i] ^= 0x55
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
			if err == nil {
				j.Close()
			}
			if !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("byte %d of the header page at %d: %v", i-page, page, err)
			}
		}
	}
}
