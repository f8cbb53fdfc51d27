package boltdb_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// newTmpfs mounts a file system in memory, or skips the test. options are those of tmpfs(5), such as size=16m.
func newTmpfs(t *testing.T, options string) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: mounting a file system needs root")
	}
	dir = t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skip("SKIPPED: no file system in memory: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// fillUp writes to a file, whether it is there or not, until its file system is full to the last byte.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for b := make([]byte, 4096); err == nil; {
		_, err = f.Write(b)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}
