package boltdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// Progress says how far a copy of a journal has come.
type Progress struct {
	// Entries, Keys and Blobs were copied so far; what changed meanwhile counts again.
	Entries, Keys, Blobs uint64
	// Bytes are the lengths of all these together.
	Bytes int64
	// OfEntries and OfBlobs are how many there were when the copy of a journal began; 0 where that was not counted.
	OfEntries, OfBlobs uint64
}

// sink takes what a copier reads. No transaction of the journal is open while it works.
type sink interface {
	// log takes records of a run, from a position on. What it has of them already is the same.
	log(run string, from uint64, records [][]byte) error
	// key takes a key of the store, which may have come before.
	key(k []byte, v value) error
	// gone takes what is kept of a removed run.
	gone(run string, kept []byte) error
}

// part is some of a journal, out of one transaction. It shares nothing with it.
type part struct {
	logs []logPart
	keys []keyPart
	gone []gonePart
	size int
}

type logPart struct {
	run     string
	from    uint64
	records [][]byte
}

type keyPart struct {
	key   []byte
	value value
}

type gonePart struct {
	run  string
	kept []byte
}

// into gives a part to a sink.
func (p *part) into(s sink) error {
	for _, l := range p.logs {
		if err := s.log(l.run, l.from, l.records); err != nil {
			return err
		}
	}
	for _, k := range p.keys {
		if err := s.key(k.key, k.value); err != nil {
			return err
		}
	}
	for _, g := range p.gone {
		if err := s.gone(g.run, g.kept); err != nil {
			return err
		}
	}
	return nil
}

// What is read at a time. Others get in between.
const (
	partEntries = 1024
	partBytes   = 1 << 20
	// lastBytes is how much the last pass may read, in the one transaction for which everyone waits; after some attempts it may
	// be more, so that there is an end.
	lastBytes = 4 << 20
	mostBytes = 64 << 20
	// few is how many notes are left to the last pass.
	few = 64
)

// copier copies a journal that others use. It goes through everything, then through what has changed meanwhile until little of that
// is left, and reads that together with the end of the notes: so the copy is of the moment of that last transaction.
type copier struct {
	j        *Journal
	to       sink
	progress func(Progress)
	told     Progress
	id       []byte
}

// copyTo copies everything but blobs. last makes the last pass; see finish.
func (j *Journal) copyTo(ctx context.Context, to sink, progress func(Progress), last func(*copier) error) (told Progress, err error) {
	c := &copier{j: j, to: to, progress: progress}
	if c.id, err = j.beginNotes(ctx); err != nil {
		return c.told, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.dropNotes(ctx, c.id))
		}
	}()
	for _, pass := range []func(context.Context) error{c.count, c.logs, c.keys, c.gone} {
		if err := pass(ctx); err != nil {
			return c.told, err
		}
	}
	j.hooks.at("copied")
	if err := c.catchUp(ctx); err != nil {
		return c.told, err
	}
	j.hooks.at("caught up")
	return c.told, last(c)
}

// count finds out how much there is to copy, for whoever is told how far it is.
func (c *copier) count(ctx context.Context) error {
	if c.progress == nil {
		return nil
	}
	for s, err := range c.j.List(ctx, journal.Query{}) {
		if err != nil {
			return err
		}
		c.told.OfEntries += s.Len
	}
	return nil
}

// give hands a part on.
func (c *copier) give(p *part) error {
	if err := p.into(c.to); err != nil {
		return err
	}
	for _, l := range p.logs {
		c.told.Entries += uint64(len(l.records))
	}
	c.told.Keys += uint64(len(p.keys))
	c.told.Bytes += int64(p.size)
	if c.progress != nil {
		c.progress(c.told)
	}
	return nil
}

// step reads a part in a transaction of its own and hands it on.
func (c *copier) step(ctx context.Context, read func(*bbolt.Tx, *part) error) error {
	var p part
	if err := c.j.view(ctx, func(tx *bbolt.Tx) error { return read(tx, &p) }); err != nil {
		return err
	}
	return c.give(&p)
}

