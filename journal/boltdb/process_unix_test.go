//go:build unix

package boltdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

func TestAStoppedHolderIsNamed(t *testing.T) {
	j := create(t, t.TempDir())
	c := start(t, "hold", j.Path())
	c.expect(t, "HELD")
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{BusyTimeout: 50 * time.Millisecond})
	if want := fmt.Sprint("process ", c.Process.Pid); !errors.Is(err, journal.ErrBusy) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %v naming %s", err, journal.ErrBusy, want)
	}
	var held *boltdb.HeldError
	if !errors.As(err, &held) || held.PID != c.Process.Pid || held.Path != j.Path() || held.Stopped != (runtime.GOOS == "linux") {
		t.Errorf("got %+v, want process %d, stopped where that can be known", held, c.Process.Pid)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Append(ctx, "r", 0, created()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	c.Process.Kill()
	c.Wait()
	if err := j.Append(t.Context(), "r", 0, created()); err != nil {
		t.Errorf("after the holder is gone: %v", err)
	}
}

// A waiter that does not run any more must not keep the others from working.
func TestAStoppedWaiterHoldsNobodyUp(t *testing.T) {
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	release, err := boltdb.Hold(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, "append", j.Path(), "theirs", "1")
	waitWanted(t, j)
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	release()
	for at := range uint64(10) {
		e := record("x")
		if at == 0 {
			e = created()
		}
		if err := j.Append(t.Context(), "ours", at, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if acked := c.rest(t); acked != 1 {
		t.Errorf("the waiter that goes on has %d acknowledged, want 1: %s", acked, c.last)
	}
}

// Where the system does not let the file grow, nothing begins any more, and an append that begins nothing is refused or made. The
// handle stays usable: it is known that nothing was written.
func TestAFileThatMayNotGrowRefuses(t *testing.T) {
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	c := start(t, "fill", j.Path())
	acked := c.rest(t)
	if err := c.Wait(); err != nil || c.last != "REFUSED" || acked < 1 {
		t.Fatalf("the child: %v, %d acknowledged, %q", err, acked, c.last)
	}
	if got := length(t, j, "r"); got != acked+1 {
		t.Errorf("entry %d was acknowledged, the log has %d entries", acked, got)
	}
	if err := j.Append(t.Context(), "other", 0, created()); err != nil {
		t.Error(err)
	}
}

// childFill appends until its limit of the size of files is reached.
func childFill(ctx context.Context, j *boltdb.Journal) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 3 << 20, Max: 3 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limited, err := boltdb.Open(ctx, j.Path(), boltdb.Options{})
	if err != nil {
		return err
	}
	defer limited.Close()
	for at := uint64(0); at < 1000; at++ {
		e := record("x")
		if at == 0 {
			e = created()
		}
		e.Body = bytes.Repeat([]byte("x"), journal.MaxInline)
		err := limited.Append(ctx, "r", at, e)
		if err == nil {
			fmt.Println("ACK", at)
			continue
		}
		again, begun := limited.Append(ctx, "r", at, e), limited.Append(ctx, "begun", 0, created())
		_, _, held := limited.Reserve(ctx, 4<<20)
		for _, err := range []error{err, again, begun, held} {
			if !errors.Is(err, journal.ErrNoSpace) || errors.Is(err, journal.ErrUnusable) {
				return fmt.Errorf("got %w, then %w, %w and %w", err, again, begun, held)
			}
		}
		fmt.Println("REFUSED")
		return nil
	}
	return errors.New("the limit was never reached")
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// Where the directory may not be written to, nothing is begun.
func TestADirectoryThatMayNotBeWrittenTo(t *testing.T) {
	if syscall.Geteuid() == 0 {
		t.Skip("SKIPPED: root may write everywhere")
	}
	j := stocked(t, t.TempDir())
	b := backup(t, j)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := boltdb.Restore(t.Context(), filepath.Join(dir, "journal.db"), bytes.NewReader(b), boltdb.RestoreOptions{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("restore: %v, want %v", err, fs.ErrPermission)
	}
}
