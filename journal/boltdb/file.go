package boltdb

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/wrun-dev/wrun/journal"
)

// file is an open journal file.
type file struct {
	f      *os.File
	db     *bbolt.DB
	header header
	size   atomic.Int64 // it never becomes shorter
}

// openFile opens the journal at path, with the lock held: what is there is checked before bbolt maps it, and bbolt gets
// the very descriptor that was checked. Nothing is made, and nothing is written but where migrate brings the file to the present
// schema. seek is how many pages are looked at for what bbolt could not come back from.
func openFile(path string, deadline time.Time, migrate migrator, seek int) (*file, error) {
	info, err := lstat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("%s can be changed by every user of this machine: chmod o-w it first", path)
	}
	f, err := openNoFollow(path)
	if err != nil {
		return nil, err
	}
	db, h, err := openChecked(f, info, path, deadline, migrate, seek)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), letGo(f))
	}
	opened := &file{f: f, db: db, header: h}
	opened.size.Store(info.Size())
	return opened, nil
}

func openChecked(f *os.File, info os.FileInfo, path string, deadline time.Time, migrate migrator, seek int) (*bbolt.DB, header, error) {
	if err := refuseNetwork(f); err != nil {
		return nil, header{}, err
	}
	opened, err := f.Stat()
	if err != nil {
		return nil, header{}, err
	}
	if !os.SameFile(info, opened) {
		return nil, header{}, fmt.Errorf("%w: it was replaced while it was opened", journal.ErrBusy)
	}
	if err := inspect(f, opened.Size()); err != nil {
		return nil, header{}, err
	}
	if err := seekCircles(f, opened.Size(), seek); err != nil {
		return nil, header{}, err
	}
	db, err := openBolt(path, deadline, func(string, int, os.FileMode) (*os.File, error) { return f, nil })
	if err != nil {
		return nil, header{}, err
	}
	var h header
	err = guard(func() error {
		if err := db.View(h.read); err != nil || h.schema == schema {
			return err
		}
		return migrate.run(f, db, &h)
	})
	if err != nil {
		if !panicked(err) {
			err = errors.Join(err, db.Close())
		}
		return nil, header{}, err
	}
	return db, h, nil
}

// refuseNetwork says why no journal is opened on the file system of f, nil when one is.
func refuseNetwork(f *os.File) error {
	if name := networkFS(f); name != "" {
		return fmt.Errorf("it is on a network file system (%s), where locks and mapped files cannot be relied on: put it on a disk of this machine", name)
	}
	return nil
}

// openBolt opens bbolt's file through open, which defaults to making it.
func openBolt(path string, deadline time.Time, open func(string, int, os.FileMode) (*os.File, error)) (db *bbolt.DB, err error) {
	err = guard(func() error {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			// Somebody who does not know of our lock, say a tool for bbolt files, may hold bbolt's own.
			Timeout:         max(time.Until(deadline), 100*time.Millisecond),
			FreelistType:    bbolt.FreelistMapType,
			InitialMmapSize: initialMap,
			NoSync:          noSync,
			NoStatistics:    true,
			OpenFile:        open,
		})
		return err
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%w: another program has it open", journal.ErrBusy)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
	}
	return db, err
}

// close closes the file; after a panic of bbolt only the descriptor.
func (f *file) close(broken bool) error {
	if broken {
		return letGo(f.f)
	}
	return f.db.Close()
}

// here returns the file's length, or says that it is no longer the one at path: what is written to it would be lost.
func (f *file) here(path string) (size int64, err error) {
	opened, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	if is, was := opened.Size(), f.size.Load(); is < was {
		return 0, damaged("%s had %d bytes and has %d: it was cut off while it was open", path, was, is)
	} else {
		f.size.Store(is)
	}
	now, err := lstat(path)
	if err != nil {
		return 0, err
	}
	if !os.SameFile(opened, now) {
		return 0, fmt.Errorf("%s: %w: another file was put in its place", path, journal.ErrForeign)
	}
	return opened.Size(), nil
}

// letGo closes a file that bbolt may have been left with. Its map may stay, and would keep bbolt's lock.
func letGo(f *os.File) error {
	_ = unlock(f) // fails when bbolt closed it after all
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
