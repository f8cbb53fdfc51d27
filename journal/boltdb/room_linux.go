package boltdb

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives a file of from bytes the space for to bytes. Errors: errors.ErrUnsupported where the file system cannot.
func allocate(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, from, to-from)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return errors.ErrUnsupported
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("allocate %d bytes to %s: %w", to-from, f.Name(), err)
		}
	}
}
