package boltdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/bundle"
)

// ImportOptions says how a run is imported. The zero value works.
type ImportOptions struct {
	// By is who does it.
	By string
	// Plain leaves the log as it is in the bundle. It is for a journal that nobody drives runs of, and that is thrown away.
	Plain bool
	// Progress is told after every part that was taken, and must return at once.
	Progress func(Progress)
}

// Imported says what Import came to.
type Imported struct {
	// Run is the run's id.
	Run string
	// From is the id of the journal that it comes from.
	From journal.Digest
	// Finished says that it is finished. One that is not can be read here, and not driven.
	Finished bool
	// Entries and Blobs are how many it has.
	Entries, Blobs uint64
}

// Import takes a run from a bundle that r yields, with its blobs. The chain of hashes, the rules and the blobs are checked, and a record
// imported is appended. The run is there when all of it is: a crash leaves nothing of it that can be seen, and the next maintenance
// removes the rest. Memory grows by some bytes for each blob, not with the log. Tool state does not change: what the run wrote belongs to
// the journal that it comes from.
//
// Errors: ErrExists for the id of a run that is there, ErrRemoved, ErrOtherBundle, those of bundle.Reader, bundle.ErrDamaged also for a
// log that breaks its chain or the rules or lacks a blob, ErrBusy when other maintenance is under way, ErrNoSpace, ErrUnusable, ctx.Err().
func (j *Journal) Import(ctx context.Context, r io.Reader, opts ImportOptions) (Imported, error) {
	release, err := j.maintain(ctx, "import")
	if err != nil {
		return Imported{}, err
	}
	defer release()
	done, err := j.imports(ctx, r, opts)
	if err = noSpace(err); err != nil && !opts.Plain {
		err = fmt.Errorf("import into %s: %w", j.path, err)
	}
	return done, err
}

// importBytes is how much of a log is written at a time: little enough for the room that update makes sure of.
const importBytes = reserved / 4

// importing is an import under way.
type importing struct {
	j      *Journal
	state  *journal.State
	named  named
	stored map[journal.Digest]int64
	batch  [][]byte // copies of records that are not in the journal yet
	size   int
	told   Progress
}

func (j *Journal) imports(ctx context.Context, r io.Reader, opts ImportOptions) (done Imported, err error) {
	in, err := bundle.NewReader(r)
	if err != nil {
		return done, err
	}
	h := in.Header()
	if h.Of != bundle.Run {
		return done, fmt.Errorf("%w: it is a backup of a whole journal", ErrOtherBundle)
	}
	if err := journal.ValidateRun(h.Run); err != nil {
		return done, fmt.Errorf("%w: %w", bundle.ErrDamaged, err)
	}
	if err := j.sweepCopies(ctx); err != nil {
		return done, err
	}
	i := &importing{j: j, state: &journal.State{Run: h.Run}, named: named{}, stored: map[journal.Digest]int64{}}
	if err := i.begin(ctx); err != nil {
		return done, err
	}
	defer func() {
		if err != nil && !errors.Is(err, journal.ErrUnusable) {
			err = errors.Join(err, j.dropImports(context.WithoutCancel(ctx)))
		}
	}()
	j.hooks.at("begun")
	if err := i.fill(ctx, in, opts.Progress); err != nil {
		return done, err
	}
	if err := i.checkBlobs(); err != nil {
		return done, err
	}
	j.hooks.at("filled")
	done = Imported{Run: h.Run, From: h.Journal, Finished: i.state.Finished, Entries: i.state.Len, Blobs: uint64(len(i.stored))}
	note := fmt.Sprintf("exported %s from the journal %s", time.Unix(0, h.Made).UTC().Format(time.RFC3339), h.Journal.Short())
	return done, i.end(ctx, opts, h.Journal, note)
}

// begin notes that the run is being imported: entries without a folded log are nobody's otherwise.
func (i *importing) begin(ctx context.Context) error {
	run := i.state.Run
	return i.j.update(ctx, func(tx *bbolt.Tx) error {
		if tx.Bucket(statesBucket).Get([]byte(run)) != nil {
			return fmt.Errorf("there is a run with the id %s: %w", run, journal.ErrExists)
		}
		if tx.Bucket(goneBucket).Get([]byte(run)) != nil {
			return fmt.Errorf("%w: %s", journal.ErrRemoved, run)
		}
		b, err := tx.CreateBucketIfNotExists(importsBucket)
		if err != nil {
			return err
		}
		return b.Put([]byte(run), nil)
	})
}

// fill takes everything that the bundle has.
func (i *importing) fill(ctx context.Context, in *bundle.Reader, progress func(Progress)) error {
	for {
		f, err := in.Next()
		if err == io.EOF {
			return i.flush(ctx)
		}
		if err == nil {
			err = i.take(ctx, in, f)
		}
		if err != nil {
			return err
		}
		if progress != nil {
			i.told.Bytes = in.Offset()
			progress(i.told)
		}
	}
}