// logs copies every run that is listed, as far as it goes when its turn comes.
func (c *copier) logs(ctx context.Context) error {
	run, from, more := "", uint64(0), true // the run that is copied, and how far
	for more {
		err := c.step(ctx, func(tx *bbolt.Tx, p *part) (err error) {
			cur := tx.Bucket(statesBucket).Cursor()
			k, _ := cur.Seek([]byte(run))
			if string(k) != run {
				from = 0
			}
			for ; k != nil; k, _ = cur.Next() {
				whole := false
				run = string(k)
				if from, whole, err = p.readLog(tx, run, from); err != nil || !whole {
					return err
				}
				from = 0
				run += "\x00" // the next one that can be there
			}
			more = false
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readLog reads a run from a position on, and says how far it came and whether that is the end.
func (p *part) readLog(tx *bbolt.Tx, run string, from uint64) (next uint64, whole bool, err error) {
	s, err := readState(tx, run)
	if err != nil {
		return from, false, err
	}
	if from >= s.Len {
		return from, true, nil
	}
	before, err := hashBefore(tx, run, from)
	if err != nil {
		return from, false, err
	}
	l := logPart{run: run, from: from}
	defer func() {
		if len(l.records) > 0 {
			p.logs = append(p.logs, l)
		}
	}()
	cur := tx.Bucket(entriesBucket).Cursor()
	k, v := cur.Seek(entryKey(run, from))
	for ; from < s.Len; from++ {
		if len(l.records) == partEntries || p.size > partBytes || len(p.logs) > partEntries {
			return from, false, nil
		}
		if !bytes.Equal(k, entryKey(run, from)) {
			return from, false, fmt.Errorf("%w: run %s: entry %d of %d is missing", journal.ErrDamaged, run, from, s.Len)
		}
		hash, err := journal.Chained(v, *before)
		if err != nil {
			return from, false, fmt.Errorf("run %s, entry %d: %w", run, from, err)
		}
		l.records = append(l.records, bytes.Clone(v))
		p.size += len(v)
		before = &hash
		k, v = cur.Next()
	}
	if *before != s.Head {
		return from, false, fmt.Errorf("%w: run %s, entry %d is not the one that the log was folded from", journal.ErrDamaged, run, s.Len-1)
	}
	return from, true, nil
}

// keys copies the state of tools.
func (c *copier) keys(ctx context.Context) error {
	return c.each(ctx, kvBucket, func(p *part, k, v []byte) error { return p.readKey(k, v) })
}

// gone copies what is kept of removed runs.
func (c *copier) gone(ctx context.Context) error {
	return c.each(ctx, goneBucket, func(p *part, k, v []byte) error { return p.readGone(k, v) })
}

// each reads every key of a bucket.
func (c *copier) each(ctx context.Context, bucket []byte, read func(p *part, k, v []byte) error) error {
	var at []byte
	for more := true; more; {
		err := c.step(ctx, func(tx *bbolt.Tx, p *part) error {
			cur := tx.Bucket(bucket).Cursor()
			n := 0
			for k, v := cur.Seek(at); k != nil; k, v = cur.Next() {
				if n == partEntries || p.size > partBytes {
					at = bytes.Clone(k)
					return nil
				}
				if err := read(p, k, v); err != nil {
					return err
				}
				n++
			}
			more = false
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *part) readKey(k, sealed []byte) error {
	v, err := decodeValue(k, sealed)
	if err != nil {
		return err
	}
	if _, _, ok := splitKey(k); !ok {
		return fmt.Errorf("%w: a key of tool state has an unknown layout", journal.ErrDamaged)
	}
	p.keys = append(p.keys, keyPart{bytes.Clone(k), v})
	p.size += len(k) + len(sealed)
	return nil
}

func (p *part) readGone(k, sealed []byte) error {
	kept, err := unseal(k, sealed)
	if err != nil {
		return fmt.Errorf("%w: what is kept of the removed run %.140q: %w", journal.ErrDamaged, k, err)
	}
	p.gone = append(p.gone, gonePart{string(k), bytes.Clone(kept)})
	p.size += len(k) + len(sealed)
	return nil
}

// catchUp takes notes, and copies what they name, until few are left.
func (c *copier) catchUp(ctx context.Context) error {
	for {
		notes, more, err := c.j.takeNotes(ctx, c.id)
		if err != nil {
			return err
		}
		for _, n := range notes {
			if err := c.follow(ctx, n); err != nil {
				return err
			}
		}
		if !more && len(notes) <= few {
			return nil
		}
	}
}

// follow copies what a note names.
func (c *copier) follow(ctx context.Context, n note) error {
	for whole := false; !whole; {
		err := c.step(ctx, func(tx *bbolt.Tx, p *part) (err error) {
			n.from, whole, err = p.readNote(tx, n)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readNote reads what a note names, some of it where it is a long log.
func (p *part) readNote(tx *bbolt.Tx, n note) (next uint64, whole bool, err error) {
	var v []byte
	switch n.kind {
	case 'r':
		return p.readLog(tx, string(n.name), n.from)
	case 'k':
		if v = tx.Bucket(kvBucket).Get(n.name); v != nil {
			err = p.readKey(n.name, v)
		}
	default:
		err = fmt.Errorf("%w: a note of the unknown kind %q", journal.ErrDamaged, n.kind)
	}
	return 0, true, err
}

// errMuch: too much is left for one transaction.
var errMuch = errors.New("too much has changed since")

// remaining reads all that is noted, as long as it is no more than so many bytes.
func (c *copier) remaining(tx *bbolt.Tx, most int) (*part, error) {
	b, err := notesOf(tx, c.id)
	if err != nil {
		return nil, err
	}
	notes, more := readNotes(b, maxTaken)
	if more {
		return nil, errMuch
	}
	all := new(part)
	for _, n := range notes {
		for whole := false; !whole; {
			var p part
			if n.from, whole, err = p.readNote(tx, n); err != nil {
				return nil, err
			}
			all.logs, all.keys = append(all.logs, p.logs...), append(all.keys, p.keys...)
			if all.size += p.size; all.size > most {
				return nil, errMuch
			}
		}
	}
	return all, nil
}

// finish makes the last pass in attempts: each reads what is left of at most so many bytes, or says errMuch, upon which there is more
// catching up.
func (c *copier) finish(ctx context.Context, attempt func(most int) error) error {
	for most := lastBytes; most <= mostBytes; most += most / 8 {
		if err := attempt(most); !errors.Is(err, errMuch) {
			return err
		}
		if err := c.catchUp(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: it changes faster than it can be copied", journal.ErrBusy)
}
