package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// appender is the one place of a process that appends to a run it drives. It owns the log's length, the entries that
// wait for the next append, and their order; it folds them ahead of time, so that each is judged when it is added.
type appender struct {
	j      journal.Journal
	run    string
	owner  string
	now    func() time.Time
	ride   time.Duration
	rescue func(step journal.Step, name string, reply []byte)
	unsaid func(journal.Entry) journal.Entry // without values of secrets in what is said with it

	mu         sync.Mutex
	settled    sync.Cond              // mu; broadcast when an append ends
	base       *journal.State         // guarded by mu: the log as committed
	ahead      *journal.State         // guarded by mu: the log with the queue
	history    *journal.History       // guarded by mu: what lookups see
	kept       *kept                  // changed under mu, with history
	queue      []*queued              // guarded by mu, in order
	size       int                    // guarded by mu: bytes in the queue
	committing bool                   // guarded by mu: one append at a time
	first      int                    // guarded by mu: the next append takes so many of the queue alone; 0 for all
	appends    int                    // guarded by mu: those that succeeded
	dead       error                  // guarded by mu: why nothing can be appended any more
	dropped    map[journal.Step]error // guarded by mu: intents that were taken back, and why
	rescued    []*queued              // guarded by mu: replies that could not be recorded
	timer      *time.Timer            // guarded by mu: commits what rides along
	timers     sync.WaitGroup         // timers that were started and have not run
}

// queued is an entry on its way.
type queued struct {
	entry   journal.Entry
	reply   []byte // of an effect that succeeded: what must not be lost
	rejudge bool   // a step waits for it, and can judge it again
	done    bool
	err     error
}

// errMoved tells a step that the log has grown and that its intent has to be judged again from the start.
var errMoved = errors.New("the log has moved: judge again")

const (
	maxQueueBytes   = 256 << 10
	maxQueueEntries = 256
	maxBusyRetries  = 10
)

func newAppender(e *Engine, l *loaded) *appender {
	a := &appender{
		j: e.cfg.Journal, run: l.state.Run, owner: l.state.Owner, now: e.cfg.Now, ride: e.cfg.RideAlong,
		base: l.state, ahead: l.state.Clone(), history: l.history, kept: l.kept, dropped: map[journal.Step]error{},
		unsaid: e.unsaid,
	}
	a.settled.L = &a.mu
	return a
}

// add appends an entry. A durable one is on the disk when add returns; any other rides along with the next append, the
// end of the run or the timer. It returns the entry with the time it was given.
//
// Errors: errMoved for an intent that has to be judged again; journal's own for one that the rules refuse; *BusyError
// and *JournalError when this process cannot append any more.
func (a *appender) add(entry journal.Entry, durable bool) (journal.Entry, error) {
	return a.addReply(entry, nil, durable)
}

// addReply is add for the result of an effect. A reply that cannot be recorded is handed to whoever rescues it.
func (a *appender) addReply(entry journal.Entry, reply []byte, durable bool) (journal.Entry, error) {
	defer a.deliver()
	a.mu.Lock()
	defer a.mu.Unlock()
	q := &queued{reply: reply, rejudge: durable && mayBeOvertaken(entry)}
	if a.dead != nil {
		q.entry = entry
		return entry, a.refuse(q)
	}
	entry.Seq = a.ahead.Len
	entry.Time = max(a.now().UnixNano(), a.ahead.Time)
	entry = a.unsaid(entry)
	entry.Note, entry.By = strings.ToValidUTF8(entry.Note, "\uFFFD"), strings.ToValidUTF8(entry.By, "\uFFFD")
	if entry.Kind != journal.Record && entry.Kind != journal.Late {
		entry.Owner = a.owner
	}
	q.entry = entry
	if err := a.admit(entry); err != nil {
		a.save(q)
		return entry, err
	}
	a.queue = append(a.queue, q)
	a.size += len(entry.Body)
	a.history.Add(entry)
	a.kept.add(entry)
	if !durable && a.size < maxQueueBytes && len(a.queue) < maxQueueEntries {
		a.rideAlong()
		return entry, nil
	}
	a.commitThrough(q)
	return entry, q.err
}

