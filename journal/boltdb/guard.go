package boltdb

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/wrun-dev/wrun/journal"
)

// panicError is what bbolt panicked with. It believes what its pages say, and panics, or touches memory that the file
// does not have, when they are damaged.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("bbolt: %v", p.value) }

// guard calls fn and turns a panic or a memory fault into ErrDamaged. After one, bbolt's own locks may still be held:
// its DB must not be used again, not even closed.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %w", journal.ErrDamaged, &panicError{r})
		}
	}()
	return fn()
}

// panicked says whether err is one of guard's: bbolt must not be used again.
func panicked(err error) bool {
	var p *panicError
	return errors.As(err, &p)
}

// noSpace makes an error of a full disk recognisable.
func noSpace(err error) error {
	if err != nil && isNoSpace(err) && !errors.Is(err, journal.ErrNoSpace) {
		return fmt.Errorf("%w: %w", journal.ErrNoSpace, err)
	}
	return err
}

// lstat returns what is at path if it can be a journal. Errors: ErrNoJournal, ErrForeign.
func lstat(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, journal.ErrNoJournal)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: it is %s", path, journal.ErrForeign, kindOf(info.Mode()))
	}
	return info, nil
}

// kindOf says what a file is that is no regular one.
func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeSymlink != 0:
		return "a symbolic link"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "a device or a socket"
}
