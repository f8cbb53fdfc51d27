package boltdb

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// readGone returns what is kept of a removed run, nil when no run of that id was removed.
func readGone(tx *bbolt.Tx, run string) (*journal.Removed, error) {
	if run == "" || len(run) > bbolt.MaxKeySize {
		return nil, nil
	}
	v := tx.Bucket(goneBucket).Get([]byte(run))
	if v == nil {
		return nil, nil
	}
	return decodeGone([]byte(run), v)
}

// removed returns nil when no run of that id was removed. Errors: ErrRemoved, as a *journal.Removed; ErrDamaged.
func removed(tx *bbolt.Tx, run string) error {
	r, err := readGone(tx, run)
	if r != nil {
		return r
	}
	return err
}

func decodeGone(run, v []byte) (*journal.Removed, error) {
	b, err := unseal(run, v)
	if err != nil {
		return nil, fmt.Errorf("%w: what is kept of the removed run %.140q: %w", journal.ErrDamaged, run, err)
	}
	return journal.UnmarshalRemoved(string(run), bytes.Clone(b))
}

func putGone(tx *bbolt.Tx, r *journal.Removed) error {
	b, err := journal.MarshalRemoved(r)
	if err != nil {
		return err
	}
	return tx.Bucket(goneBucket).Put([]byte(r.Run), seal([]byte(r.Run), b))
}

// Removed yields what is kept of removed runs behind after, by run id.
func (j *Journal) Removed(ctx context.Context, after string) iter.Seq2[journal.Removed, error] {
	return func(yield func(journal.Removed, error) bool) {
		for more := true; more; {
			var batch []*journal.Removed
			err := j.view(ctx, func(tx *bbolt.Tx) (err error) {
				batch, more, err = goneBatch(tx, after)
				return err
			})
			for _, r := range batch {
				if after = r.Run; !yield(*r, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Removed{}, err)
				return
			}
		}
	}
}

// goneBatch returns some removed runs behind one, and whether there may be more.
func goneBatch(tx *bbolt.Tx, after string) (batch []*journal.Removed, more bool, err error) {
	c := tx.Bucket(goneBucket).Cursor()
	for k, v := c.Seek([]byte(after)); k != nil; k, v = c.Next() {
		if string(k) == after {
			continue
		}
		if len(batch) == batchEntries {
			return batch, true, nil
		}
		r, err := decodeGone(k, v)
		if err != nil {
			return batch, false, err
		}
		batch = append(batch, r)
	}
	return batch, false, nil
}
