package boltdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/wrun-dev/wrun/journal"
)

// runCheck holds one run against everything that the file has of it.
type runCheck struct {
	*verification
	s       *journal.State
	phased  uint64 // how many entries have a phase
	faults  []journal.Fault
	removed bool // it has no log, or not yet
	noKeys  bool // its keys cannot be read, which was said
	// What it wrote counts once it is known that the run was not imported: then it is of the state of another journal.
	imported    bool
	updates     []update
	valueFaults []journal.Fault
	explained   []uint64
}

// update is a write that replaced a version of a key.
type update struct {
	at, by uint64 // hashes of the key with the version, and of the entry
	seq    uint64
	write  journal.Write
}

func (r *runCheck) wrong(seq uint64, err error) {
	r.faults = append(r.faults, journal.Fault{Run: r.s.Run, Seq: seq, Err: err})
}

func (r *runCheck) all(ctx context.Context) error {
	if err := r.log(ctx); err != nil || r.imported || r.removed {
		return err
	}
	r.faults = append(r.faults, r.valueFaults...)
	for _, u := range r.updates {
		// Two writes that replaced the same version, in whichever runs: one of them undid the other.
		if before, ok := r.replaced[u.at]; ok && before != u.by {
			r.wrong(u.seq, damaged("version %d of key %.80q of %.80q was replaced twice", u.write.Expect, u.write.Key, u.write.Space))
		}
		r.replaced[u.at] = u.by
	}
	for _, k := range r.explained {
		r.told[k] = struct{}{}
	}
	return nil
}

func (r *runCheck) log(ctx context.Context) error {
	for {
		var g gathered
		err := r.src.pages(ctx, func(p *pages) error {
			g = p.gather(r.s.Run, r.s.Len)
			return nil
		})
		if err != nil {
			return err
		}
		entries := r.refold(g.records)
		if err := r.beside(ctx, entries); err != nil {
			return err
		}
		if err := r.named(ctx, entries); err != nil {
			return err
		}
		switch {
		case len(entries) < len(g.records):
			return nil // the first broken entry ends the check
		case g.broken != nil && !errors.Is(g.broken, errAhead):
			r.wrong(r.s.Len, g.broken)
			return nil
		case g.end || g.broken != nil:
			return r.close(ctx, g)
		}
	}
}

// refold returns the entries that fit.
func (r *runCheck) refold(records [][]byte) (entries []journal.Entry) {
	for _, record := range records {
		e, err := r.s.Refold(record, nil) // key looks for the others of its step
		if err != nil {
			r.wrong(r.s.Len, err)
			return entries
		}
		r.imported = r.imported || e.Kind == journal.Record && e.Name == journal.RecordImported
		entries = append(entries, e)
	}
	return entries
}

// close holds the log as a whole against its folded state and its keys.
func (r *runCheck) close(ctx context.Context, g gathered) error {
	switch {
	case g.gone != nil && g.state == nil:
		r.removed = true
		if !g.gone.Rest && r.s.Len > 0 {
			r.wrong(0, damaged("it was removed, and there are entries of it"))
		}
		return nil
	case g.importing && g.state == nil:
		r.removed, r.faults = true, nil // its blobs come after its entries
		return nil
	case g.stateErr != nil:
		r.wrong(0, g.stateErr)
	case g.importing:
		r.wrong(0, damaged("it has a log, and is marked as one that is being imported"))
	case g.state == nil:
		r.wrong(0, damaged("there are %d entries of it, and no folded log", r.s.Len))
	case g.broken != nil:
		r.wrong(r.s.Len, fmt.Errorf("%w; its folded log says that it has %d", g.broken, g.state.Len))
	case g.state.Len != r.s.Len:
		r.wrong(r.s.Len, damaged("the log has %d entries, its folded log says %d", r.s.Len, g.state.Len))
	default:
		if err := r.s.Same(g.state); err != nil {
			r.wrong(r.s.Len, err)
		}
		if r.schema >= 2 && g.unsettled != r.s.Unsettled() {
			r.wrong(r.s.Len, damaged("whether it is listed as unsettled: %t, and it is: %t", g.unsettled, r.s.Unsettled()))
		}
	}
	return r.keys(ctx)
}

// beside looks for the keys of entries, and for what became of their writes.
func (r *runCheck) beside(ctx context.Context, entries []journal.Entry) error {
	needed := false
	for _, e := range entries {
		needed = needed || e.Phase() != 0 || len(e.Writes) > 0
	}
	if !needed {
		return nil
	}
	return r.src.pages(ctx, func(p *pages) error {
		keys, err := p.bucket(keysBucket)
		if err != nil {
			r.lost(err)
		}
		kv, kvErr := p.bucket(kvBucket)
		for _, e := range entries {
			if e.Phase() != 0 {
				r.phased++
			}
			if !r.noKeys {
				r.key(keys, &e)
			}
			for _, w := range e.Writes {
				if kvErr != nil {
					r.valueFaults = append(r.valueFaults, journal.Fault{Run: r.s.Run, Seq: e.Seq, Err: fmt.Errorf("the state of tools: %w", kvErr)})
					break
				}
				if err := r.value(kv, e.Seq, w); err != nil {
					r.valueFaults = append(r.valueFaults, journal.Fault{Run: r.s.Run, Seq: e.Seq, Err: err})
				}
			}
		}
		return nil
	})
}

