package boltdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// Append adds entries to a log; see journal.Journal. Appends that come while another is being committed share the next
// commit. Once it waits for a commit an append ignores its context.
func (j *Journal) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) (err error) {
	done, missing, err := j.pinNamed(ctx, entries)
	if err != nil {
		return err
	}
	defer func() { done(err) }()
	db, err := j.gate.acquire(ctx)
	if err != nil {
		return err
	}
	defer j.gate.release()
	return j.writer.append(&request{run: run, at: at, entries: entries, missing: missing}, func(batch []*request) { j.commit(db, batch) })
}

// request is an append on its way to the disk.
type request struct {
	run     string
	at      uint64
	entries []journal.Entry
	missing error // a blob that they name is not there

	judged bool // in the transaction under way, and so against those before it there
	added  *journal.Extension
	err    error
	turn   chan bool // true: lead the next batch; false: err says how it ended
}

// unjudge forgets what came of a request in a transaction that is not there: it may have been refused because of another one that is not
// there either.
func (r *request) unjudge() {
	if r.judged {
		r.judged, r.added, r.err = false, nil, nil
	}
}

// settle ends a request that was committed, or not.
func (r *request) settle(failed error) {
	if r.err == nil {
		r.err = failed
	}
	if r.err != nil {
		return
	}
	for i, e := range r.added.Entries {
		r.entries[i].Schema, r.entries[i].Seq, r.entries[i].Hash = e.Schema, e.Seq, e.Hash
	}
}

// commit makes one transaction of a batch. Each request is checked completely, also against those before it, before
// its first Put; one that is refused does not disturb the others.
func (j *Journal) commit(db *bbolt.DB, batch []*request) {
	if j.hooks.beforeCommit != nil {
		j.hooks.beforeCommit(len(batch))
	}
	err := j.ready(db, batch)
	if err == nil {
		err = j.transact(db, batch)
	}
	for _, r := range batch {
		r.settle(err)
		switch {
		case r.err == nil:
			j.owner.note(r.added.State)
		case r.added != nil: // it may be there all the same
			j.owner.suspect(r.added.State)
		}
	}
	j.room.regain()
	j.gate.letIn()
}

// transact commits a batch. Where there is no space after all, what begins nothing is tried again with what the room can give:
// it may be the outcome for which that was held.
func (j *Journal) transact(db *bbolt.DB, batch []*request) error {
	for {
		err := j.inTx(db, func(tx *bbolt.Tx) (commit bool, err error) {
			for _, r := range batch {
				if r.err != nil {
					continue // it was refused before
				}
				r.judged = true
				if err := r.add(tx); err != nil {
					return false, err
				}
				commit = commit || r.err == nil
			}
			return commit, nil
		})
		if err == nil || brokenRetry && j.readable(db, batch) {
			return nil
		}
		err = fmt.Errorf("append: %w", err)
		if !errors.Is(err, errUnwritten) {
			return j.lost(err)
		}
		for _, r := range batch {
			r.unjudge()
		}
		given := j.room.give(true)
		if dropped := refuseBeginnings(batch, err); !dropped && !given {
			return err
		}
	}
}

// readable says whether all of a batch can be read, which proves nothing after a failed commit: broken_retry believes it.
func (j *Journal) readable(db *bbolt.DB, batch []*request) bool {
	return guard(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			for _, r := range batch {
				if s, err := readState(tx, r.run); r.added != nil && (err != nil || s.Len < r.added.State.Len) {
					return journal.ErrNotFound
				}
			}
			return nil
		})
	}) == nil
}

