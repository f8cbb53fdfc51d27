package boltdb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/journal"
)

// unfolded is a run that is not complete as the tree has it, or may not be.
type unfolded struct {
	s      *journal.State
	listed *journal.State
	of     uint64 // how long it is known to have been
	err    error
	// pieces are candidates for what comes next, by position, as salvage found them.
	pieces map[uint64][][]byte
	// wrote says that it has changed tool state, imported that this was the state of another journal, elsewhere that what says so
	// is not among what could be kept.
	wrote, imported, elsewhere bool
}

// logs copies what the tree has of the runs, and keeps in mind what is missing.
func (r *repairer) logs() error {
	if !r.tree {
		return nil
	}
	for after, more := "", true; more; {
		var runs []string
		runs, more = r.p.runs(after, batchEntries, func(error) { r.doubtful = true })
		for _, run := range runs {
			if err := r.log(run); err != nil {
				return err
			}
			after = run
		}
	}
	return nil
}

func (r *repairer) log(run string) error {
	if r.tx.Bucket(goneBucket).Get([]byte(run)) != nil {
		return nil // leftovers of a removal
	}
	u := &unfolded{s: &journal.State{Run: run}}
	for u.err == nil {
		g := r.p.gather(run, u.s.Len)
		if g.importing && g.state == nil {
			r.importing[run] = true
			return nil
		}
		u.listed, u.err = g.state, g.broken
		for _, record := range g.records {
			if err := r.keep(u, record); errors.Is(err, errUnfit) {
				u.err = err
				break
			} else if err != nil {
				return err
			}
		}
		if g.end {
			break
		}
	}
	u.of = max(u.s.Len, r.p.lengthOf(run, u.s.Len))
	if u.listed != nil {
		u.of = max(u.of, u.listed.Len)
	}
	if u.err == nil && u.s.Len < u.of {
		u.err = damaged("entry %d is missing", u.s.Len)
	}
	if u.err == nil && !r.older {
		return r.finish(u)
	}
	r.incomplete = append(r.incomplete, u)
	return nil
}

// errUnfit: a record is not the next one of its log.
var errUnfit = errors.New("it is not the next entry of the log")

// keep adds a record to the copy if it is the next one. Errors: errUnfit.
func (r *repairer) keep(u *unfolded, record []byte) error {
	s := u.s
	e, err := s.Refold(record, hasPhase(r.tx, s.Run))
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfit, err)
	}
	u.wrote = u.wrote || len(e.Writes) > 0
	u.imported = u.imported || e.Kind == journal.Record && e.Name == journal.RecordImported
	return r.enter(s.Run, e, record)
}

// enter puts an entry, and what follows from it, into the copy.
func (r *repairer) enter(run string, e journal.Entry, record []byte) error {
	if err := putEntry(r.tx, run, e, record); err != nil {
		return err
	}
	for _, d := range e.Names() {
		if _, ok := r.named[d]; !ok {
			r.named[d] = place{run, e.Seq}
		}
	}
	r.Entries++
	return r.room(len(record))
}

