package boltdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/journal"
)

// errAhead: the next entry that is there is not the next one of the log.
var errAhead = fmt.Errorf("%w: an entry is missing", journal.ErrDamaged)

// gathered is a piece of a log as the file has it.
type gathered struct {
	records [][]byte // from the position asked for on
	end     bool     // the log ends with them
	broken  error    // why they end before
	// What lies beside the log; all nil when there is nothing.
	state     *journal.State
	stateErr  error
	gone      *journal.Removed
	unsettled bool
	importing bool // it is being imported, or its import was cut off: it does not count yet
}

// gather reads some of a log's records, and what lies beside it. It checks nothing of the records.
func (p *pages) gather(run string, from uint64) (g gathered) {
	g.state, g.stateErr = p.state(run)
	if t, err := p.bucket(goneBucket); err == nil {
		if e, err := t.get([]byte(run)); err == nil {
			g.gone, _ = decodeGone(e.key, e.value) // one that is damaged is reported with the others
		}
	}
	if t, err := p.bucket(unsettledBucket); err == nil {
		_, err := t.get([]byte(run))
		g.unsettled = err == nil
	}
	if t, err := p.bucket(importsBucket); err == nil {
		_, err := t.get([]byte(run))
		g.importing = err == nil
	}
	t, err := p.bucket(entriesBucket)
	if err != nil {
		g.broken = err
		return g
	}
	prefix, size := append([]byte(run), 0), 0
	for e, err := range t.from(entryKey(run, from)) {
		switch {
		case err != nil && bytes.Compare(e.key, behind(run)) < 0:
			g.broken = err
			return g
		case err != nil || !bytes.HasPrefix(e.key, prefix):
			g.end = true
			return g
		case !bytes.Equal(e.key, entryKey(run, from+uint64(len(g.records)))):
			g.broken = errAhead
			return g
		case len(g.records) == 4*batchEntries || size > batchBytes:
			return g // enough for this time
		}
		g.records, size = append(g.records, e.value), size+len(e.value)
	}
	g.end = true
	return g
}

// behind is a key behind all those of a run, and in front of those of the next.
func behind(run string) []byte { return []byte(run + "\x01") }

// state reads a folded log, nil when there is none.
func (p *pages) state(run string) (*journal.State, error) {
	t, err := p.bucket(statesBucket)
	if err != nil {
		return nil, err
	}
	e, err := t.get([]byte(run))
	if errors.Is(err, journal.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its folded log: %w", err)
	}
	return decodeState(e.key, e.value)
}

// runs returns some runs behind one of which the file has anything: a folded log, entries or keys; and whether there may be more. What
// cannot be read, or names no run, is said to fault.
func (p *pages) runs(after string, limit int, fault func(error)) (runs []string, more bool) {
	type list struct {
		name []byte
		t    tree
		next string // "" when there are no more
	}
	var lists []*list
	advance := func(l *list, after string) {
		from := behind(after)
		if after == "" {
			from = nil
		}
		l.next = ""
		for e, err := range l.t.from(from) {
			if err != nil {
				fault(fmt.Errorf("%s: %w", l.name, err))
				continue
			}
			run, _, _ := strings.Cut(string(e.key), "\x00")
			if run <= after || journal.ValidateRun(run) != nil {
				fault(damaged("%s: key %.80q names no run", l.name, e.key))
				continue
			}
			l.next = run
			return
		}
	}
	for _, name := range [][]byte{statesBucket, entriesBucket, keysBucket} {
		t, err := p.bucket(name)
		if err != nil {
			if errors.Is(err, journal.ErrNotFound) {
				err = damaged("its %s are missing", name)
			}
			fault(err)
			continue
		}
		l := &list{name: name, t: t}
		advance(l, after)
		lists = append(lists, l)
	}
	for {
		least := ""
		for _, l := range lists {
			if l.next != "" && (least == "" || l.next < least) {
				least = l.next
			}
		}
		if least == "" {
			return runs, false
		}
		if len(runs) == limit {
			return runs, true
		}
		runs = append(runs, least)
		for _, l := range lists {
			if l.next == least {
				advance(l, least)
			}
		}
	}
}

// readPages fills in the header from pages. Errors: those of read.
func (h *header) readPages(p *pages) error {
	has := func(name []byte) bool {
		_, err := p.top().get(name)
		return err == nil
	}
	t, err := p.bucket(headerBucket)
	if errors.Is(err, journal.ErrNotFound) {
		return unmarked(has)
	}
	if err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	fields := map[string][]byte{}
	for e, err := range t.from(nil) {
		if err != nil {
			return fmt.Errorf("its header: %w", err)
		}
		fields[string(e.key)] = e.value
	}
	get := func(key []byte) []byte { return fields[string(key)] }
	if !marked(get) {
		return unmarked(has)
	}
	return h.parse(get)
}

// entryOf takes apart what entryKey made.
func entryOf(k []byte) (run string, seq uint64, ok bool) {
	i := len(k) - 9
	if i < 1 || k[i] != 0 || journal.ValidateRun(string(k[:i])) != nil {
		return "", 0, false
	}
	return string(k[:i]), binary.BigEndian.Uint64(k[i+1:]), true
}
