package boltdb_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Close ends the wait of those who queue for the file, and leaves the file to others.
func TestCloseEndsWaiting(t *testing.T) {
	dir := t.TempDir()
	holder, j := create(t, dir), create(t, dir)
	release, err := boltdb.Hold(t.Context(), holder)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := j.Append(t.Context(), "r", 0, created()); !errors.Is(err, journal.ErrUnusable) {
				t.Errorf("got %v, want %v", err, journal.ErrUnusable)
			}
		})
	}
	waitWanted(t, holder)
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	release()
	if got := length(t, holder, "r"); got != 0 {
		t.Errorf("the log has %d entries, want none", got)
	}
}

// Whoever holds the file closes it when somebody waits, as soon as its own users have left.
func TestTheFileIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	holder, j := create(t, dir), create(t, dir)
	release, err := boltdb.Hold(t.Context(), holder)
	if err != nil {
		t.Fatal(err)
	}
	before := boltdb.Handovers(holder)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := j.Append(t.Context(), "r", 0, created()); err != nil {
			t.Error(err)
		}
	})
	waitWanted(t, holder)
	release()
	wg.Wait()
	if got := boltdb.Handovers(holder) - before; got != 1 {
		t.Errorf("the file was handed over %d times, want once", got)
	}
	if got := length(t, holder, "r"); got != 1 {
		t.Errorf("the log has %d entries, want 1", got)
	}
}

// waitWanted polls until another handle waits for the file that j holds.
func waitWanted(t *testing.T, j *boltdb.Journal) {
	t.Helper()
	for !boltdb.Wanted(j) {
		if t.Context().Err() != nil {
			t.Fatal("nobody waits")
		}
		runtime.Gosched()
	}
}
