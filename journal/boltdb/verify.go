package boltdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// VerifyOptions says how a journal is verified. The zero value works.
type VerifyOptions struct {
	// BusyTimeout is how long to wait for another process that has the journal open, before ErrBusy. Default 2 s.
	BusyTimeout time.Duration
	// Progress is told now and then what was read so far.
	Progress func(Verified)
}

// Verified counts what was looked at.
type Verified struct {
	// Runs are those that have a log, Removed those that had one.
	Runs, Removed uint64
	// Entries and Values are those of all logs and of the state of tools.
	Entries, Values uint64
	// Blobs are those that entries name and that are right, BlobBytes their length together. Orphans are files of blobs that no
	// entry names, which is no fault.
	Blobs, Orphans uint64
	BlobBytes      int64
	// Pages and Bytes are the file's.
	Pages uint64
	Bytes int64
}

// Verify reads the journal at path and all that belongs to it, and says to fault what is wrong, by run where it is one: pages of the file
// that are damaged, used twice, both used and free, or neither; a broken chain; an entry that the rules forbid; steps that are not
// where the log has them; folded logs that are not what the log folds to; values of tool state that no log made, or that are older than
// a log says; what belongs to runs that are not there; blobs that are missing or changed. It believes nothing that it reads, and goes on
// behind what is damaged as far as it can. Faults wrap journal.ErrDamaged, or the error that kept it from looking.
//
// It reads the file by itself and not through bbolt, so also one that cannot be opened, and changes nothing. Other processes may use the
// journal meanwhile: they are let in after every 1,024 entries, but wait once while the pages are counted, which reads the branch pages
// and 16 bytes of each other page; the file was read before, so that this is from memory where it fits. What changes meanwhile is no fault: a run is looked at again before anything is said of it.
//
// It takes the memory of two bits for each page of the file, 40 bytes for each blob, 16 for each write of tool state that replaced
// a value and 8 for each key; nothing for an entry, and for a run what is open in it and 100 bytes for each of its writes.
//
// Errors, when nothing can be verified: ErrNoJournal, ErrForeign, ErrNewer, ErrBusy, ctx.Err().
func Verify(ctx context.Context, path string, opts VerifyOptions, fault func(journal.Fault)) (Verified, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Verified{}, fmt.Errorf("verify %s: %w", path, err)
	}
	src, err := openSource(abs, opts.BusyTimeout)
	if err != nil {
		return Verified{}, fmt.Errorf("verify journal: %w", err)
	}
	v := &verification{
		src: src, opts: opts, tell: fault, said: map[string]bool{}, blobs: blobs{dir: abs + ".blobs"}, seen: map[journal.Digest]int64{},
		seed: maphash.MakeSeed(), replaced: map[uint64]uint64{}, told: map[uint64]struct{}{},
	}
	if err = errors.Join(v.all(ctx), src.close()); err != nil {
		err = fmt.Errorf("verify journal %s: %w", abs, err)
	}
	return v.Verified, err
}

type verification struct {
	Verified
	src   *source
	opts  VerifyOptions
	tell  func(journal.Fault)
	found []journal.Fault // not told yet
	said  map[string]bool // faults of the journal as a whole: a page is come by more than once

	schema   uint64 // 0 when the header cannot be read
	txid     uint64 // of the first look
	repaired bool   // it is a repaired copy: values may be left whose logs are not
	partial  bool   // something is wrong with a run: what it wrote cannot be told

	blobs    blobs
	seen     map[journal.Digest]int64 // blobs that are right: their lengths
	seed     maphash.Seed
	replaced map[uint64]uint64   // key and version that a write replaced: by which entry
	told     map[uint64]struct{} // keys whose value a log explains
}

// fault reports what concerns the journal as a whole, each thing once.
func (v *verification) fault(err error) {
	if text := err.Error(); !v.said[text] && len(v.said) < 10_000 {
		v.said[text] = true
		v.report(journal.Fault{Err: err})
	}
}

// report is for what was found while the lock may be held.
func (v *verification) report(f journal.Fault) { v.found = append(v.found, f) }

// progress tells what was found so far, without holding up others meanwhile.
func (v *verification) progress() {
	if len(v.found) > 0 {
		v.src.rest()
		for _, f := range v.found {
			v.tell(f)
		}
		v.found = v.found[:0]
	}
	if v.opts.Progress != nil && v.src.p == nil { // nor for this
		v.opts.Progress(v.Verified)
	}
}

