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
	moved      bool     // another file has come into the place of the first one
	p          *pages   // as long as the lock is held
	since      time.Time
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
	if err == nil || !unwritable(err) {
		return f, err
	}
	if f, err = os.Open(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// unwritable says whether an error means that nothing may be written there.
func unwritable(err error) bool { return errors.Is(err, os.ErrPermission) || isReadOnly(err) }

func (s *source) close() error {
	s.rest()
	var errs []error
	for _, f := range []*os.File{s.lock, s.wait, s.f} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// holdFor is how long the lock is held at a time, if what is done with it takes no longer.
const holdFor = 5 * time.Millisecond

// look calls fn with the file, which nobody changes meanwhile. Errors: ErrBusy, ErrNoJournal, ErrForeign when another journal was put in
// its place, ctx.Err(), and what fn returns.
func (s *source) look(ctx context.Context, fn func(f *os.File, size int64) error) error {
	s.rest()
	size, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer s.letGo()
	return fn(s.f, size)
}

// pages calls fn with the pages of the file, under the meta page that counts. It may leave the lock held for the next call; rest lets go
// of it. Errors: those of look, and ErrDamaged when there is no such meta page.
func (s *source) pages(ctx context.Context, fn func(*pages) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.p == nil {
		size, err := s.hold(ctx)
		if err != nil {
			return err
		}
		m, _, err := bestMeta(s.f, size)
		if err != nil {
			s.letGo()
			return err
		}
		s.p, s.since = newPages(s.f, size, m), time.Now()
	}
	err := fn(s.p)
	if err != nil || time.Since(s.since) > holdFor {
		s.rest()
	}
	return err
}

// rest lets the others in, if nobody could come in.
func (s *source) rest() {
	if s.p != nil {
		s.p = nil
		s.letGo()
	}
}

// hold takes the lock and opens the file.
func (s *source) hold(ctx context.Context) (size int64, err error) {
	if s.lock != nil && s.wait != nil {
		if _, err := queue(ctx, s.lock, s.wait, time.Now().Add(s.busy), nil); err != nil {
			return 0, err
		}
		sign(s.lock) // which fails where nothing can be written
	}
	defer func() {
		if err != nil {
			s.letGo()
		}
	}()
	info, err := lstat(s.path)
	if err != nil {
		return 0, err
	}
	if s.f == nil {
		if s.f, err = openToRead(s.path); err != nil {
			return 0, err
		}
	}
	opened, err := s.f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		opened, err = s.replaced()
	}
	if err != nil {
		return 0, err
	}
	return opened.Size(), nil
}

func (s *source) letGo() {
	if s.lock != nil && s.wait != nil {
		_ = unlock(s.lock)
	}
}

// replaced opens the file that was put in the place of the one that was open, if it is the same journal, as after compacting.
func (s *source) replaced() (os.FileInfo, error) {
	f, err := openToRead(s.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	was, err := identify(s.f)
	if err == nil {
		var is header
		if is, err = identify(f); err == nil && (is.id != was.id || is.incarnation != was.incarnation) {
			err = fmt.Errorf("%s: %w: another one was put in its place", s.path, journal.ErrForeign)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	err = s.f.Close()
	s.f, s.moved = f, true
	return info, err
}

// identify reads what a file says of itself.
func identify(f *os.File) (h header, err error) {
	info, err := f.Stat()
	if err != nil {
		return h, err
	}
	m, _, err := bestMeta(f, info.Size())
	if err != nil {
		return h, err
	}
	err = h.readPages(newPages(f, info.Size(), m))
	return h, err
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
	if err != nil && unwritable(err) && runtime.GOOS != "windows" {
		f, err = os.Open(path) // lstat has found that it is no link; whether it is the same file is looked at by look
	}
	return f, err
}
