package boltdb

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// Migration is what is done to a file of an older schema when it is opened.
type Migration struct {
	// From and To are the schemas.
	From, To uint64
	// Kept is the path of the copy of the file as it was.
	Kept string
}

// keptSuffix follows the name of a journal that was migrated, and comes before the schema that it had.
const keptSuffix = ".schema"

// migrations[n] makes a file of schema n+2 of one of schema n+1. All that are needed run in one transaction.
var migrations = [schema - 1]func(*bbolt.Tx, *header) error{
	0: toSchema2,
	1: toSchema3,
}

// toSchema2 makes room for what is kept of removed runs, finds the runs that are unsettled, and gives the journal an incarnation.
func toSchema2(tx *bbolt.Tx, h *header) error {
	if _, err := tx.CreateBucket(goneBucket); err != nil {
		return err
	}
	unsettled, err := tx.CreateBucket(unsettledBucket)
	if err != nil {
		return err
	}
	c := tx.Bucket(statesBucket).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if s, err := decodeState(k, v); err == nil && !s.Unsettled() {
			continue // and one that is damaged stays where it is found
		}
		if err := unsettled.Put(k, nil); err != nil {
			return err
		}
	}
	rand.Read(h.incarnation[:])
	b := tx.Bucket(headerBucket)
	return errors.Join(b.Put(incarnationKey, h.incarnation[:]), b.Put(sumKey, h.sum()))
}

// toSchema3 has nothing to change: a folded log of schema 2 is one of schema 3 without labels. The number keeps older versions away.
func toSchema3(*bbolt.Tx, *header) error { return nil }

// migrator brings files to the present schema, or refuses to. The zero value is for files that were only just made.
type migrator struct {
	path string
	opts Options
}

// run migrates an open file whose lock is held: f is its descriptor. A crash leaves the file as it was, or migrated.
func (m migrator) run(f *os.File, db *bbolt.DB, h *header) error {
	if m.opts.NoMigrate {
		return fmt.Errorf("%w: it has schema %d, this version writes %d", journal.ErrOlder, h.schema, schema)
	}
	kept := fmt.Sprint(m.path, keptSuffix, h.schema)
	if m.opts.OnMigrate != nil {
		m.opts.OnMigrate(Migration{From: h.schema, To: schema, Kept: kept})
	}
	if err := keepCopy(f, kept); err != nil {
		return fmt.Errorf("keep a copy before schema %d becomes %d: %w", h.schema, schema, noSpace(err))
	}
	err := db.Update(func(tx *bbolt.Tx) error {
		for n := h.schema; n < schema; n++ {
			if err := migrations[n-1](tx, h); err != nil {
				return err
			}
		}
		h.schema = schema
		return tx.Bucket(headerBucket).Put(schemaKey, be64(schema))
	})
	if err != nil {
		return fmt.Errorf("migrate to schema %d: %w", schema, noSpace(err))
	}
	return nil
}

// keepCopy copies an open file to a name of its own, whole or not at all. One that an earlier try left is replaced: it is of an
// earlier moment.
func keepCopy(f *os.File, path string) (err error) {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(c.Name()))
		}
	}()
	_, err = io.Copy(c, io.NewSectionReader(f, 0, info.Size()))
	if err == nil && !noSync {
		err = c.Sync()
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	if err := os.Rename(c.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
