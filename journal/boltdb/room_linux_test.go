package boltdb_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

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
		dir := t.TempDir()
		if err := unix.Mount("none", dir, "tmpfs", 0, size); err != nil {
			t.Skip("SKIPPED: no disk to fill: ", err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		_, err := boltdb.Restore(t.Context(), filepath.Join(dir, "journal.db"), bytes.NewReader(b.Bytes()), boltdb.RestoreOptions{})
		if !errors.Is(err, journal.ErrNoSpace) {
			t.Errorf("%s: got %v, want %v", size, err, journal.ErrNoSpace)
		}
	}
}
