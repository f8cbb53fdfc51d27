package boltdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// source reads the file of a journal a piece at a time, without bbolt, so that it can read one that bbolt refuses or would fail on.
// Between two pieces it lets go of the lock, as a handle does.
type source struct {
	path       string
	lock, wait *os.File
	busy       time.Duration
	f          *os.File // as it was opened last
	schema     uint64   // what the file says of itself, 0 when that cannot be read
}

// openSource changes nothing but that it makes the files of the locks where they are missing. Errors: ErrNoJournal, ErrForeign.
func openSource(path string, busy time.Duration) (*source, error) {
	if _, err := lstat(path); err != nil {
		return nil, err
	}
	if busy <= 0 {
		busy = defaultBusyTimeout
	}
	s := &source{path: path, busy: busy}
	var err error
	if s.lock, err = openLockToRead(path + ".lock"); err == nil {
		s.wait, err = openLockToRead(path + ".wait")
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openLockToRead opens a lock also where nothing can be written. It returns nil when there is none and none can be made: then nobody
// has used the journal since it came there, and nobody can.
func openLockToRead(path string) (*os.File, error) {
	f, err := openLock(path)
	if err == nil || !readOnly(err) {
		return f, err
	}
	if f, err = os.Open(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// readOnly says whether an error means that nothing may be written there.
func readOnly(err error) bool { return errors.Is(err, os.ErrPermission) || isReadOnly(err) }

func (s *source) close() error {
	var errs []error
	for _, f := range []*os.File{s.lock, s.wait, s.f} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// look calls fn with the file, which nobody changes meanwhile. Errors: ErrBusy, ErrNoJournal, ErrForeign when another file was put in its
// place, ctx.Err(), and what fn returns.
func (s *source) look(ctx context.Context, fn func(f *os.File, size int64) error) error {
	if s.lock != nil && s.wait != nil {
		if err := queue(ctx, s.lock, s.wait, time.Now().Add(s.busy), nil); err != nil {
			return err
		}
		defer func() { _ = unlock(s.lock) }()
		sign(s.lock) // which fails where nothing can be written
	}
	info, err := lstat(s.path)
	if err != nil {
		return err
	}
	if s.f == nil {
		f, err := openToRead(s.path)
		if err != nil {
			return err
		}
		s.f = f
	}
	opened, err := s.f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, opened) {
		return fmt.Errorf("%s: %w: another file was put in its place", s.path, journal.ErrForeign)
	}
	return fn(s.f, opened.Size())
}

// pages is look for the pages of the file, under the meta page that counts. Errors: also ErrDamaged when there is none.
func (s *source) pages(ctx context.Context, fn func(*pages) error) error {
	return s.look(ctx, func(f *os.File, size int64) error {
		m, _, err := bestMeta(f, size)
		if err != nil {
			return err
		}
		return fn(newPages(f, size, m))
	})
}

// bestMeta returns the meta page to go by, also where one of the two is damaged, and what is wrong with them. Errors: ErrForeign,
// ErrDamaged when neither can be used.
func bestMeta(f io.ReaderAt, size int64) (m meta, wrong, err error) {
	if size == 0 {
		return m, nil, damaged("the file is empty")
	}
	if m, err = findMeta(f, size); err == nil {
		return m, nil, nil
	}
	if m, _, err0 := readMeta(f, 0); err0 == nil {
		return m, err, nil
	}
	for at := int64(minPage); at <= maxPage; at *= 2 {
		if m, _, err1 := readMeta(f, at); err1 == nil && m.pageSize == at {
			return m, err, nil
		}
	}
	return m, nil, err
}

// openToRead opens an existing file, and no link to one.
func openToRead(path string) (*os.File, error) {
	f, err := openNoFollow(path)
	if err != nil && readOnly(err) && runtime.GOOS != "windows" {
		f, err = os.Open(path) // lstat has found that it is no link; whether it is the same file is looked at by look
	}
	return f, err
}
