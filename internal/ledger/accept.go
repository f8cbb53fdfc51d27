package ledger

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/internal/standin"
)

// outcome is what an accepted or refused request gets.
type outcome struct {
	status   int
	body     any
	id       string // of the charge or refund
	replayed bool   // the first reply again: nothing was accepted now
	fate     fate
	held     *standin.Held // with the fate hang
}

func refused(status int, format string, a ...any) outcome {
	return outcome{status: status, body: problem{fmt.Sprintf(format, a...)}}
}

type problem struct {
	Error string `json:"error"`
}

// take lets a request become what it asks for, unless its key or the behaviour says otherwise. accept does it, and wants
// mu held.
func (l *Ledger) take(a asked, accept func(asked) outcome) outcome {
	l.mu.Lock()
	out, known := l.known(a)
	if !known && a.kind == chargeKind {
		out, known = l.behaviour.refusal()
	}
	if known {
		defer l.mu.Unlock()
		l.told(a, out)
		return out
	}
	keyed := l.behaviour.HonourKeys && a.key != ""
	if keyed {
		l.working[a.key] = a.digest
	}
	var late time.Duration
	if a.kind == chargeKind {
		late = l.behaviour.work()
	}
	l.mu.Unlock()

	open := l.work(late)
	l.mu.Lock()
	defer l.mu.Unlock()
	if keyed {
		delete(l.working, a.key)
	}
	if open {
		out = accept(a)
	} else {
		out = refused(http.StatusInternalServerError, "write ledger: %v", standin.ErrClosed)
	}
	l.told(a, out)
	return out
}

// work takes its time and says whether the ledger is open still. Whether the client is there makes no difference.
func (l *Ledger) work(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.closed:
		return false
	}
}

// charge accepts a charge. It wants mu held.
func (l *Ledger) charge(c Charge, a asked) outcome {
	c.ID, c.Key = fmt.Sprintf("ch_%d", len(l.charges)+1), a.key
	out := l.keep(record{Charge: &c, Digest: a.keyDigest()}, c)
	if out.status != http.StatusCreated {
		return out
	}
	out.id, out.fate = c.ID, l.behaviour.next()
	if out.fate == hang {
		out.held = l.Hold()
	}
	return out
}

// refund accepts a refund, or says why not. It wants mu held.
func (l *Ledger) refund(r Refund, a asked) outcome {
	if !l.hasCharge(r.Charge) {
		return refused(http.StatusNotFound, "no such charge")
	}
	r.ID, r.Key = fmt.Sprintf("re_%d", len(l.refunds)+1), a.key
	out := l.keep(record{Refund: &r, Digest: a.keyDigest()}, r)
	out.id = r.ID
	return out
}

// keep makes a record durable and then part of the ledger. It wants mu held.
func (l *Ledger) keep(r record, reply any) outcome {
	r.At = time.Now().UnixMilli()
	if l.file != nil {
		if err := l.file.Append(r); err != nil {
			return refused(http.StatusInternalServerError, "write ledger: %v", err)
		}
	}
	l.apply(r)
	return outcome{status: http.StatusCreated, body: reply}
}

// apply makes a record part of the ledger. It wants mu held.
func (l *Ledger) apply(r record) {
	if r.Charge != nil {
		l.charges = append(l.charges, *r.Charge)
		l.remember(r.Charge.Key, r, r.Charge.ID, *r.Charge)
		return
	}
	l.refunds = append(l.refunds, *r.Refund)
	l.remember(r.Refund.Key, r, r.Refund.ID, *r.Refund)
}

func (l *Ledger) hasCharge(id string) bool {
	return slices.ContainsFunc(l.charges, func(c Charge) bool { return c.ID == id })
}
