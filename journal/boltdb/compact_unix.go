//go:build unix

package boltdb

import (
	"os"
	"syscall"
)

// likeness gives a file the mode and the owner of another one.
func likeness(path string, of os.FileInfo) error {
	is, err := os.Stat(path)
	if err != nil {
		return err
	}
	want, ok := of.Sys().(*syscall.Stat_t)
	if has, too := is.Sys().(*syscall.Stat_t); ok && too && (has.Uid != want.Uid || has.Gid != want.Gid) {
		if err := os.Chown(path, int(want.Uid), int(want.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(path, of.Mode().Perm()) // last, since a change of the owner can take rights away
}
