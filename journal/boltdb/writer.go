package boltdb

import (
	"fmt"
	"sync"

	"github.com/wrun-dev/wrun/journal"
)

// maxBatch is how many appends share a commit at most.
const maxBatch = 256

// writer lets appends share commits and never waits for company: the first to come leads, takes whatever else has come
// by the time its turn is there, commits, and hands the lead to the first of those who came meanwhile.
type writer struct {
	mu    sync.Mutex // guards what follows
	queue []*request // the leader-to-be is the first
	led   bool       // somebody leads
}

// append waits until r has been part of a batch that commit was called with, and returns r.err.
func (w *writer) append(r *request, commit func([]*request)) error {
	r.turn = make(chan bool, 1)
	w.mu.Lock()
	w.queue = append(w.queue, r)
	lead := !w.led
	w.led = true
	w.mu.Unlock()
	if lead || <-r.turn {
		w.lead(commit)
	}
	return r.err
}

func (w *writer) lead(commit func([]*request)) {
	w.mu.Lock()
	n := min(len(w.queue), maxBatch)
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	w.mu.Unlock()

	commit(batch)

	w.mu.Lock()
	if w.led = len(w.queue) > 0; w.led {
		w.queue[0].turn <- true
	}
	w.mu.Unlock()
	for _, r := range batch[1:] { // the leader is the first
		r.turn <- false
	}
}

// waiting returns how many appends wait for a batch to begin.
func (w *writer) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

// reserved is what a commit may need beyond its entries, in bytes: bbolt writes every page anew that it changes.
const reserved = 1 << 20

// ready says whether a batch may begin: the file is still the journal's, and there is room. Nothing was written yet.
func (j *Journal) ready(batch []*request) error {
	f := j.gate.open()
	if err := f.here(j.path); err != nil {
		j.gate.fail(err)
		return fmt.Errorf("%w: %w", journal.ErrUnusable, err)
	}
	need := uint64(reserved)
	for _, r := range batch {
		for i := range r.entries {
			need += 2 * uint64(len(r.entries[i].Body)+512)
			for _, w := range r.entries[i].Writes {
				need += 2 * uint64(len(w.Value)+len(w.Key)+len(w.Space))
			}
		}
	}
	if left, known := space(f.f); known && left < need {
		return fmt.Errorf("%w: %d bytes are left, up to %d may be needed", journal.ErrNoSpace, left, need)
	}
	return nil
}