func (v *verification) all(ctx context.Context) error {
	defer v.progress()
	readable, err := v.file(ctx)
	if err != nil || !readable {
		return err
	}
	for _, part := range []func(context.Context) error{v.logs, v.gone, v.unsettled, v.values, v.orphans} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// warm reads a file, so that what is then read of it with the lock held comes from memory: counting the pages of a large journal takes
// seconds otherwise. What cannot be read is said by who looks at it.
func warm(ctx context.Context, path string) error {
	f, err := openToRead(path)
	if err != nil {
		return ctx.Err()
	}
	defer f.Close()
	for b := make([]byte, 1<<20); err == nil && ctx.Err() == nil; {
		_, err = f.Read(b)
	}
	return ctx.Err()
}

// file looks at the meta pages, the header and which pages are used, and says whether there is anything to go by.
func (v *verification) file(ctx context.Context) (readable bool, err error) {
	if err := warm(ctx, v.src.path); err != nil {
		return false, err
	}
	err = v.src.look(ctx, func(f *os.File, size int64) error {
		v.Bytes = size
		m, wrong, err := bestMeta(f, size)
		if errors.Is(err, journal.ErrDamaged) {
			v.fault(err)
			return nil
		}
		if err != nil {
			return err
		}
		if wrong != nil {
			v.fault(wrong)
		}
		if m.freelist == noFreelist {
			return fmt.Errorf("%w: a bbolt file of another program (it keeps no list of free pages)", journal.ErrForeign)
		}
		p := newPages(f, size, m)
		v.Pages, v.txid, readable = p.count, m.txid, true
		if p.count < m.pgid {
			v.fault(damaged("the file has %d bytes and should have at least %d pages of %d: it was cut off", size, m.pgid, m.pageSize))
		}
		var h header
		switch err := h.readPages(p); {
		case errors.Is(err, journal.ErrDamaged):
			v.fault(err)
		case err != nil:
			return err
		default:
			v.schema, v.repaired = h.schema, h.repaired
		}
		p.account(m.freelist, v.fault)
		return nil
	})
	return readable, err
}

// logs goes through the runs.
func (v *verification) logs(ctx context.Context) error {
	for after, more := "", true; more; {
		var runs []string
		err := v.src.pages(ctx, func(p *pages) (err error) {
			runs, more = p.runs(after, batchEntries, v.fault)
			return nil
		})
		if err != nil {
			return err
		}
		for _, run := range runs {
			if err := v.run(ctx, run); err != nil {
				return err
			}
			after = run
		}
	}
	return nil
}

// run reports what is wrong with a run, when it still is at a second look.
func (v *verification) run(ctx context.Context, run string) error {
	r := runCheck{verification: v, s: &journal.State{Run: run}}
	if err := r.all(ctx); err != nil {
		return err
	}
	if len(r.faults) > 0 {
		r = runCheck{verification: v, s: &journal.State{Run: run}}
		if err := r.all(ctx); err != nil {
			return err
		}
		for _, f := range r.faults {
			v.report(f)
			v.partial = true
		}
	}
	if !r.removed {
		v.Runs++
	}
	v.Entries += r.s.Len
	v.progress()
	return nil
}

// each calls fn with every element of a bucket, some at a time.
func (v *verification) each(ctx context.Context, bucket []byte, fn func(p *pages, e element)) error {
	for from, more := []byte(nil), true; more; {
		err := v.src.pages(ctx, func(p *pages) error {
			more = false
			t, err := p.bucket(bucket)
			if err != nil {
				v.missing(bucket, err)
				return nil
			}
			seen, size := 0, 0
			for e, err := range t.from(from) {
				if err != nil {
					v.fault(fmt.Errorf("%s: %w", bucket, err))
					continue
				}
				if seen == 4*batchEntries || size > batchBytes {
					from, more = e.key, true
					return nil
				}
				fn(p, e)
				seen, size = seen+1, size+len(e.value)
			}
			return nil
		})
		if err != nil {
			return err
		}
		v.progress()
	}
	return nil
}

// missing reports a bucket that is not there, unless it is one of those that came with a schema that the file does not have yet.
func (v *verification) missing(bucket []byte, err error) {
	if errors.Is(err, journal.ErrNotFound) {
		for _, name := range bucketsOf(v.schema) {
			if bytes.Equal(name, bucket) {
				v.fault(damaged("its %s are missing", bucket))
			}
		}
		return
	}
	v.fault(fmt.Errorf("%s: %w", bucket, err))
}

// gone looks at what is kept of removed runs.
func (v *verification) gone(ctx context.Context) error {
	return v.each(ctx, goneBucket, func(p *pages, e element) {
		v.Removed++
		if _, err := decodeGone(e.key, e.value); err != nil {
			v.fault(err)
			return
		}
		t, err := p.bucket(statesBucket)
		if err != nil {
			return // which was said
		}
		if _, err := t.get(e.key); err == nil {
			v.report(journal.Fault{Run: string(e.key), Err: damaged("it has a log, and was removed")})
		}
	})
}

// unsettled looks for runs that are listed as unsettled and are not there. That those which are there are listed rightly is looked at with
// their logs.
func (v *verification) unsettled(ctx context.Context) error {
	return v.each(ctx, unsettledBucket, func(p *pages, e element) {
		t, err := p.bucket(statesBucket)
		if err != nil {
			return
		}
		if _, err := t.get(e.key); errors.Is(err, journal.ErrNotFound) {
			v.report(journal.Fault{Run: string(e.key), Err: damaged("it is listed as unsettled, and there is no log of it")})
		}
	})
}

// values looks at the state of tools. That it has what the logs have written is looked at with them; what no log has written can be told
// when all are there and nothing was written meanwhile.
func (v *verification) values(ctx context.Context) error {
	var untold []error
	err := v.each(ctx, kvBucket, func(_ *pages, e element) {
		v.Values++
		space, key, ok := splitKey(e.key)
		if !ok {
			v.fault(damaged("the state of tools has a key of unknown form, %.80q", e.key))
			return
		}
		if _, err := decodeValue(e.key, e.value); err != nil {
			v.fault(fmt.Errorf("key %.80q of %.80q: %w", key, space, err))
			return
		}
		if _, ok := v.told[maphash.Bytes(v.seed, e.key)]; !ok && len(untold) < batchEntries {
			untold = append(untold, damaged("key %.80q of %.80q has a value that no log made", key, space))
		}
	})
	if err != nil || len(untold) == 0 || v.Removed > 0 || v.repaired || v.partial {
		return err
	}
	return v.src.look(ctx, func(f *os.File, size int64) error {
		if m, _, err := bestMeta(f, size); err == nil && m.txid == v.txid && !v.src.moved {
			for _, err := range untold {
				v.fault(err)
			}
		}
		return nil
	})
}

// orphans counts the blobs that no entry names.
func (v *verification) orphans(ctx context.Context) error {
	return v.blobs.files(func(d journal.Digest, path string) error {
		if _, ok := v.seen[d]; !ok {
			v.Orphans++
		}
		return ctx.Err()
	})
}
