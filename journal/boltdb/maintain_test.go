package boltdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

func TestOneMaintenanceAtATime(t *testing.T) {
	dir := t.TempDir()
	create(t, dir)
	impatient := func() *boltdb.Journal {
		j, err := boltdb.Open(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{BusyTimeout: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		return j
	}
	a, b := impatient(), impatient()
	release, err := boltdb.Maintain(t.Context(), a, "compact")
	if err != nil {
		t.Fatal(err)
	}
	_, err = boltdb.Maintain(t.Context(), b, "backup")
	if want := fmt.Sprintf("process %d, compact", os.Getpid()); !errors.Is(err, journal.ErrBusy) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %v naming %q", err, journal.ErrBusy, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := boltdb.Maintain(ctx, b, "backup"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := b.Append(t.Context(), "r", 0, created()); err != nil {
		t.Errorf("an append meanwhile: %v", err)
	}
	release()
	if release, err = boltdb.Maintain(t.Context(), b, "backup"); err != nil {
		t.Fatalf("once it is over: %v", err)
	}
	release()
}

func TestTheMaintenanceOfAKilledProcessIsOver(t *testing.T) {
	j := create(t, t.TempDir())
	c := start(t, "maintain", j.Path())
	c.expect(t, "HELD")
	c.Process.Kill()
	c.Wait()
	release, err := boltdb.Maintain(t.Context(), j, "compact")
	if err != nil {
		t.Fatal(err)
	}
	release()
}
