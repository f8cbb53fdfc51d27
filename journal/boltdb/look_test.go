package boltdb_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

func TestLookingMakesNothingAndSaysWhoHasTheJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "journal.db")
	p, err := boltdb.Look(path)
	if err != nil || p.Dir != dir || p.Taken || p.Size != 0 {
		t.Errorf("where there is no journal: %+v, %v", p, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("looking has made %v", left)
	}
	ctx := context.Background()
	j, err := boltdb.Create(ctx, path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	release, err := boltdb.Hold(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	p, err = boltdb.Look(path)
	release()
	if err != nil || !p.Taken || p.PID != os.Getpid() || p.Size == 0 || p.Waits {
		t.Errorf("while this process has it open: %+v, %v", p, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if p, err = boltdb.Look(path); err != nil || p.Taken {
		t.Errorf("when nobody has it open: %+v, %v", p, err)
	}
}
