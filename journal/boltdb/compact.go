package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Compacted says what Compact came to.
type Compacted struct {
	// Before and After are the lengths of the file in bytes.
	Before, After int64
}

// Compact writes the journal's file anew, without what is free in it, and puts it in the place of the old one, while this process and
// others go on with their work: what they have to wait for are transactions of a few milliseconds, and at the end the last of what has
// changed, its sync and a rename. It is the same journal afterwards, and handles on it go on. A crash leaves it as it was, or compacted,
// and perhaps a file with another name, which the next maintenance removes. While it is made there is room needed for both.
//
// Every entry is judged by the rules again. Errors: ErrBusy when other maintenance is under way, ErrDamaged, ErrNoSpace, ErrUnusable,
// ctx.Err(); without ErrUnusable the journal is as it was.
func (j *Journal) Compact(ctx context.Context, opts CopyOptions) (Compacted, error) {
	release, err := j.maintain(ctx, "compact")
	if err != nil {
		return Compacted{}, err
	}
	defer release()
	c, err := j.compact(ctx, opts)
	if err != nil {
		err = fmt.Errorf("compact %s: %w", j.path, noSpace(err))
	}
	return c, err
}

func (j *Journal) compact(ctx context.Context, opts CopyOptions) (done Compacted, err error) {
	if err := j.sweepCopies(ctx); err != nil {
		return done, err
	}
	info, err := lstat(j.path)
	if err != nil {
		return done, err
	}
	done.Before = info.Size()
	b, err := newRebuild(j.path, j.gate.known())
	if err != nil {
		return done, err
	}
	if err := likeness(b.path, info); err != nil {
		return done, errors.Join(fmt.Errorf("make the new file belong to whom the old one belongs: %w", err), b.drop())
	}
	_, err = j.copyTo(ctx, b, opts.Progress, func(c *copier) error {
		return c.finish(ctx, func(most int) error {
			if err := b.sync(); err != nil { // so that little is left for when everyone waits
				return err
			}
			return j.gate.alone(ctx, func(f *file) error { return j.swap(c, b, f, most) })
		})
	})
	if err != nil {
		return done, errors.Join(err, b.drop())
	}
	if info, err = lstat(j.path); err == nil {
		done.After = info.Size()
	}
	return done, err
}

// swap ends a compaction while nobody else has the file open.
func (j *Journal) swap(c *copier, b *rebuild, f *file, most int) error {
	if _, _, err := j.here(); err != nil {
		return err
	}
	var rest *part
	err := guard(func() error {
		return f.db.View(func(tx *bbolt.Tx) (err error) {
			rest, err = c.remaining(tx, most)
			return err
		})
	})
	if panicked(err) {
		j.gate.abandon(err)
	}
	if err != nil {
		return err
	}
	if err := c.give(rest); err != nil {
		return err
	}
	if err := b.finish(); err != nil {
		return err
	}
	j.hooks.at("built")
	if err := f.db.Close(); err != nil { // Windows replaces no file that is open
		return j.lost(err)
	}
	if err := os.Rename(b.path, j.path); err != nil {
		return err
	}
	j.hooks.at("renamed")
	if err := syncDir(filepath.Dir(j.path)); err != nil {
		return j.lost(err)
	}
	return nil
}
