package boltdb

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/bundle"
)

// CopyOptions says how a journal is copied. The zero value works.
type CopyOptions struct {
	// Progress is told after every part of the journal that was copied, and must return at once.
	Progress func(Progress)
}

// Backup writes the whole journal to w as one bundle, of one moment, blobs included, while this process and others go on with their
// work: what they have to wait for are transactions of a few milliseconds. Memory does not grow with the journal. The bundle is worth
// nothing unless the error is nil; the caller syncs it.
//
// A journal with a record, a key or a blob that is damaged has no backup: what is wrong with it is said instead.
// Errors: ErrBusy when other maintenance is under way, ErrDamaged, ErrNoSpace, ErrUnusable, ctx.Err(), those of w.
func (j *Journal) Backup(ctx context.Context, w io.Writer, opts CopyOptions) (bundle.Counts, error) {
	release, err := j.maintain(ctx, "backup")
	if err != nil {
		return bundle.Counts{}, err
	}
	defer release()
	counts, err := j.backup(ctx, w, opts)
	if err != nil {
		err = fmt.Errorf("back up %s: %w", j.path, noSpace(err))
	}
	return counts, err
}

func (j *Journal) backup(ctx context.Context, w io.Writer, opts CopyOptions) (counts bundle.Counts, err error) {
	if err := j.sweepCopies(ctx); err != nil {
		return counts, err
	}
	h := j.gate.known()
	b, err := bundle.NewWriter(w, bundle.Header{
		Of: bundle.Backup, Journal: h.id, Created: h.created.UnixNano(), Schema: h.schema, Made: j.now().UnixNano(), Repaired: h.repaired,
	})
	if err != nil {
		return counts, err
	}
	told, err := j.copyTo(ctx, &whole{bundled: bundled{b}, blobs: &j.blobs}, opts.Progress, func(c *copier) error {
		return c.finish(ctx, func(most int) error {
			var rest *part
			err := j.lessen(ctx, func(tx *bbolt.Tx) (err error) {
				if rest, err = c.remaining(tx, most); err != nil {
					return err
				}
				return endNotes(tx, c.id)
			})
			if err != nil {
				return err
			}
			return c.give(rest)
		})
	})
	if err != nil {
		return counts, err
	}
	j.hooks.at("logs written")
	if opts.Progress != nil {
		err := j.blobs.files(func(journal.Digest, string) error { told.OfBlobs++; return ctx.Err() })
		if err != nil {
			return counts, err
		}
	}
	if err := j.blobs.files(func(d journal.Digest, _ string) error {
		n, err := j.blobs.into(ctx, b, d)
		if err != nil {
			return err
		}
		told.Blobs, told.Bytes = told.Blobs+1, told.Bytes+n
		if opts.Progress != nil {
			opts.Progress(told)
		}
		return nil
	}); err != nil {
		return counts, err
	}
	return b.End()
}

// bundled is a bundle as a sink.
type bundled struct{ w *bundle.Writer }

func (b bundled) log(run string, from uint64, records [][]byte) error {
	if err := b.w.Log(bundle.Log{Run: run, From: from}); err != nil {
		return err
	}
	for _, r := range records {
		if err := b.w.Record(r); err != nil {
			return err
		}
	}
	return nil
}

func (b bundled) key(k []byte, v value) error {
	space, key, _ := splitKey(k) // which has the layout, or it would not have been read
	return b.w.Key(bundle.Key{Space: space, Key: key, Version: v.version, Value: v.bytes, Deleted: !v.lives})
}

func (b bundled) gone(run string, kept []byte) error {
	return b.w.Removed(bundle.Removed{Run: run, Kept: kept})
}

// whole is a bundle of a whole journal, which has no entry that names a blob that is not there: it could not be put back.
type whole struct {
	bundled
	blobs *blobs
	there map[journal.Digest]struct{} // some of those that are: modules are named by many runs
}

// mostThere is how many blobs are remembered.
const mostThere = 4096

func (w *whole) log(run string, from uint64, records [][]byte) error {
	for i, r := range records {
		for _, d := range journal.NamedBy(r) {
			if _, ok := w.there[d]; ok {
				continue
			}
			if _, err := w.blobs.stat(d); errors.Is(err, journal.ErrNotFound) {
				return fmt.Errorf("run %s, entry %d: %w: %w", run, from+uint64(i), journal.ErrDamaged, err)
			} else if err != nil {
				return err
			}
			if len(w.there) >= mostThere || w.there == nil {
				w.there = map[journal.Digest]struct{}{}
			}
			w.there[d] = struct{}{}
		}
	}
	return w.bundled.log(run, from, records)
}

// into writes a blob into a bundle, and returns its length.
func (b *blobs) into(ctx context.Context, w *bundle.Writer, d journal.Digest) (int64, error) {
	n, err := b.stat(d)
	if err != nil {
		return 0, err
	}
	r, err := b.open(d)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return n, w.Blob(bundle.Blob{Digest: d, Size: n}, &contextReader{ctx, r})
}

// sweepCopies removes what copies and imports left in the journal that died in the middle. The caller has the lock of maintenance, so
// none of them is under way.
func (j *Journal) sweepCopies(ctx context.Context) error {
	removeRebuilt(j.path)
	if err := dropTwin(j.path); err != nil {
		return err
	}
	left := false
	err := j.view(ctx, func(tx *bbolt.Tx) error {
		left = tx.Bucket(copiesBucket) != nil || tx.Bucket(importsBucket) != nil
		return nil
	})
	if err != nil || !left {
		return err
	}
	err = j.lessen(ctx, func(tx *bbolt.Tx) error {
		if tx.Bucket(copiesBucket) == nil {
			return nil
		}
		return tx.DeleteBucket(copiesBucket)
	})
	if err != nil {
		return fmt.Errorf("remove what an earlier copy left: %w", err)
	}
	return j.dropImports(ctx)
}
