//go:build unix

package boltdb_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// That there is no space is known to have written nothing where it is said of a write, or of making the file longer, and what
// counts is still as it was. Everything else leaves open what is on the disk.
func TestWhatACommitWithoutSpaceLeavesOpen(t *testing.T) {
	write := func(errno syscall.Errno) error { return &fs.PathError{Op: "write", Path: "journal.db", Err: errno} }
	for _, tt := range []struct {
		name      string
		err       error
		committed bool
		clean     bool
	}{
		{"ENOSPC", write(syscall.ENOSPC), false, true},
		{"EDQUOT", write(syscall.EDQUOT), false, true},
		{"EFBIG", write(syscall.EFBIG), false, true},
		{"longer", fmt.Errorf("file resize error: %s", syscall.EFBIG), false, true},
		{"ENOSPC, and it counts already", write(syscall.ENOSPC), true, false},
		{"EIO", write(syscall.EIO), false, false},
		{"ENOSPC at the sync", syscall.ENOSPC, false, false},
		{"EDQUOT at the sync of a longer file", fmt.Errorf("file sync error: %s", syscall.EDQUOT), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			j := create(t, dir)
			if err := j.Append(t.Context(), "r", 0, created()); err != nil {
				t.Fatal(err)
			}
			_, drop, err := j.Reserve(t.Context(), 100) // so that the room has something to give, and the commit is tried again
			if err != nil {
				t.Fatal(err)
			}
			tries := 0
			boltdb.OnCommit(j, func(commit func() error) error {
				tries++
				if tt.committed {
					return errors.Join(commit(), tt.err)
				}
				return tt.err
			})
			drop()
			err = j.Append(t.Context(), "r", 1, record("x"))
			boltdb.OnCommit(j, func(commit func() error) error { return commit() })
			again := j.Append(t.Context(), "r", 1, record("y"))
			if tt.clean && (!errors.Is(err, journal.ErrNoSpace) || errors.Is(err, journal.ErrUnusable) || again != nil || tries != 2) {
				t.Errorf("got %v after %d tries, then %v; want %v after 2, and then nothing", err, tries, again, journal.ErrNoSpace)
			}
			if !tt.clean && (!errors.Is(err, journal.ErrUnusable) || !errors.Is(again, journal.ErrUnusable) || tries != 1) {
				t.Errorf("got %v after %d tries, then %v; want %v after 1, and again", err, tries, again, journal.ErrUnusable)
			}
			j.Close()
			j = create(t, dir)
			journaltest.Check(t, j)
			want := 1
			if tt.clean || tt.committed {
				want = 2
			}
			if got := length(t, j, "r"); got != want {
				t.Errorf("the log has %d entries, want %d", got, want)
			}
		})
	}
}

// What was refused because of another append of its batch was not, when there was no space for that one: the log has not moved.
func TestNothingIsJudgedByAnAppendThatFoundNoSpace(t *testing.T) {
	for name, first := range map[string]journal.Entry{
		"what begins something": {Kind: journal.Claimed, Time: 1, Owner: "o"},
		"what begins nothing":   record("a"),
	} {
		t.Run(name, func(t *testing.T) {
			j := create(t, t.TempDir())
			if err := j.Append(t.Context(), "r", 0, created()); err != nil {
				t.Fatal(err)
			}
			begins := first.Kind == journal.Claimed
			_, started := blockFirst(t.Context(), j, 2)
			fails := 0
			boltdb.OnCommit(j, func(commit func() error) error {
				if fails++; fails > 1 && (fails == 2 || !begins) { // the second batch: once, or as often as it is tried
					return &fs.PathError{Op: "write", Path: "journal.db", Err: syscall.ENOSPC}
				}
				return commit()
			})
			errs := make([]chan error, 3)
			for i, e := range []journal.Entry{created(), first, record("b")} {
				errs[i] = make(chan error, 1)
				run, at := "r", uint64(1)
				if i == 0 {
					run, at = "other", 0
				}
				go func() { errs[i] <- j.Append(t.Context(), run, at, e) }()
				if i == 0 {
					<-started
				} else if i == 1 {
					waitFor(t.Context(), j, 1)
				}
			}
			if err := <-errs[0]; err != nil {
				t.Fatal(err)
			}
			if err := <-errs[1]; !errors.Is(err, journal.ErrNoSpace) {
				t.Errorf("the first: %v, want %v", err, journal.ErrNoSpace)
			}
			err := <-errs[2]
			if begins && err != nil || !begins && !errors.Is(err, journal.ErrNoSpace) {
				t.Errorf("the second: %v, although the log has not moved", err)
			}
			if want := map[bool]int{true: 2, false: 1}[begins]; length(t, j, "r") != want {
				t.Errorf("the log has %d entries, want %d", length(t, j, "r"), want)
			}
		})
	}
}
