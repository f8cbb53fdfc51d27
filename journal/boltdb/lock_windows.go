package boltdb

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"

	"github.com/wrun-dev/wrun/journal"
)

// initialMap is 0 because a map of Windows makes the file as long as itself.
const initialMap = 0

// region is the byte that is locked: far behind the text, which others must be able to read.
func region() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// tryLock also turns a lock of one kind into the other, as flock does, by letting go first.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, region())
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, region())
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, fmt.Errorf("lock %s: %w", f.Name(), err)
}

func unlock(f *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, region())
	if err != nil && !errors.Is(err, windows.ERROR_NOT_LOCKED) {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}

func openNoFollow(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

func isNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, journal.ErrNoSpace)
}

// syncDir does nothing: directories of Windows cannot be synced, their changes are journaled by the file system.
func syncDir(string) error { return nil }

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
