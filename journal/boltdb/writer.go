package boltdb

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

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

// begins says whether a request lets something begin whose outcome will need space. Everything else is an outcome, or says
// something of one, and may use what is held for those.
func (r *request) begins() bool {
	return slices.ContainsFunc(r.entries, func(e journal.Entry) bool {
		return e.Kind == journal.Created || e.Kind == journal.Claimed || e.Kind == journal.Intent
	})
}

// need is what a request may take on the disk, in bytes.
func (r *request) need() (n uint64) {
	for i := range r.entries {
		n += 2 * uint64(len(r.entries[i].Body)+512)
		for _, w := range r.entries[i].Writes {
			n += 2 * uint64(len(w.Value)+len(w.Key)+len(w.Space))
		}
	}
	return n
}

// ready says whether a batch may begin: the file is still the journal's. Requests that begin something are refused where there is
// not plenty of room; for the others it is made, as far as the handle holds some. Nothing was written yet.
func (j *Journal) ready(db *bbolt.DB, batch []*request) error {
	f, size, err := j.here()
	if err != nil {
		return err
	}
	need := uint64(reserved)
	for _, r := range batch {
		need += r.need()
	}
	full, short := j.full(db, f, size, need)
	if full != nil {
		refuseBeginnings(batch, full)
	}
	if short {
		j.room.give(true)
	}
	return nil
}

// full says why nothing that needs so many bytes may begin, nil when it may, and whether they are short even without what is held for
// what has begun.
func (j *Journal) full(db *bbolt.DB, f *file, size int64, need uint64) (full error, short bool) {
	left, known := space(f.f)
	begin := need + j.room.promised()
	if known && left < begin && j.sweepRooms() {
		left, _ = space(f.f)
	}
	switch {
	case known && left < begin:
		full = &errRoom{left, begin}
	case j.limit < math.MaxInt64 && grown(db, size, need) > j.limit:
		full = fmt.Errorf("%w: the journal may grow to %d bytes, and files of this process to %d (ulimit -f)",
			journal.ErrNoSpace, grown(db, size, need), j.limit)
	}
	return full, known && left < need
}

// refuseBeginnings answers the requests of a batch that begin something, and says whether there were any.
func refuseBeginnings(batch []*request, err error) (any bool) {
	for _, r := range batch {
		if r.err == nil && r.begins() {
			r.err, any = err, true
		}
	}
	return any
}

// grown is how long bbolt may make a file of size bytes for need bytes more: it doubles small ones, and adds AllocSize to others.
func grown(db *bbolt.DB, size int64, need uint64) int64 {
	used := int64(0)
	if db.View(func(tx *bbolt.Tx) error { used = tx.Size(); return nil }) != nil {
		return size
	}
	if size < used+int64(need) {
		size = max(size, initialMap)
	}
	for size < used+int64(need) {
		if size <= int64(db.AllocSize) {
			size *= 2
		} else {
			size += int64(db.AllocSize)
		}
	}
	return size
}
