package boltdb_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// full mounts a file system of eight megabytes, runs prepare in it, and fills it to the last byte.
func full(t *testing.T, prepare func(dir string)) (dir string) {
	t.Helper()
	dir = newTmpfs(t, "size=8m")
	prepare(dir)
	fillUp(t, filepath.Join(dir, "fill"))
	return dir
}

func TestAnOwnerThatFindsNoSpaceIsToldSo(t *testing.T) {
	var j *boltdb.Journal
	dir := full(t, func(dir string) { j = create(t, dir) })
	_, err := j.Owner()
	if !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("got %v, want %v", err, journal.ErrNoSpace)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.owners", "*")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	if id, err := j.Owner(); id == "" || err != nil {
		t.Errorf("with space there is %q, %v", id, err)
	}
}

func TestARepairThatFindsNoSpaceLeavesNothing(t *testing.T) {
	j := create(t, t.TempDir())
	if err := j.Append(t.Context(), "r", 0, created()); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	dir := full(t, func(string) {})
	_, err := boltdb.Repair(t.Context(), j.Path(), filepath.Join(dir, "copy.db"), boltdb.RepairOptions{})
	if !errors.Is(err, journal.ErrNoSpace) || errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v and nothing else", err, journal.ErrNoSpace)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

// A collection on a full disk removes what it can, and says exactly that.
func TestACollectionThatFindsNoSpaceNamesWhatIsRemoved(t *testing.T) {
	var j *boltdb.Journal
	dir := full(t, func(dir string) { j = fill(t, dir, 6) })
	var said []string
	opts := boltdb.CollectOptions{Keep: always, OnRemove: func(s *journal.State) { said = append(said, s.Run) }}
	n, err := j.Collect(t.Context(), opts)
	if err != nil && !errors.Is(err, journal.ErrNoSpace) {
		t.Error(err)
	}
	gone := 0
	for _, err := range j.Removed(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		gone++
	}
	if gone != len(said) || int(n.Runs) != gone {
		t.Errorf("%d runs are removed, %v and %d are said to be", gone, said, n.Runs)
	}
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	if n := collect(t, j, opts); int(n.Runs)+gone != 3 || len(said) != 3 {
		t.Errorf("with space %d more are removed, and %v named", n.Runs, said)
	}
}

// A restore belongs to no handle, and has no room to take from: where a blob finds no space it is refused.
func TestARestoreWhoseBlobsFindNoSpaceIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: filling a disk needs root")
	}
	j := create(t, t.TempDir())
	d, n, err := j.Put(t.Context(), strings.NewReader(strings.Repeat("x", 2<<20)))
	if err != nil {
		t.Fatal(err)
	}
	e := created()
	e.Blob, e.Size = d, n
	if err := j.Append(t.Context(), "r", 0, e); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := j.Backup(t.Context(), &b, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, size := range []string{"size=256k", "size=1m", "size=2m"} {
		dir := newTmpfs(t, size)
		_, err := boltdb.Restore(t.Context(), filepath.Join(dir, "journal.db"), bytes.NewReader(b.Bytes()), boltdb.RestoreOptions{})
		if !errors.Is(err, journal.ErrNoSpace) {
			t.Errorf("%s: got %v, want %v", size, err, journal.ErrNoSpace)
		}
	}
}