// mayBeOvertaken says whether what others append decides about an entry that was judged before: whether something begins,
// what state is changed, and what becomes of a question, which anyone may answer.
func mayBeOvertaken(e journal.Entry) bool {
	asks := e.Class == uint8(toolabi.Wait) && (e.Kind == journal.Result || e.Kind == journal.Void)
	return e.Kind == journal.Intent || len(e.Writes) > 0 || asks
}

// flush returns when everything added before is on the disk.
func (a *appender) flush() error {
	defer a.deliver()
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 && a.dead == nil {
		a.commitThrough(a.queue[len(a.queue)-1])
	}
	if a.dead == nil {
		for _, why := range a.dropped {
			return why // not everything that was added is there
		}
	}
	return a.dead
}

// close stops the timer and waits for it. The queue must be flushed or given up.
func (a *appender) close() {
	defer a.deliver()
	a.mu.Lock()
	if a.timer != nil && a.timer.Stop() {
		a.timers.Done()
	}
	a.timer = nil
	a.mu.Unlock()
	a.timers.Wait()
}

// rideAlong makes sure that the queue is committed before long.
func (a *appender) rideAlong() {
	if a.timer != nil {
		return
	}
	a.timers.Add(1)
	a.timer = time.AfterFunc(a.ride, func() {
		defer a.timers.Done()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.timer = nil
		if len(a.queue) > 0 && a.dead == nil {
			a.commitThrough(a.queue[len(a.queue)-1])
		}
	})
}

// commitThrough returns when q is committed or refused. The caller holds mu, which is given up meanwhile: whoever comes
// first appends for all that are queued.
func (a *appender) commitThrough(q *queued) {
	for !q.done {
		if a.committing {
			a.settled.Wait()
			continue
		}
		a.commit()
	}
}

// commit appends the queue as it is now. The caller holds mu.
func (a *appender) commit() {
	n := min(len(a.queue), journal.MaxAppend)
	if a.first > 0 {
		n, a.first = min(n, a.first), 0
	}
	batch := slices.Clone(a.queue[:n])
	entries := make([]journal.Entry, len(batch))
	for i, q := range batch {
		entries[i] = q.entry
	}
	entries[0].After = a.base.Head
	at := a.base.Len
	a.committing = true
	a.mu.Unlock()
	err := a.append(at, entries)
	a.mu.Lock()
	a.committing = false
	defer a.settled.Broadcast()
	switch {
	case err == nil:
		a.committed(batch, entries)
	case errors.Is(err, journal.ErrConflict):
		a.reconcile()
	case errors.Is(err, journal.ErrStale):
		a.judgeAgain() // nothing was written; who changes what has changed meanwhile has to ask again
	case errors.Is(err, journal.ErrNoSpace) && outcomes(batch) > 0:
		a.first = outcomes(batch) // what is known is recorded, also where nothing begins any more
	default:
		a.die(&JournalError{Run: a.run, Err: err})
	}
}

// outcomes says how many entries of a batch come before the first that announces something, if one does: they may have space
// where it has none.
func outcomes(batch []*queued) int {
	return max(0, slices.IndexFunc(batch, func(q *queued) bool { return q.entry.Kind == journal.Intent }))
}

// append waits for a journal that is busy, because what is queued may be a result that must not be lost.
func (a *appender) append(at uint64, entries []journal.Entry) error {
	// Once queued, an entry ignores its context.
	return failing(entries, func() error {
		return patiently(func() error { return a.j.Append(context.Background(), a.run, at, entries...) })
	})
}

