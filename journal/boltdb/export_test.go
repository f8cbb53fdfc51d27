package boltdb

import (
	"context"
	"io"

	"go.etcd.io/bbolt"
)

// BeforeCommit has fn called with the length of every batch whose transaction is about to begin.
func BeforeCommit(j *Journal, fn func(batch int)) { j.hooks.beforeCommit = fn }

// OnCommit has fn called in place of every commit; it may call commit.
func OnCommit(j *Journal, fn func(commit func() error) error) {
	j.hooks.commit = func(tx *bbolt.Tx) error { return fn(tx.Commit) }
}

// Waiting returns how many appends wait for the next batch.
func Waiting(j *Journal) int { return j.writer.waiting() }

// Handovers returns how often j closed its file because another process waited.
func Handovers(j *Journal) int {
	j.gate.mu.Lock()
	defer j.gate.mu.Unlock()
	return j.gate.handover
}

// Hold opens the file and keeps it open until release is called.
func Hold(ctx context.Context, j *Journal) (release func(), err error) {
	if _, err := j.gate.acquire(ctx); err != nil {
		return nil, err
	}
	return j.gate.release, nil
}

// EditHeader changes a key of the journal's header bucket.
func EditHeader(ctx context.Context, j *Journal, key string, value []byte) error {
	db, err := j.gate.acquire(ctx)
	if err != nil {
		return err
	}
	defer j.gate.release()
	return db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(headerBucket).Put([]byte(key), value) })
}

// Parsers of what other programs may have written.
var (
	ParseOwner = parseOwner
	NetworkFS  = networkFS
)

// Inspect is what is done to a file before bbolt sees it.
func Inspect(r io.ReaderAt, size int64) error { return inspect(r, size) }

// DecodeValue decodes a sealed value of tool state; Reseal makes one with a right checksum.
func DecodeValue(key, sealed []byte) error {
	_, err := decodeValue(key, sealed)
	return err
}

// Reseal seals arbitrary bytes.
func Reseal(key, b []byte) []byte { return seal(key, b) }

// Wanted says whether another handle waits for the file, as opposed to looking for an instant whether others do.
func Wanted(j *Journal) bool {
	j.gate.mu.Lock()
	defer j.gate.mu.Unlock()
	if !j.gate.wanted() {
		return false
	}
	shared, err := tryLock(j.gate.wait, false)
	if shared {
		err = unlock(j.gate.wait)
	}
	return shared && err == nil
}

// Schema is the present schema of the file.
const Schema = schema

// Maintain keeps other maintenance away until release is called.
func Maintain(ctx context.Context, j *Journal, what string) (release func(), err error) {
	return j.maintain(ctx, what)
}

// OnPoint has fn called at every point at which a copy or an import might be cut off.
func OnPoint(j *Journal, fn func(point string)) { j.hooks.point = fn }

// OnRestorePoint is OnPoint for a restore.
func OnRestorePoint(o *RestoreOptions, fn func(point string)) { o.hooks.point = fn }

// Remove does what is left of a removed run in the file: what is kept of it.
func Remove(ctx context.Context, j *Journal, run string, kept []byte) error {
	return j.update(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(goneBucket).Put([]byte(run), seal([]byte(run), kept))
	})
}

// Kept returns what is kept of a removed run.
func Kept(ctx context.Context, j *Journal, run string) (kept string, err error) {
	err = j.view(ctx, func(tx *bbolt.Tx) error {
		b, err := unseal([]byte(run), tx.Bucket(goneBucket).Get([]byte(run)))
		kept = string(b)
		return err
	})
	return kept, err
}

// Leftovers counts the copies and imports that are under way or were cut off, and the entries of runs that are not listed.
func Leftovers(ctx context.Context, j *Journal) (marks, entries int, err error) {
	err = j.view(ctx, func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{copiesBucket, importsBucket} {
			if tx.Bucket(name) != nil {
				marks++
			}
		}
		return tx.Bucket(entriesBucket).ForEach(func(k, _ []byte) error {
			if tx.Bucket(statesBucket).Get(k[:len(k)-9]) == nil {
				entries++
			}
			return nil
		})
	})
	return marks, entries, err
}

// ListedUnsettled are the runs that the file lists as unsettled, rightly or not.
func ListedUnsettled(ctx context.Context, j *Journal) (runs []string) {
	_ = j.view(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(unsettledBucket).ForEach(func(k, _ []byte) error {
			runs = append(runs, string(k))
			return nil
		})
	})
	return runs
}

// Spoil flips a bit of an entry.
func Spoil(ctx context.Context, j *Journal, run string, seq uint64) error {
	return j.update(ctx, func(tx *bbolt.Tx) error {
		b := tx.Bucket(entriesBucket)
		v := append([]byte(nil), b.Get(entryKey(run, seq))...)
		v[len(v)-1] ^= 1
		return b.Put(entryKey(run, seq), v)
	})
}
