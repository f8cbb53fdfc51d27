package boltdb

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives a file of from bytes the space for to bytes. Errors: errors.ErrUnsupported where the file system cannot.
func allocate(f *os.File, from, to int64) error {
	store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: to - from}
	err := unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &store)
	if errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	if err == nil {
		err = f.Truncate(to) // what is allocated behind the end of a file is given back with it
	}
	if err != nil {
		return fmt.Errorf("allocate %d bytes to %s: %w", to-from, f.Name(), err)
	}
	return nil
}
