package boltdb

import (
	"os"

	"golang.org/x/sys/unix"
)

// networkFS returns the name of the network file system that f is on, or "".
func networkFS(f *os.File) string {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil || s.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}

// space returns how many bytes may still be written to the file system of f, or false when that is not known.
func space(f *os.File) (uint64, bool) {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil || s.Blocks == 0 {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