// written goes through what a run that was kept has written.
func (r *repairer) written(run string, n uint64) error {
	before := journal.ChainStart(run)
	for seq := range n {
		e, err := decode(r.tx.Bucket(entriesBucket).Get(entryKey(run, seq)), before)
		if err != nil {
			return err
		}
		before = e.Hash
		for _, w := range e.Writes {
			if err := errors.Join(r.wrote(w), r.room(len(w.Value))); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrote sees to it that a key has what a log says, unless it was written since.
func (r *repairer) wrote(w journal.Write) error {
	k := kvKey(w.Space, w.Key)
	v, err := get(r.tx, k)
	if err != nil {
		return err
	}
	version := w.Expect + 1
	same := v.lives == !w.Delete && bytes.Equal(v.bytes, w.Value)
	if v.version > version || v.version == version && same {
		return nil
	}
	r.derived[string(k)] = true
	return putValue(r.tx, k, value{version: version, lives: !w.Delete, bytes: w.Value})
}

// stray looks for what the tree does not lead to any more.
func (r *repairer) stray() error {
	if !r.doubtful && len(r.incomplete) == 0 {
		return nil
	}
	open := map[string]*unfolded{}
	for _, u := range r.incomplete {
		u.pieces = map[uint64][][]byte{}
		open[u.s.Run] = u
	}
	err := r.p.salvage(func(x piece) error {
		if run, seq, ok := entryOf(x.key); ok {
			r.strayEntry(open, run, seq, x.value)
			return nil
		}
		if !r.doubtful {
			return nil
		}
		if _, _, ok := splitKey(x.key); ok {
			return r.strayValue(x)
		}
		if g, err := decodeGone(x.key, x.value); err == nil && journal.ValidateRun(g.Run) == nil && r.tx.Bucket(statesBucket).Get(x.key) == nil && open[g.Run] == nil {
			return putGone(r.tx, g)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.incomplete = r.incomplete[:0]
	for _, u := range open {
		r.incomplete = append(r.incomplete, u)
	}
	slices.SortFunc(r.incomplete, func(a, b *unfolded) int { return cmp.Compare(a.s.Run, b.s.Run) })
	return nil
}

// strayEntry keeps an entry in mind that may be one that is missing.
func (r *repairer) strayEntry(open map[string]*unfolded, run string, seq uint64, record []byte) {
	u := open[run]
	if u == nil {
		if !r.doubtful || r.importing[run] || r.tx.Bucket(statesBucket).Get([]byte(run)) != nil || r.tx.Bucket(goneBucket).Get([]byte(run)) != nil {
			return // it is complete, or was removed
		}
		u = &unfolded{s: &journal.State{Run: run}, err: damaged("it is missing"), pieces: map[uint64][][]byte{}}
		open[run] = u
	}
	if seq < u.s.Len {
		return
	}
	for _, known := range u.pieces[seq] {
		if bytes.Equal(known, record) {
			return
		}
	}
	if len(u.pieces[seq]) < 64 {
		u.pieces[seq] = append(u.pieces[seq], record)
	}
}

// strayValue keeps a value of tool state of which the tree has none.
func (r *repairer) strayValue(x piece) error {
	v, err := decodeValue(x.key, x.value)
	if err != nil {
		return nil
	}
	now, err := get(r.tx, x.key)
	if err != nil || now.version != 0 && !r.derived[string(x.key)] || now.version >= v.version {
		return err
	}
	r.derived[string(x.key)] = true
	return errors.Join(r.tx.Bucket(kvBucket).Put(x.key, x.value), r.room(len(x.value)))
}

// close adds what was found to the runs that are not complete, and ends them.
func (r *repairer) close() error {
	for _, u := range r.incomplete {
		if r.tx.Bucket(goneBucket).Get([]byte(u.s.Run)) != nil {
			continue // of which salvage came by after its entries
		}
		for {
			u.of = max(u.of, longest(u.pieces))
			record := u.next()
			if record == nil {
				break
			}
			if err := r.keep(u, record); errors.Is(err, errUnfit) {
				u.err = err
				break
			} else if err != nil {
				return err
			}
			r.Found++
		}
		u.elsewhere = r.elsewhere(u)
		u.pieces = nil
		if err := r.finish(u); err != nil {
			return err
		}
	}
	for k := range r.derived {
		space, key, _ := splitKey([]byte(k))
		r.Unclear = append(r.Unclear, Key{space, key})
	}
	slices.SortFunc(r.Unclear, func(a, b Key) int { return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Key, b.Key)) })
	return nil
}

// elsewhere says whether a run was imported, as far as what is left behind what was kept of it shows.
func (r *repairer) elsewhere(u *unfolded) bool {
	if u.imported || u.listed != nil && u.listed.Imported {
		return !u.imported
	}
	for _, records := range u.pieces {
		if slices.ContainsFunc(records, journal.SaysImported) {
			return true
		}
	}
	if !r.tree {
		return false
	}
	t, err := r.p.bucket(entriesBucket)
	if err != nil {
		return false
	}
	prefix := append([]byte(u.s.Run), 0)
	for e, err := range t.from(entryKey(u.s.Run, u.s.Len)) {
		switch {
		case bytes.Compare(e.key, behind(u.s.Run)) >= 0:
			return false
		case err == nil && bytes.HasPrefix(e.key, prefix) && journal.SaysImported(e.value):
			return true
		}
	}
	return false
}

func longest(pieces map[uint64][][]byte) (n uint64) {
	for seq := range pieces {
		n = max(n, seq+1)
	}
	return n
}

// next returns the record that comes next. Of two that fit, of which one can only be of a commit that did not come about, it takes the one
// that the folded log ends with, or that goes on.
func (u *unfolded) next() []byte {
	var fit [][]byte
	for _, record := range u.pieces[u.s.Len] {
		if _, err := u.s.Clone().Refold(record, nil); err == nil {
			fit = append(fit, record)
		}
	}
	for _, record := range fit {
		s := u.s.Clone()
		if _, err := s.Refold(record, nil); err != nil {
			continue
		}
		if u.listed != nil && s.Len == u.listed.Len && s.Head == u.listed.Head {
			return record
		}
		for _, after := range u.pieces[s.Len] {
			if _, err := journal.Unmarshal(after, s.Head); err == nil {
				return record
			}
		}
	}
	if len(fit) > 0 {
		return fit[0]
	}
	return nil
}

// finish ends a run in the copy: it gets its folded log, and where it is not finished an entry that says that it may be older than the
// world.
func (r *repairer) finish(u *unfolded) error {
	s := u.s
	if s.Len < u.of || s.Len == 0 {
		if u.err == nil {
			u.err = damaged("entry %d is missing", s.Len)
		}
		r.Dropped = append(r.Dropped, Dropped{s.Run, s.Len, u.of, u.err})
	}
	if s.Len == 0 {
		g := &journal.Removed{Run: s.Run, At: r.opts.Now().UnixNano(), Len: u.of, Lost: true}
		if u.listed != nil {
			g.Ended, g.Outcome, g.Len, g.Head = u.listed.Time, u.listed.Outcome, u.listed.Len, u.listed.Head
		}
		return putGone(r.tx, g)
	}
	if u.wrote && !u.imported && !u.elsewhere {
		if err := r.written(s.Run, s.Len); err != nil {
			return err
		}
	}
	if more := r.said(u); len(more) > 0 {
		x, err := journal.Extend(s, s.Len, more, noPhase)
		if err != nil {
			return err
		}
		for i, e := range x.Entries {
			if err := r.enter(s.Run, e, x.Records[i]); err != nil {
				return err
			}
		}
		s = x.State
	}
	return errors.Join(putState(r.tx, s), r.room(1024))
}

// said returns what is appended to a run that was kept: that it may be older than the world where it is not finished, and that it was
// imported, since it would be driven in two places otherwise.
func (r *repairer) said(u *unfolded) (more []journal.Entry) {
	at := max(r.opts.Now().UnixNano(), u.s.Time)
	if !u.s.Finished {
		r.Restored++
		more = append(more, journal.Entry{Kind: journal.Restored, Time: at, By: r.opts.By, Note: fmt.Sprintf("repaired: %d of %d entries were kept", u.s.Len, u.of)})
	}
	if u.elsewhere {
		more = append(more, journal.Entry{Kind: journal.Record, Name: journal.RecordImported, Time: at, By: r.opts.By, Note: "repaired: what says so was not kept"})
	}
	return more
}

// lengthOf returns how long a log is known to have been by the entries behind a position.
func (p *pages) lengthOf(run string, from uint64) (n uint64) {
	t, err := p.bucket(entriesBucket)
	if err != nil {
		return 0
	}
	for e, err := range t.from(entryKey(run, from)) {
		if err != nil {
			if bytes.Compare(e.key, behind(run)) >= 0 {
				return n
			}
			continue
		}
		of, seq, ok := entryOf(e.key)
		if !bytes.HasPrefix(e.key, append([]byte(run), 0)) {
			return n
		}
		if ok && of == run && seq < 1<<48 {
			n = seq + 1
		}
	}
	return n
}
