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