func (i *importing) take(ctx context.Context, in *bundle.Reader, f bundle.Frame) error {
	switch f.Type {
	case bundle.TypeRun:
		if at := i.state.Len + uint64(len(i.batch)); f.Log.Run != i.state.Run || f.Log.From != at {
			return fmt.Errorf("%w: entry %d of run %s is where entry %d of %s should be", bundle.ErrDamaged, f.Log.From, f.Log.Run, at, i.state.Run)
		}
	case bundle.TypeRecord:
		i.batch = append(i.batch, bytes.Clone(f.Record))
		i.told.Entries++
		if i.size += len(f.Record); len(i.batch) == partEntries || i.size > importBytes {
			return i.flush(ctx)
		}
	case bundle.TypeBlob:
		if err := i.flush(ctx); err != nil { // the log has come to its end
			return err
		}
		if size, ok := i.named[f.Blob.Digest]; !ok || size >= 0 && size != f.Blob.Size {
			return fmt.Errorf("%w: no entry names blob %s of %d bytes", bundle.ErrDamaged, f.Blob.Digest.Short(), f.Blob.Size)
		}
		d, n, err := i.j.Put(ctx, in.Content())
		if err != nil {
			return err
		}
		i.stored[d] = n
		i.told.Blobs++
	default:
		return fmt.Errorf("%w: a %s in a bundle of one run", bundle.ErrDamaged, f.Type)
	}
	return nil
}

// flush writes what has come of the log. It cannot be seen as long as there is no folded log.
func (i *importing) flush(ctx context.Context) error {
	if len(i.batch) == 0 {
		return nil
	}
	err := i.j.update(ctx, func(tx *bbolt.Tx) error {
		for _, record := range i.batch {
			e, err := takeRecord(tx, i.state, record)
			if err != nil {
				return ofBundle(fmt.Errorf("run %s, entry %d: %w", i.state.Run, i.state.Len, err))
			}
			i.named.add(e)
		}
		return nil
	})
	i.batch, i.size = i.batch[:0], 0
	if err == nil {
		i.j.hooks.at("part")
	}
	return err
}

// checkBlobs holds the blobs that the log names against those that came with it.
func (i *importing) checkBlobs() error {
	for d, size := range i.named {
		n, ok := i.stored[d]
		switch {
		case !ok:
			return fmt.Errorf("%w: the log names blob %s, which is not there", bundle.ErrDamaged, d.Short())
		case size >= 0 && n != size:
			return fmt.Errorf("%w: blob %s has %d bytes, its entry says %d", bundle.ErrDamaged, d.Short(), n, size)
		}
	}
	return nil
}

// end writes the folded log, with which the run is there, behind a record that says from which journal.
func (i *importing) end(ctx context.Context, opts ImportOptions, from journal.Digest, note string) error {
	s := i.state
	if s.Len == 0 {
		return fmt.Errorf("%w: it has no entries", bundle.ErrDamaged)
	}
	return i.j.update(ctx, func(tx *bbolt.Tx) error {
		if err := endImport(tx, s.Run); err != nil {
			return err
		}
		if opts.Plain {
			return putState(tx, s)
		}
		e := journal.Entry{Kind: journal.Record, Name: journal.RecordImported, Time: max(i.j.now().UnixNano(), s.Time), By: opts.By, Note: note, Body: from[:]}
		x, err := journal.Extend(s, s.Len, []journal.Entry{e}, noPhase)
		if err != nil {
			return err
		}
		return put(tx, s.Run, x, nil)
	})
}

func endImport(tx *bbolt.Tx, run string) error {
	b := tx.Bucket(importsBucket)
	if b == nil {
		return nil
	}
	if err := b.Delete([]byte(run)); err != nil {
		return err
	}
	if k, _ := b.Cursor().First(); k == nil {
		return tx.DeleteBucket(importsBucket)
	}
	return nil
}

// dropImports removes what imports left that did not come to their end, some at a time. The caller has the lock of maintenance.
func (j *Journal) dropImports(ctx context.Context) error {
	for more := true; more; {
		err := j.lessen(ctx, func(tx *bbolt.Tx) error {
			b := tx.Bucket(importsBucket)
			if b == nil {
				more = false
				return nil
			}
			run, _ := b.Cursor().First()
			run = bytes.Clone(run)
			if tx.Bucket(statesBucket).Get(run) != nil {
				return endImport(tx, string(run)) // it has a log, whatever has marked it
			}
			most := mostDeleted
			if left, err := deleteLog(tx, string(run), &most); left || err != nil {
				return err
			}
			return endImport(tx, string(run))
		})
		if err != nil {
			return fmt.Errorf("remove what an import left that was cut off: %w", err)
		}
	}
	return nil
}
