package faults

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newSmallDisk mounts a disk in memory of so many bytes.
func newSmallDisk(dir string, size int) (*disk, error) {
	if os.Geteuid() != 0 {
		return nil, errSkip("filling a disk needs root")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		return nil, errSkip("there is no disk to fill: " + err.Error())
	}
	return &disk{dir: dir}, nil
}

// fillUp writes a file that leaves so much room on a disk.
func fillUp(path, dir string, room int) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if left := int64(s.Bavail)*int64(s.Bsize) - int64(room); left > 0 {
		err = unix.Fallocate(int(f.Fd()), 0, 0, left)
	}
	return errors.Join(err, f.Close())
}
