package boltdb

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// What a reader takes out of one transaction at most. None is open while its caller works.
const (
	batchEntries = 256
	batchBytes   = 1 << 20
)

// Read yields a log's entries; see journal.Journal. Every entry is checked against the one before.
func (j *Journal) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return readAll(ctx, j.view, run, from)
}

// viewer opens a read transaction.
type viewer func(context.Context, func(*bbolt.Tx) error) error

func readAll(ctx context.Context, view viewer, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		var before *journal.Digest // unknown for the first batch
		for {
			var batch []journal.Entry
			end := false
			err := view(ctx, func(tx *bbolt.Tx) (err error) {
				batch, end, err = readBatch(tx, run, from, before)
				return err
			})
			for _, e := range batch {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Entry{}, err)
				return
			}
			if end {
				return
			}
			from += uint64(len(batch))
			before = &batch[len(batch)-1].Hash
		}
	}
}

// readBatch returns some entries from a position on, and whether the log ends with them. With an error the entries
// before it are good.
func readBatch(tx *bbolt.Tx, run string, from uint64, before *journal.Digest) (batch []journal.Entry, end bool, err error) {
	s, err := readState(tx, run)
	if err != nil {
		return nil, false, err
	}
	if s.Len == 0 {
		if err := removed(tx, run); err != nil {
			return nil, false, err
		}
		return nil, false, fmt.Errorf("run %.140q: %w", run, journal.ErrNotFound)
	}
	if from >= s.Len {
		return nil, true, nil
	}
	if before == nil {
		if before, err = hashBefore(tx, run, from); err != nil {
			return nil, false, err
		}
	}
	c := tx.Bucket(entriesBucket).Cursor()
	k, v := c.Seek(entryKey(run, from))
	for seq, size := from, 0; seq < s.Len; seq++ {
		if len(batch) == batchEntries || size > batchBytes {
			return batch, false, nil
		}
		if !bytes.Equal(k, entryKey(run, seq)) {
			return batch, false, fmt.Errorf("%w: run %s: entry %d of %d is missing", journal.ErrDamaged, run, seq, s.Len)
		}
		e, err := decode(v, *before)
		if err != nil {
			return batch, false, fmt.Errorf("run %s, entry %d: %w", run, seq, err)
		}
		batch, before, size = append(batch, e), &e.Hash, size+len(v)
		k, v = c.Next()
	}
	if *before != s.Head {
		return batch, false, fmt.Errorf("%w: run %s, entry %d is not the one that the log was folded from", journal.ErrDamaged, run, s.Len-1)
	}
	return batch, true, nil
}

// decode reads an entry that shares nothing with the transaction.
func decode(v []byte, before journal.Digest) (journal.Entry, error) {
	if len(v) > len(before)+journal.MaxEntry {
		return journal.Entry{}, fmt.Errorf("%w: a record has %d bytes", journal.ErrDamaged, len(v))
	}
	return journal.Unmarshal(bytes.Clone(v), before)
}

func hashBefore(tx *bbolt.Tx, run string, from uint64) (*journal.Digest, error) {
	d := journal.ChainStart(run)
	if from == 0 {
		return &d, nil
	}
	v := tx.Bucket(entriesBucket).Get(entryKey(run, from-1))
	if len(v) < len(d) {
		return nil, fmt.Errorf("%w: run %s: entry %d is missing", journal.ErrDamaged, run, from-1)
	}
	copy(d[:], v)
	return &d, nil
}

// readState returns a folded log; that of a run that does not exist has length 0.
func readState(tx *bbolt.Tx, run string) (*journal.State, error) {
	none := &journal.State{Run: run}
	if run == "" || len(run) > bbolt.MaxKeySize {
		return none, nil
	}
	v := tx.Bucket(statesBucket).Get([]byte(run))
	if v == nil {
		return none, stateless(tx, run)
	}
	s, err := decodeState([]byte(run), v)
	if err != nil && brokenBadRecord {
		return none, nil
	}
	return s, err
}

// stateless is what is wrong with a run that has no folded log, nil where it has no entries either, or is being removed or imported.
func stateless(tx *bbolt.Tx, run string) error {
	first := entryKey(run, 0)
	k, _ := tx.Bucket(entriesBucket).Cursor().Seek(first)
	if len(k) != len(first) || !bytes.HasPrefix(k, first[:len(run)+1]) {
		return nil
	}
	if gone := tx.Bucket(goneBucket); gone != nil && gone.Get([]byte(run)) != nil {
		return nil
	}
	if imports := tx.Bucket(importsBucket); imports != nil && imports.Get([]byte(run)) != nil {
		return nil
	}
	return fmt.Errorf("%w: run %s: there are entries of it, and no folded log", journal.ErrDamaged, run)
}

func decodeState(run, v []byte) (*journal.State, error) {
	b, err := unseal(run, v)
	if err != nil {
		return nil, fmt.Errorf("%w: the folded log of run %.140q: %w", journal.ErrDamaged, run, err)
	}
	s, err := journal.UnmarshalState(bytes.Clone(b))
	if err != nil {
		return nil, fmt.Errorf("run %.140q: %w", run, err)
	}
	if s.Run != string(run) || s.Len == 0 {
		return nil, fmt.Errorf("%w: the folded log of run %.140q says it is of %.140q, %d entries", journal.ErrDamaged, run, s.Run, s.Len)
	}
	return s, nil
}

// List yields folded logs; see journal.Journal.
func (j *Journal) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return listAll(ctx, j.view, q)
}

func listAll(ctx context.Context, view viewer, q journal.Query) iter.Seq2[journal.State, error] {
	return func(yield func(journal.State, error) bool) {
		for {
			var batch []*journal.State
			var last string
			err := view(ctx, func(tx *bbolt.Tx) (err error) {
				batch, last, err = listBatch(tx, q)
				return err
			})
			for _, s := range batch {
				if !yield(*s, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.State{}, err)
				return
			}
			if last == "" {
				return
			}
			q.After = last
		}
	}
}

// listBatch looks at some runs behind q.After and returns those that match, and the last one it looked at, "" when
// there are no more.
func listBatch(tx *bbolt.Tx, q journal.Query) (batch []*journal.State, last string, err error) {
	if q.Run != "" {
		s, err := readState(tx, q.Run)
		if err == nil && s.Len > 0 && q.Match(s) {
			batch = append(batch, s)
		}
		return batch, "", err
	}
	from, few := statesBucket, q.Unfinished || q.Unsettled
	if few {
		from = unsettledBucket // what is not finished is among them
	}
	c := tx.Bucket(from).Cursor()
	k, v := c.Seek([]byte(q.After))
	if k != nil && string(k) == q.After {
		k, v = c.Next()
	}
	for n := 0; k != nil; k, v = c.Next() {
		if n == batchEntries {
			return batch, last, nil
		}
		if few {
			v = tx.Bucket(statesBucket).Get(k)
		}
		s, err := decodeState(k, v)
		if err != nil && brokenBadRecord {
			continue
		}
		if err != nil {
			return batch, "", err
		}
		if q.Match(s) {
			batch = append(batch, s)
		}
		n, last = n+1, s.Run
	}
	return batch, "", nil
}