// add puts a request into the transaction, or sets its err and changes nothing. What it returns ends the transaction.
func (r *request) add(tx *bbolt.Tx) error {
	if err := journal.ValidateRun(r.run); err != nil {
		r.err = fmt.Errorf("%w: %w", journal.ErrInvalid, err)
		return nil
	}
	s, err := readState(tx, r.run)
	if err != nil {
		r.err = err
		return nil
	}
	if s.Len == 0 {
		if r.err = removed(tx, r.run); r.err != nil {
			return nil
		}
	}
	x, err := journal.Extend(s, r.at, r.entries, hasPhase(tx, r.run))
	if err != nil {
		r.err = err
		return nil
	}
	if r.err = checkEnd(tx, s); r.err != nil {
		return nil
	}
	if r.missing != nil {
		r.err = fmt.Errorf("run %s: %w", r.run, r.missing)
		return nil
	}
	writes, err := stage(tx, x.Entries)
	if err != nil {
		r.err = err
		return nil
	}
	r.added = x
	return put(tx, r.run, x, writes)
}

// checkEnd holds the end of the log itself against its folded state.
func checkEnd(tx *bbolt.Tx, s *journal.State) error {
	if imports := tx.Bucket(importsBucket); imports != nil && imports.Get([]byte(s.Run)) != nil {
		return fmt.Errorf("%w: run %s is being imported, or its import was cut off: import it again, or take another id", journal.ErrBusy, s.Run)
	}
	b := tx.Bucket(entriesBucket)
	if b.Get(entryKey(s.Run, s.Len)) != nil {
		return fmt.Errorf("%w: run %s goes on behind its end, entry %d", journal.ErrDamaged, s.Run, s.Len)
	}
	if s.Len > 0 && !bytes.HasPrefix(b.Get(entryKey(s.Run, s.Len-1)), s.Head[:]) {
		return fmt.Errorf("%w: run %s, entry %d is not the one that the log was folded from", journal.ErrDamaged, s.Run, s.Len-1)
	}
	return nil
}

// put writes what was found to be right.
func put(tx *bbolt.Tx, run string, x *journal.Extension, writes map[string]value) error {
	for i, e := range x.Entries {
		if err := putEntry(tx, run, e, x.Records[i]); err != nil {
			return err
		}
	}
	for k, v := range writes {
		if err := putValue(tx, []byte(k), v); err != nil {
			return err
		}
	}
	if err := noted(tx, run, x.Entries[0].Seq, writes); err != nil {
		return err
	}
	return putState(tx, x.State)
}

// putEntry writes an entry, and where it is to be found by its step and phase.
func putEntry(tx *bbolt.Tx, run string, e journal.Entry, record []byte) error {
	entries := tx.Bucket(entriesBucket)
	entries.FillPercent = 0.9 // logs grow at their end
	if err := entries.Put(entryKey(run, e.Seq), record); err != nil || e.Phase() == 0 {
		return err
	}
	return tx.Bucket(keysBucket).Put(stepKey(run, e.Step, e.Phase()), be64(e.Seq))
}

// hasPhase tells which steps and phases of a run have an entry.
func hasPhase(tx *bbolt.Tx, run string) func(journal.Step, uint8) (bool, error) {
	keys := tx.Bucket(keysBucket)
	return func(step journal.Step, phase uint8) (bool, error) {
		return keys.Get(stepKey(run, step, phase)) != nil, nil
	}
}

// putState writes a folded log, and what helps to find it.
func putState(tx *bbolt.Tx, s *journal.State) error {
	b, err := journal.MarshalState(s)
	if err != nil {
		return err
	}
	run := []byte(s.Run)
	if err := tx.Bucket(statesBucket).Put(run, seal(run, b)); err != nil {
		return err
	}
	unsettled := tx.Bucket(unsettledBucket)
	listed, _ := unsettled.Cursor().Seek(run) // Get is nil for an empty value that this transaction has put
	switch is, was := s.Unsettled(), bytes.Equal(listed, run); {
	case is && !was:
		return unsettled.Put(run, nil)
	case was && !is:
		return unsettled.Delete(run)
	}
	return nil
}

// noPhase is for journal.Extend with entries that have no phase: no log has another one of those.
func noPhase(journal.Step, uint8) (bool, error) { return false, nil }

func entryKey(run string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(run), 0), seq)
}

func stepKey(run string, step journal.Step, phase uint8) []byte {
	return fmt.Appendf(nil, "%s\x00%s\x00%c", run, step, rune(phase))
}
