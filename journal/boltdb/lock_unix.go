//go:build unix && !solaris && !illumos && !aix

package boltdb

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/journal"
)

// initialMap is how much address space a journal's map takes at first, in bytes; it doubles as the file grows.
const initialMap = 1 << 20

func tryLock(f *os.File, exclusive bool) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}

func unlock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}

// openNoFollow opens an existing file, and no link to one.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
}

// isNoSpace knows a disk without blocks or inodes, a quota that is used up, and a file that may not grow.
func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) || errors.Is(err, journal.ErrNoSpace)
}

func syncDir(path string) error {
	if noSync {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }
