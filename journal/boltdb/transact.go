package boltdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// errUnwritten: a transaction failed for want of space, and is certainly not there. The handle stays usable.
var errUnwritten = fmt.Errorf("%w: nothing was written", journal.ErrNoSpace)

// inTx runs fn in a transaction that writes, and commits it if fn says so. An error of fn leaves everything as it was.
//
// Errors: those of fn, errUnwritten; after any other one it is not known whether the transaction is there, and after a panic of bbolt its
// DB must not be used again: lost answers both.
func (j *Journal) inTx(db *bbolt.DB, fn func(*bbolt.Tx) (commit bool, err error)) error {
	id := 0
	err := guard(func() error {
		tx, err := db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after Commit it does nothing
		id = tx.ID()
		if commit, err := fn(tx); err != nil || !commit {
			return err
		}
		if j.hooks.commit != nil {
			return j.hooks.commit(tx)
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		j.commits.Add(1)
		return nil
	})
	if err != nil && !panicked(err) && unwritten(db, id, err) {
		return fmt.Errorf("%w: %w", errUnwritten, err)
	}
	return err
}

// lost makes the handle unusable after an error that leaves open what is on the disk, and says so.
func (j *Journal) lost(err error) error {
	if panicked(err) {
		j.gate.abandon(err)
	} else {
		j.gate.fail(err)
	}
	return fmt.Errorf("%w: %w", journal.ErrUnusable, err)
}

// here returns the open file and its length, if it is still the journal's; else the handle is not usable any more. The caller uses the file.
func (j *Journal) here() (f *file, size int64, err error) {
	f = j.gate.open()
	if size, err = f.here(j.path); err != nil {
		return nil, 0, j.lost(err)
	}
	return f, size, nil
}

// update runs fn in a transaction of its own, for what is no append, and begins only where there is plenty of space. An error of fn
// leaves everything as it was.
//
// Errors: those of fn, ErrBusy, ErrNoSpace, ctx.Err(), ErrUnusable after an error that leaves open what is on the disk.
func (j *Journal) update(ctx context.Context, fn func(*bbolt.Tx) error) error {
	return j.change(ctx, reserved, fn)
}

// lessen is update for what leaves no more than it has found in the end: it is tried as well where there is little left.
func (j *Journal) lessen(ctx context.Context, fn func(*bbolt.Tx) error) error {
	return j.change(ctx, 0, fn)
}

func (j *Journal) change(ctx context.Context, need uint64, fn func(*bbolt.Tx) error) error {
	db, err := j.gate.acquire(ctx)
	if err != nil {
		return err
	}
	defer j.gate.release()
	f, size, err := j.here()
	if err != nil {
		return err
	}
	if need > 0 {
		if full, _ := j.full(db, f, size, need); full != nil {
			return full
		}
	}
	var refused error
	err = j.inTx(db, func(tx *bbolt.Tx) (bool, error) {
		refused = fn(tx)
		return refused == nil, nil
	})
	switch {
	case err == nil:
		return refused
	case errors.Is(err, errUnwritten):
		return err
	}
	return j.lost(err)
}

// unwritten says whether a transaction that failed is certainly not there, because there was no space for it: the error is one of
// writing pages or of making the file longer, which come before the page that makes it count, and that page is the one before.
// An error of a sync says nothing of the kind, and neither does one that is not about space.
func unwritten(db *bbolt.DB, id int, err error) bool {
	var path *fs.PathError
	switch {
	case errors.As(err, &path) && path.Op == "write" && isNoSpace(err):
	case strings.Contains(err.Error(), "file resize error: "): // bbolt keeps the text alone
	default:
		return false
	}
	there := id
	if guard(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			there = tx.ID()
			return nil
		})
	}) != nil {
		return false
	}
	return there < id
}
