package interleave

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/wrun-dev/wrun/journal"
)

// store is a journal in memory of one run, as every process sees it. It is guarded by the trial's mu.
type store struct {
	log    log
	owners map[string]journal.Liveness
	backup *log
}

// log is a log as a store keeps it.
type log struct {
	state   *journal.State
	entries []journal.Entry
	records [][]byte
	phases  map[phase]bool
}

type phase struct {
	step  journal.Step
	phase uint8
}

func newStore() *store {
	return &store{log: log{state: &journal.State{Run: runID}, phases: map[phase]bool{}}, owners: map[string]journal.Liveness{}}
}

// append is the one operation, with the real rules.
func (l *log) append(at uint64, entries []journal.Entry) error {
	x, err := journal.Extend(l.state, at, entries, func(step journal.Step, ph uint8) (bool, error) {
		return l.phases[phase{step, ph}], nil
	})
	if err != nil {
		return err
	}
	l.state = x.State
	for i, e := range x.Entries {
		entries[i].Schema, entries[i].Seq, entries[i].Hash = e.Schema, e.Seq, e.Hash
		e.After = journal.Digest{}
		l.entries, l.records = append(l.entries, e), append(l.records, x.Records[i])
		if e.Phase() != 0 {
			l.phases[phase{e.Step, e.Phase()}] = true
		}
	}
	return nil
}

// decoded returns the entries as a reader gets them from the records.
func (l *log) decoded() ([]journal.Entry, error) {
	before := journal.ChainStart(runID)
	var entries []journal.Entry
	for _, record := range l.records {
		e, err := journal.Unmarshal(record, before)
		if err != nil {
			return nil, err
		}
		entries, before = append(entries, e), e.Hash
	}
	return entries, nil
}

func (l *log) clone() *log {
	c := &log{state: l.state.Clone(), entries: slices.Clone(l.entries), records: slices.Clone(l.records), phases: map[phase]bool{}}
	for p := range l.phases {
		c.phases[p] = true
	}
	return c
}

// find returns the entries of a kind of a step, whichever its attempts.
func (l *log) find(kind journal.Kind, step journal.Step) (found []*journal.Entry) {
	for i := range l.entries {
		if e := &l.entries[i]; e.Kind == kind && e.Step.WithoutAttempts() == step.WithoutAttempts() {
			found = append(found, e)
		}
	}
	return found
}

// position returns where the log has its first entry of a kind, or -1.
func (l *log) position(kind journal.Kind) int {
	return slices.IndexFunc(l.entries, func(e journal.Entry) bool { return e.Kind == kind })
}

// handle is a process's way to the store. Whatever it is asked waits for the scheduler first.
type handle struct {
	t     *trial
	p     *process
	known uint64 // so much of the log has this process appended or read
}

// owning is a handle on a store that can tell who lives. Without it a claim is a lease.
type owning struct{ *handle }

var (
	_ journal.Journal  = (*handle)(nil)
	_ journal.Identity = (*handle)(nil)
	_ journal.Owners   = owning{}
)

var errDisk = errors.New("the disk reports an error")

func (h *handle) unusable() error {
	return fmt.Errorf("%w: its process was killed", journal.ErrUnusable)
}

// Append adds entries to the log, or fails in one of the ways in which a store can.
func (h *handle) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	held := !slices.ContainsFunc(entries, func(e journal.Entry) bool { return e.Kind != journal.Late && e.Kind != journal.Record })
	about := string(entries[0].Step)
	switch h.t.pause(h.p, waiter{at: atAppend, kind: entries[len(entries)-1].Kind, step: about, held: held}) {
	case dead:
		return h.unusable()
	case busy:
		return journal.ErrBusy
	case full:
		h.t.spoil(h.p)
		return journal.ErrNoSpace
	case failed:
		h.t.spoil(h.p)
		return errDisk
	}
	if err := h.commit(at, entries); err != nil {
		return err
	}
	switch h.t.pause(h.p, waiter{at: atAppended, kind: entries[len(entries)-1].Kind, step: about, held: held}) {
	case dead:
		return h.unusable()
	case failed:
		h.t.spoil(h.p)
		return errDisk
	}
	return nil
}

func (h *handle) commit(at uint64, entries []journal.Entry) error {
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	if h.p.dead {
		return h.unusable()
	}
	l := &h.t.store.log
	if err := l.append(at, entries); err != nil {
		return err
	}
	h.known = l.state.Len
	h.t.appended(h.p, entries)
	return nil
}

// Read yields the log's entries.
func (h *handle) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		entries, err := h.read(from)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(journal.Entry{}, err)
			return
		}
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (h *handle) read(from uint64) ([]journal.Entry, error) {
	if h.t.pause(h.p, waiter{at: atRead, held: from > 0}) == dead {
		return nil, h.unusable()
	}
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	entries := h.t.store.log.entries
	switch {
	case h.p.dead:
		return nil, h.unusable()
	case len(entries) == 0:
		return nil, fmt.Errorf("run %s: %w", runID, journal.ErrNotFound)
	}
	h.known = uint64(len(entries))
	return entries[min(from, uint64(len(entries))):], nil
}

// List yields the folded log.
func (h *handle) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return func(yield func(journal.State, error) bool) {
		if h.t.pause(h.p, waiter{at: atLook}) == dead {
			yield(journal.State{}, h.unusable())
			return
		}
		h.t.mu.Lock()
		gone, s := h.p.dead, h.t.store.log.state.Clone()
		h.t.mu.Unlock()
		if gone {
			yield(journal.State{}, h.unusable())
		} else if ctx.Err() != nil {
			yield(journal.State{}, context.Cause(ctx))
		} else if s.Len > 0 && q.Match(s) {
			yield(*s, nil)
		}
	}
}

// Close does nothing: processes end in other ways.
func (h *handle) Close() error { return nil }

// ID returns an id that is always the same, so that keys are.
func (h *handle) ID() (journal.Digest, error) { return journal.DigestOf([]byte("explored")), nil }

// Owner returns the process's name and life.
func (h owning) Owner() (string, error) {
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	h.t.store.owners[h.p.name] = journal.Alive
	return h.p.name, nil
}

// Liveness tells whether a process was killed.
func (h owning) Liveness(owner string) (journal.Liveness, error) {
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	return h.t.store.owners[owner], nil
}

// Describe repeats the name.
func (h owning) Describe(owner string) string { return owner }
