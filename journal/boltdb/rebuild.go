package boltdb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// rebuild is a journal's file that is being built anew, under a name of its own. It is a sink. Every record is judged like an entry
// that is appended, so that what comes out is right whatever comes in. Nothing of it is synced before finish.
type rebuild struct {
	path    string
	db      *bbolt.DB
	tx      *bbolt.Tx
	pending int            // bytes that the transaction has taken
	state   *journal.State // of the run whose records come; not in the file yet where fresh is set
	fresh   bool
}

// rebuilt is how the names of such files begin, in the directory of the journal.
func rebuilt(path string) string { return "." + filepath.Base(path) + ".copy-" }

// newRebuild begins the file of a journal at path.
func newRebuild(path string, h header) (*rebuild, error) {
	f, err := os.CreateTemp(filepath.Dir(path), rebuilt(path)+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	b := &rebuild{path: f.Name()}
	if err = refuseNetwork(f); err != nil {
		err = fmt.Errorf("%s: %w", filepath.Dir(path), err)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		b.db, err = openBolt(b.path, time.Now().Add(time.Second), nil)
	}
	if err == nil {
		b.db.NoSync = true
		err = b.db.Update(h.write)
	}
	if err != nil {
		return nil, errors.Join(noSpace(err), b.drop())
	}
	return b, nil
}

// removeRebuilt removes what maintenance left that died in the middle. The caller has its lock.
func removeRebuilt(path string) {
	dir := filepath.Dir(path)
	files, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), rebuilt(path)) {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// drop removes the file, unless it was given another name.
func (b *rebuild) drop() error {
	var err error
	if b.tx != nil {
		err = b.tx.Rollback()
		b.tx = nil
	}
	if b.db != nil {
		err = errors.Join(err, b.db.Close())
	}
	if gone := os.Remove(b.path); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// writing returns the transaction that takes what comes next.
func (b *rebuild) writing(size int) (*bbolt.Tx, error) {
	const most = 4 << 20
	if b.tx != nil && b.pending+size > most {
		if err := b.commit(); err != nil {
			return nil, err
		}
	}
	if b.tx == nil {
		tx, err := b.db.Begin(true)
		if err != nil {
			return nil, err
		}
		b.tx, b.pending = tx, 0
	}
	b.pending += size + 64
	return b.tx, nil
}

func (b *rebuild) commit() error {
	if b.tx == nil {
		return nil
	}
	if err := b.keepState(b.tx); err != nil {
		return err
	}
	tx := b.tx
	b.tx = nil
	if err := tx.Commit(); err != nil {
		return errors.Join(noSpace(err), tx.Rollback())
	}
	return nil
}

// keepState writes the folded log of the run whose records came last.
func (b *rebuild) keepState(tx *bbolt.Tx) error {
	if !b.fresh {
		return nil
	}
	b.fresh = false
	return putState(tx, b.state)
}

func (b *rebuild) log(run string, from uint64, records [][]byte) error {
	for i, record := range records {
		if err := b.record(run, from+uint64(i), record); err != nil {
			return fmt.Errorf("run %s, entry %d: %w", run, from+uint64(i), err)
		}
	}
	return nil
}

// record takes one record of a run.
func (b *rebuild) record(run string, seq uint64, record []byte) error {
	tx, err := b.writing(len(record))
	if err != nil {
		return err
	}
	if b.state == nil || b.state.Run != run {
		if err := b.keepState(tx); err != nil {
			return err
		}
		if b.state, err = readState(tx, run); err != nil {
			return err
		}
	}
	switch {
	case seq > b.state.Len:
		return fmt.Errorf("%w: the log has only %d entries before it", journal.ErrDamaged, b.state.Len)
	case seq < b.state.Len:
		if !bytes.Equal(tx.Bucket(entriesBucket).Get(entryKey(run, seq)), record) {
			return fmt.Errorf("%w: it comes again, as another one", journal.ErrDamaged)
		}
		return nil
	}
	b.fresh = true
	_, err = takeRecord(tx, b.state, bytes.Clone(record)) // the transaction keeps it
	return err
}

// takeRecord judges a record as the next one of a log and writes it; the state is the caller's to write.
func takeRecord(tx *bbolt.Tx, s *journal.State, record []byte) (journal.Entry, error) {
	e, err := s.Refold(record, hasPhase(tx, s.Run))
	if err != nil {
		return e, err
	}
	return e, putEntry(tx, s.Run, e, record)
}

func (b *rebuild) key(k []byte, v value) error {
	tx, err := b.writing(len(k) + len(v.bytes))
	if err != nil {
		return err
	}
	return putValue(tx, k, v)
}

func (b *rebuild) gone(run string, kept []byte) error {
	tx, err := b.writing(len(run) + len(kept))
	if err != nil {
		return err
	}
	return tx.Bucket(goneBucket).Put([]byte(run), seal([]byte(run), kept))
}

// sync writes everything to the disk.
func (b *rebuild) sync() error {
	if err := b.commit(); err != nil {
		return err
	}
	if noSync {
		return nil
	}
	return noSpace(b.db.Sync())
}

// finish writes everything to the disk and closes the file.
func (b *rebuild) finish() error {
	if err := b.sync(); err != nil {
		return err
	}
	db := b.db
	b.db = nil
	if err := db.Close(); err != nil {
		return err
	}
	f, err := os.OpenFile(b.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = trim(f)
	if err == nil && !noSync {
		err = f.Sync()
	}
	return noSpace(errors.Join(err, f.Close()))
}

// trim cuts off what a file has behind its last page: bbolt makes files longer in large steps.
func trim(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := findMeta(f, info.Size())
	if err != nil {
		return err
	}
	return f.Truncate(int64(m.pgid) * m.pageSize)
}
