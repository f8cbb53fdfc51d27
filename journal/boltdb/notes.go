package boltdb

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// A copy is made while others work. As long as it is under way there is a bucket for it, copies/<id>, in which everything that writes
// notes what it has changed, in its own transaction:
//
//	r run  the first position that was added since the note was last taken (8 bytes)
//	k key  nothing: the key of tool state has changed
//
// Runs are removed by maintenance, which waits until the copy is made. The copier takes the notes, which removes them, and only
// then reads what they name: what changes after that is noted again.

// noted writes down, for every copy that is under way, that a run has entries from a position on that it had not, and that keys of the
// store were written. It costs a look for the bucket when there is none.
func noted(tx *bbolt.Tx, run string, from uint64, writes map[string]value) error {
	copies := tx.Bucket(copiesBucket)
	if copies == nil {
		return nil
	}
	return copies.ForEachBucket(func(id []byte) error {
		b := copies.Bucket(id)
		k := append([]byte{'r'}, run...)
		if before := b.Get(k); len(before) != 8 || binary.BigEndian.Uint64(before) > from {
			if err := b.Put(k, be64(from)); err != nil {
				return err
			}
		}
		for key := range writes {
			if err := b.Put(append([]byte{'k'}, key...), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// note is one of a copy's notes.
type note struct {
	kind byte
	name []byte // a run or a key of the store
	from uint64
}

// beginNotes makes the bucket of a copy.
func (j *Journal) beginNotes(ctx context.Context) (id []byte, err error) {
	var b [16]byte
	rand.Read(b[:])
	id = []byte(hex.EncodeToString(b[:]))
	return id, j.lessen(ctx, func(tx *bbolt.Tx) error {
		copies, err := tx.CreateBucketIfNotExists(copiesBucket)
		if err != nil {
			return err
		}
		_, err = copies.CreateBucket(id)
		return err
	})
}

// maxTaken is how many notes are taken at a time.
const maxTaken = 4096

// takeNotes takes some notes of a copy, and says whether others are left.
func (j *Journal) takeNotes(ctx context.Context, id []byte) (notes []note, more bool, err error) {
	err = j.lessen(ctx, func(tx *bbolt.Tx) error {
		b, err := notesOf(tx, id)
		if err != nil {
			return err
		}
		notes, more = readNotes(b, maxTaken)
		for _, n := range notes {
			if err := b.Delete(append([]byte{n.kind}, n.name...)); err != nil {
				return err
			}
		}
		return nil
	})
	return notes, more, err
}

// notesOf returns the bucket of a copy.
func notesOf(tx *bbolt.Tx, id []byte) (*bbolt.Bucket, error) {
	if copies := tx.Bucket(copiesBucket); copies != nil {
		if b := copies.Bucket(id); b != nil {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: the notes of this copy were removed meanwhile", journal.ErrDamaged)
}

// readNotes returns the first notes, and whether there are more.
func readNotes(b *bbolt.Bucket, most int) (notes []note, more bool) {
	if noCatchUp {
		return nil, false
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(notes) == most {
			return notes, true
		}
		n := note{kind: k[0], name: bytes.Clone(k[1:])}
		if len(v) == 8 {
			n.from = binary.BigEndian.Uint64(v)
		}
		notes = append(notes, n)
	}
	return notes, false
}

// endNotes removes the bucket of a copy; there may be none any more.
func endNotes(tx *bbolt.Tx, id []byte) error {
	copies := tx.Bucket(copiesBucket)
	if copies == nil || copies.Bucket(id) == nil {
		return nil
	}
	if err := copies.DeleteBucket(id); err != nil {
		return err
	}
	if k, _ := copies.Cursor().First(); k == nil {
		return tx.DeleteBucket(copiesBucket)
	}
	return nil
}

// dropNotes ends a copy that has failed.
func (j *Journal) dropNotes(ctx context.Context, id []byte) error {
	err := j.lessen(context.WithoutCancel(ctx), func(tx *bbolt.Tx) error { return endNotes(tx, id) })
	if errors.Is(err, journal.ErrUnusable) || errors.Is(err, journal.ErrBusy) || errors.Is(err, journal.ErrNoSpace) {
		return nil // the next maintenance does it; what has gone wrong is said already
	}
	return err
}
