package interleave

import (
	"cmp"
	"slices"

	"github.com/wrun-dev/wrun/journal"
)

// point is a place where a process waits for the scheduler.
type point uint8

const (
	atStep     point = iota // the driver is about to ask for a step
	atEnter                 // a tool has been entered
	atAsk                   // a tool is about to ask for something
	atReturn                // a tool is about to return
	atRead                  // the log is about to be read
	atLook                  // the folded log is about to be read
	atAppend                // entries are about to be appended
	atAppended              // they are in the log, and the process does not know yet
	atSend                  // a request is about to be sent
	atReply                 // it was sent, and its reply is waited for
	atFetch                 // the provider is about to be asked what it has
	atWrite                 // a program is about to write
)

var pointNames = [...]string{
	"asks for a step", "enters", "asks", "returns", "reads the log", "looks", "appends", "learns that it has appended", "sends", "waits for the reply", "asks the provider", "is about to write",
}

// verdict is what a process finds when it goes on.
type verdict uint8

const (
	goOn      verdict = iota
	dead              // it was killed
	busy              // the journal is held by another process; nothing was written
	full              // there is no room; nothing was written
	failed            // an error of the journal: nothing is known
	refused           // no connection: nothing was sent
	replied           // the reply is there
	broken            // the connection broke: nothing is known
	illegible         // a reply came which cannot be shown: it took place
	vague             // the provider cannot tell now
)

var verdictNames = [...]string{
	"", "dead", "the journal is busy", "no space", "the journal reports an error", "no connection", "reply", "the connection breaks", "an illegible reply", "the provider cannot tell",
}

// waiter is a goroutine of a process that waits for the scheduler.
type waiter struct {
	p    *process
	at   point
	kind journal.Kind // of an append: its last entry
	step string
	held bool     // it holds its engine's lock, so that no other goroutine of its process may go on
	msg  *message // it waits for the network
	next chan verdict
}

// pause waits until the scheduler lets the process go on.
func (t *trial) pause(p *process, w waiter) verdict {
	t.mu.Lock()
	if p.dead {
		t.mu.Unlock()
		return dead
	}
	if p.free || p.isPerson && w.at != atAppend && w.at != atAppended { // who says something looks and says it
		t.mu.Unlock()
		return goOn
	}
	next := t.enqueue(p, w)
	t.mu.Unlock()
	return <-next
}

// enqueue adds a waiter. The caller holds mu.
func (t *trial) enqueue(p *process, w waiter) <-chan verdict {
	w.p, w.next = p, make(chan verdict, 1)
	t.waiters = append(t.waiters, &w)
	return w.next
}

// leave takes a waiter away that does not wait any more.
func (t *trial) leave(m *message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.waits = false
	t.waiters = slices.DeleteFunc(t.waiters, func(w *waiter) bool { return w.msg == m })
}

// release lets a waiter go on. The caller holds mu.
func (t *trial) release(w *waiter, v verdict) {
	t.waiters = slices.DeleteFunc(t.waiters, func(o *waiter) bool { return o == w })
	if w.msg != nil {
		w.msg.waits = false
	}
	w.next <- v
}

// holds returns the waiter of a process that holds its engine's lock, or nil.
func (t *trial) holds(p *process) *waiter {
	for _, w := range t.waiters {
		if w.held && w.p == p {
			return w
		}
	}
	return nil
}

// held says whether any process is inside its engine's lock. Then time must not pass: a timer would wait for the lock.
func (t *trial) held() bool {
	return slices.ContainsFunc(t.waiters, func(w *waiter) bool { return w.held })
}

// runnable returns the waiters that may go on, in an order that does not depend on who came first.
func (t *trial) runnable() []*waiter {
	var ws []*waiter
	for _, w := range t.waiters {
		if w.msg != nil || w.p.asleep {
			continue
		}
		if h := t.holds(w.p); h != nil && h != w {
			continue
		}
		ws = append(ws, w)
	}
	slices.SortStableFunc(ws, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.p.name, b.p.name), cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
	})
	return ws
}
