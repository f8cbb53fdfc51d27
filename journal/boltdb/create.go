package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// create makes an empty journal at path, unless somebody else is faster.
func create(ctx context.Context, path string, opts Options) error {
	err := publish(ctx, path, opts.BusyTimeout, func(dir, base string) (string, error) { return writeEmpty(dir, base, opts.now()) })
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// publish puts what write makes at path: whole under another name, on the disk, and only then under its own. write is given the
// directory and the beginning of the name and returns the name. Errors: os.ErrExist when something is there.
func publish(ctx context.Context, path string, busy time.Duration, write func(dir, base string) (string, error)) error {
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return err
	}
	return underLock(ctx, path, busy, func() error { return publishLocked(path, write) })
}

// publishLocked is publish with the journal's lock held.
func publishLocked(path string, write func(dir, base string) (string, error)) error {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, os.ErrExist)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	removeLeftovers(dir, filepath.Base(path))
	tmp, err := write(dir, filepath.Base(path))
	if err != nil {
		return err
	}
	// Nothing can have come there meanwhile: whoever makes a journal has the lock. A link and a removal would not replace
	// anything either, but a kill between the two leaves a second name of the journal.
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return syncDir(dir)
}

// makeDirs makes a directory and those above it that are missing, and makes sure that they will be there after a crash: a journal
// is as lost with its directory as without its own name.
func makeDirs(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, os.ErrNotExist) {
		if err = makeDirs(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	// Whoever made it first may have died before this. Where somebody else's directory cannot be read, that one was not made here.
	if serr := syncDir(filepath.Dir(dir)); serr != nil && (err == nil || !errors.Is(serr, os.ErrPermission)) {
		return serr
	}
	return nil
}

// removeLeftovers removes what creators left that died in the middle. They had the lock that the caller has now.
func removeLeftovers(dir, base string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if leftover(base, e.Name()) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// leftover says whether a file is one that the creator of a journal was writing.
func leftover(base, name string) bool {
	return strings.HasPrefix(name, "."+base+".") && strings.HasSuffix(name, ".tmp")
}

// writeEmpty writes an empty journal into a file of its own and returns its name.
func writeEmpty(dir, base string, now time.Time) (name string, err error) {
	f, err := os.CreateTemp(dir, "."+base+".*.tmp")
	if err != nil {
		return "", err
	}
	name = f.Name()
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	if err := f.Close(); err != nil {
		return "", err
	}
	db, err := openBolt(name, time.Now().Add(time.Second), nil)
	if err != nil {
		return "", err
	}
	h := newHeader(now)
	err = db.Update(h.write)
	if err = errors.Join(err, db.Close()); err != nil {
		return "", fmt.Errorf("write an empty journal: %w", err)
	}
	if f, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return "", err
	}
	if !noSync {
		err = f.Sync()
	}
	return name, errors.Join(err, f.Close())
}
