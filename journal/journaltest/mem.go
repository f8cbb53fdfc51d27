package journaltest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/journal"
)

// Mem is a handle on a journal in memory. Several handles on one journal stand for several processes. All methods may
// be called concurrently. What is appended is kept encoded, so that a test on Mem exercises the codec too.
type Mem struct {
	*shared
	owner string

	// Guarded by shared.mu: closed is nil while the handle may be used, holds is what it holds of shared.held.
	closed error
	holds  int64
}

// shared is the journal itself.
type shared struct {
	id journal.Digest

	mu      sync.Mutex // guards what follows
	logs    map[string]*memLog
	kv      map[memKey]memValue
	blobs   map[journal.Digest][]byte
	owners  map[string]journal.Liveness
	commits int
	limited bool  // left is counted
	left    int64 // bytes that may still be written, held ones included
	held    int64 // bytes of those that are held
}

type memLog struct {
	state   []byte // encoded
	records [][]byte
	hashes  []journal.Digest // hashes[i] is what records[i] follows
	keys    map[string]bool
}

type memKey struct{ space, key string }

type memValue struct {
	value   []byte
	version uint64
	deleted bool
}

var _ Store = (*Mem)(nil)

// NewMem returns a handle on a new, empty journal.
func NewMem() *Mem {
	s := &shared{
		logs: map[string]*memLog{}, kv: map[memKey]memValue{}, blobs: map[journal.Digest][]byte{},
		owners: map[string]journal.Liveness{},
	}
	rand.Read(s.id[:])
	return (&Mem{shared: s}).Handle()
}

// Handle returns another handle on the same journal, with an owner of its own.
func (m *Mem) Handle() *Mem {
	var id [16]byte
	rand.Read(id[:])
	h := &Mem{shared: m.shared, owner: hex.EncodeToString(id[:])}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners[h.owner] = journal.Alive
	return h
}

// Kill ends the handle as the death of its process would: its owner is dead, and every call on it fails with
// ErrUnusable.
func (m *Mem) Kill() { m.end(fmt.Errorf("%w: its process was killed", journal.ErrUnusable)) }

// Close ends the use of the handle. The journal stays as long as another handle, or a test, holds it.
func (m *Mem) Close() error {
	m.end(fmt.Errorf("%w: it is closed", journal.ErrUnusable))
	return nil
}

func (m *Mem) end(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed == nil {
		m.closed = why
		m.owners[m.owner] = journal.Dead
		m.held, m.holds = m.held-m.holds, 0
	}
}

// Commits returns how many appends were committed through all handles: what they would have cost on a disk.
func (m *Mem) Commits() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commits
}

// ID returns the journal's id.
func (m *Mem) ID() (journal.Digest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id, m.closed
}

// Append adds entries to a log.
func (m *Mem) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return m.closed
	}
	l := m.logs[run]
	if l == nil {
		l = &memLog{keys: map[string]bool{}}
	}
	s, err := l.fold(run)
	if err != nil {
		return err
	}
	x, err := journal.Extend(s, at, entries, func(step journal.Step, phase uint8) (bool, error) {
		return l.keys[memPhase(step, phase)], nil
	})
	if err != nil {
		return err
	}
	for _, e := range x.Entries {
		for _, d := range e.Names() {
			if _, ok := m.blobs[d]; !ok {
				return fmt.Errorf("%w: an entry would name blob %s, which is not there", journal.ErrDamaged, d.Short())
			}
		}
	}
	changed, err := m.stage(x.Entries)
	if err != nil {
		return err
	}
	if err := m.take(x); err != nil {
		return err
	}
	state, err := journal.MarshalState(x.State)
	if err != nil {
		return err
	}
	m.logs[run], l.state = l, state
	for i, e := range x.Entries {
		l.add(e, x.Records[i], s, run)
		entries[i].Schema, entries[i].Seq, entries[i].Hash = e.Schema, e.Seq, e.Hash
	}
	for k, v := range changed {
		m.kv[k] = v
	}
	m.commits++
	return nil
}

func (l *memLog) fold(run string) (*journal.State, error) {
	if l.state == nil {
		return &journal.State{Run: run}, nil
	}
	return journal.UnmarshalState(l.state)
}

func (l *memLog) add(e journal.Entry, record []byte, s *journal.State, run string) {
	switch {
	case len(l.hashes) == 0:
		l.hashes = append(l.hashes, journal.ChainStart(run))
	case e.Seq == s.Len:
		l.hashes = append(l.hashes, s.Head)
	default:
		var before journal.Digest
		copy(before[:], l.records[e.Seq-1])
		l.hashes = append(l.hashes, before)
	}
	l.records = append(l.records, slices.Clone(record))
	if e.Phase() != 0 {
		l.keys[memPhase(e.Step, e.Phase())] = true
	}
}

func memPhase(step journal.Step, phase uint8) string { return fmt.Sprintf("%s %d", step, phase) }

// stage returns what the entries' writes make of the keys they touch.
func (m *Mem) stage(entries []journal.Entry) (map[memKey]memValue, error) {
	changed := map[memKey]memValue{}
	for _, e := range entries {
		for _, w := range e.Writes {
			k := memKey{w.Space, w.Key}
			v, ok := changed[k]
			if !ok {
				v, ok = m.kv[k]
			}
			version, err := w.Next(v.version, ok && !v.deleted)
			if err != nil {
				return nil, err
			}
			changed[k] = memValue{value: slices.Clone(w.Value), version: version, deleted: w.Delete}
		}
	}
	return changed, nil
}

// Read yields a log's entries.
func (m *Mem) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for i := from; ; i++ {
			e, ok, err := m.entry(ctx, run, i)
			if err != nil {
				yield(journal.Entry{}, err)
				return
			}
			if !ok || !yield(e, nil) {
				return
			}
		}
	}
}

func (m *Mem) entry(ctx context.Context, run string, i uint64) (journal.Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return journal.Entry{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return journal.Entry{}, false, m.closed
	}
	l := m.logs[run]
	if l == nil {
		return journal.Entry{}, false, fmt.Errorf("run %.140q: %w", run, journal.ErrNotFound)
	}
	if i >= uint64(len(l.records)) {
		return journal.Entry{}, false, nil
	}
	e, err := journal.Unmarshal(l.records[i], l.hashes[i])
	return e, true, err
}

// List yields the folded logs that match q.
func (m *Mem) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return func(yield func(journal.State, error) bool) {
		for {
			s, err := m.next(ctx, q)
			if err != nil {
				yield(journal.State{}, err)
				return
			}
			if s == nil || !yield(*s, nil) {
				return
			}
			q.After = s.Run
		}
	}
}

// next returns the first state that matches, or nil.
func (m *Mem) next(ctx context.Context, q journal.Query) (*journal.State, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return nil, m.closed
	}
	var first *journal.State
	for run, l := range m.logs {
		if run <= q.After || first != nil && run > first.Run {
			continue
		}
		s, err := l.fold(run)
		if err != nil {
			return nil, err
		}
		if q.Match(s) {
			first = s
		}
	}
	return first, nil
}