// lost notes that keys cannot be read.
func (r *runCheck) lost(err error) {
	if !r.noKeys {
		r.noKeys = true
		r.wrong(r.s.Len, fmt.Errorf("its keys: %w", err))
	}
}

func (r *runCheck) key(keys tree, e *journal.Entry) {
	if e.Phase() != 0 {
		at, err := position(keys, r.s.Run, e.Step, e.Phase())
		switch {
		case errors.Is(err, journal.ErrNotFound):
			r.wrong(e.Seq, damaged("the key of the %s of %s is missing", e.Kind, e.Step))
		case err != nil:
			r.lost(err)
			return
		case at != e.Seq:
			r.wrong(e.Seq, damaged("the key of the %s of %s leads to entry %d", e.Kind, e.Step, at))
		}
	}
	if e.NeedsIntent() {
		at, err := position(keys, r.s.Run, e.Step, uint8(journal.Intent))
		if err == nil && at >= e.Seq || errors.Is(err, journal.ErrNotFound) {
			r.wrong(e.Seq, damaged("the result of %s has no intent", e.Step))
		} else if err != nil {
			r.lost(err)
		}
	}
}

// position finds where the entry of a step and a phase is. Errors: ErrNotFound, ErrDamaged.
func position(keys tree, run string, step journal.Step, phase uint8) (uint64, error) {
	el, err := keys.get(stepKey(run, step, phase))
	if err != nil {
		return 0, err
	}
	if len(el.value) != 8 {
		return 0, damaged("key %.80q has %d bytes", el.key, len(el.value))
	}
	return binary.BigEndian.Uint64(el.value), nil
}

// value holds a write against what is kept of its key, which may have been written since.
func (r *runCheck) value(kv tree, seq uint64, w journal.Write) error {
	k := kvKey(w.Space, w.Key)
	if w.Expect != 0 {
		at := maphash.Bytes(r.seed, binary.BigEndian.AppendUint64(k[:len(k):len(k)], w.Expect))
		r.updates = append(r.updates, update{at, maphash.Bytes(r.seed, entryKey(r.s.Run, seq)), seq, journal.Write{Space: w.Space, Key: w.Key, Expect: w.Expect}})
	}
	el, err := kv.get(k)
	if errors.Is(err, journal.ErrNotFound) {
		return damaged("it wrote key %.80q of %.80q, of which there is no trace", w.Key, w.Space)
	}
	if err != nil {
		return fmt.Errorf("the state of tools: %w", err)
	}
	v, err := decodeValue(k, el.value)
	if err != nil {
		return fmt.Errorf("key %.80q of %.80q: %w", w.Key, w.Space, err)
	}
	if w.Expect >= v.version {
		return damaged("it replaced version %d of key %.80q of %.80q, whose version is %d", w.Expect, w.Key, w.Space, v.version)
	}
	same := v.lives == !w.Delete && bytes.Equal(v.bytes, w.Value)
	if w.Expect == v.version-1 && !same { // with 0 it is the first version
		return damaged("key %.80q of %.80q does not have the value that was written last", w.Key, w.Space)
	}
	if same && (w.Expect == 0 || w.Expect == v.version-1) {
		r.explained = append(r.explained, maphash.Bytes(r.seed, k))
	}
	return nil
}

// keys counts the keys of the run: each entry with a phase has its own, so as many keys are those and no others.
func (r *runCheck) keys(ctx context.Context) error {
	if r.noKeys {
		return nil
	}
	prefix := append([]byte(r.s.Run), 0)
	count, from := uint64(0), prefix
	for more := true; more; {
		err := r.src.pages(ctx, func(p *pages) error {
			more = false
			t, err := p.bucket(keysBucket)
			if err != nil {
				r.lost(err)
				return nil
			}
			seen := 0
			for e, err := range t.from(from) {
				switch {
				case err != nil && bytes.Compare(e.key, behind(r.s.Run)) < 0:
					r.lost(err)
					return nil
				case err != nil || !bytes.HasPrefix(e.key, prefix):
					return nil
				case seen == 16*batchEntries:
					from, more = e.key, true
					return nil
				}
				if seen++; len(e.value) != 8 {
					r.wrong(0, damaged("key %.80q has %d bytes", e.key, len(e.value)))
				} else if binary.BigEndian.Uint64(e.value) < r.s.Len { // others were appended since
					count++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if count != r.phased && !r.noKeys {
		r.wrong(r.s.Len, damaged("it has %d keys of steps, and %d entries that have one", count, r.phased))
	}
	return nil
}

// named reads the blobs that entries name, each once.
func (r *runCheck) named(ctx context.Context, entries []journal.Entry) error {
	for _, e := range entries {
		for _, d := range e.Names() {
			n, err := r.blob(ctx, d)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && d == e.Blob && n != e.Size {
				err = damaged("blob %s has %d bytes, the entry says %d", d.Short(), n, e.Size)
			}
			if err != nil {
				r.wrong(e.Seq, err)
			}
		}
	}
	return nil
}

// blob reads a blob and returns its length.
func (v *verification) blob(ctx context.Context, d journal.Digest) (int64, error) {
	if n, ok := v.seen[d]; ok {
		return n, nil
	}
	v.src.rest()
	f, err := v.blobs.open(d)
	if errors.Is(err, journal.ErrNotFound) {
		return 0, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := io.Copy(io.Discard, &contextReader{ctx, f})
	if err != nil {
		return 0, err
	}
	v.seen[d] = n
	v.Blobs++
	v.BlobBytes += n
	v.progress()
	return n, nil
}