// failing appends, and fails before or after it where a test wants that. A journal that fails behind its commit is as one that
// fails before it: whoever appended cannot tell.
func failing(entries []journal.Entry, write func() error) error {
	if !failpoint.On {
		return write()
	}
	var before, after []string
	for _, k := range []struct {
		kind          journal.Kind
		before, after string
	}{
		{journal.Intent, failpoint.BeforeIntent, failpoint.AfterIntent},
		{journal.Result, failpoint.BeforeResult, failpoint.AfterResult},
		{journal.Finished, failpoint.FinishedBefore, failpoint.FinishedAfter},
	} {
		if slices.ContainsFunc(entries, func(e journal.Entry) bool { return e.Kind == k.kind }) {
			before, after = append(before, k.before), append(after, k.after)
		}
	}
	if err := hit(before); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	return hit(after)
}

func hit(places []string) error {
	for _, p := range places {
		if err := failpoint.Hit(p); err != nil {
			return fmt.Errorf("%w: %w", journal.ErrUnusable, err)
		}
	}
	return nil
}

func (a *appender) committed(batch []*queued, entries []journal.Entry) {
	a.appends++
	for i, q := range batch {
		q.done = true
		a.size -= len(q.entry.Body)
		if err := a.base.Apply(entries[i]); err != nil {
			// The store applied the same rules to the same log.
			a.die(&JournalError{Run: a.run, Err: fmt.Errorf("%w: the journal took what the rules refuse: %w", journal.ErrDamaged, err)})
			return
		}
	}
	a.queue = a.queue[len(batch):]
}

// admit folds an entry ahead, or says why not: where the intent that it belongs to was taken back, the reason for that. A
// run of which something was taken back is not finished as if it had happened. The caller holds mu.
func (a *appender) admit(e journal.Entry) error {
	if e.Kind == journal.Finished && e.Outcome != journal.Cancelled {
		for _, why := range a.dropped {
			return why
		}
	}
	err := a.ahead.Apply(e)
	if err == nil {
		return nil
	}
	for step := e.Step; step != ""; step = step.Parent() {
		if why := a.dropped[step]; why != nil {
			return why
		}
	}
	return err
}

// die ends the right of this process to append. The caller holds mu.
func (a *appender) die(err error) {
	a.dead = err
	var busy *BusyError
	for _, q := range a.queue {
		if q.done {
			continue
		}
		q.done, q.err = true, err
		if !errors.As(err, &busy) { // then it is late
			a.save(q)
		}
	}
	a.queue = nil
	a.settled.Broadcast()
}

// refuse answers an entry that came after die. What a fenced owner learned too late is written all the same. The caller
// holds mu.
func (a *appender) refuse(q *queued) error {
	var busy *BusyError
	if errors.As(a.dead, &busy) {
		q.entry.Time, q.entry.Owner = a.now().UnixNano(), a.owner
		late := asLate(q.entry)
		if err := a.appendLate(late); err == nil {
			told := *busy // others may hold the one that was returned before
			told.addLate(late)
			a.dead = &told
			return a.dead
		}
	}
	a.save(q)
	return a.dead
}

// save keeps a reply that came and cannot be recorded. The caller holds mu.
func (a *appender) save(q *queued) {
	if q.reply != nil {
		a.rescued = append(a.rescued, q)
	}
}

// deliver hands over what was saved, without holding mu.
func (a *appender) deliver() {
	a.mu.Lock()
	rescued := a.rescued
	a.rescued = nil
	a.mu.Unlock()
	for _, q := range rescued {
		a.rescue(q.entry.Step, q.entry.Name, q.reply)
	}
}

// commits counts the appends so far.
func (a *appender) commits() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.appends
}

// over says why this process cannot append any more, or nil.
func (a *appender) over() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dead
}

// view calls f with the log as lookups see it, and the state with all that is queued. f must not keep them.
func (a *appender) view(f func(*journal.History, *journal.State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a.history, a.ahead)
}
