package ledger

import (
	"crypto/sha256"
	"fmt"
	"net/http"
)

// outcome is what an accepted or refused request gets.
type outcome struct {
	status   int
	body     any
	replayed bool
	fate     fate
	release  <-chan struct{} // with the fate hang
}

func refused(status int, format string, a ...any) outcome {
	return outcome{status: status, body: problem{fmt.Sprintf(format, a...)}}
}

type problem struct {
	Error string `json:"error"`
}

// charge accepts a charge, or says why not. raw is the request's body.
func (l *Ledger) charge(c Charge, raw []byte) outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	if out, known := l.known(c.Key, "charge", raw); known {
		return out
	}
	if use(&l.behaviour.Decline) {
		return refused(http.StatusPaymentRequired, "declined")
	}
	c.ID = fmt.Sprintf("ch_%d", len(l.charges)+1)
	out := l.keep(record{Charge: &c, Digest: digest(c.Key, "charge", raw)}, c)
	if out.status != http.StatusCreated {
		return out
	}
	out.fate = l.behaviour.next()
	if out.fate == hang {
		out.release = l.release
		l.setHanging(l.hanging + 1)
	}
	return out
}

// refund accepts a refund, or says why not.
func (l *Ledger) refund(r Refund, raw []byte) outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	if out, known := l.known(r.Key, "refund", raw); known {
		return out
	}
	if !l.hasCharge(r.Charge) {
		return refused(http.StatusNotFound, "no such charge")
	}
	r.ID = fmt.Sprintf("re_%d", len(l.refunds)+1)
	return l.keep(record{Refund: &r, Digest: digest(r.Key, "refund", raw)}, r)
}

// known answers a request whose key came before. It wants mu held.
func (l *Ledger) known(key, kind string, raw []byte) (outcome, bool) {
	if key == "" || !l.behaviour.HonourKeys {
		return outcome{}, false
	}
	f, ok := l.firsts[key]
	switch {
	case !ok:
		return outcome{}, false
	case string(f.digest[:]) != string(digest(key, kind, raw)):
		return refused(http.StatusUnprocessableEntity, "the idempotency key was used for another request"), true
	}
	l.replayed++
	return outcome{status: http.StatusCreated, body: f.reply, replayed: true}, true
}

// keep makes a record durable and then part of the ledger. It wants mu held.
func (l *Ledger) keep(r record, reply any) outcome {
	if l.file != nil {
		if err := l.file.append(r); err != nil {
			return refused(http.StatusInternalServerError, "%v", err)
		}
	}
	l.apply(r)
	return outcome{status: http.StatusCreated, body: reply}
}

// apply makes a record part of the ledger. It wants mu held.
func (l *Ledger) apply(r record) {
	if r.Charge != nil {
		l.charges = append(l.charges, *r.Charge)
		l.remember(r.Charge.Key, r.Digest, *r.Charge)
		return
	}
	l.refunds = append(l.refunds, *r.Refund)
	l.remember(r.Refund.Key, r.Digest, *r.Refund)
}

// remember keeps the first reply to a key; later ones, accepted while keys were ignored, do not replace it.
func (l *Ledger) remember(key string, sum []byte, reply any) {
	if _, ok := l.firsts[key]; key == "" || ok || len(sum) != sha256.Size {
		return
	}
	l.firsts[key] = first{digest: [32]byte(sum), reply: reply}
}

func (l *Ledger) hasCharge(id string) bool {
	for _, c := range l.charges {
		if c.ID == id {
			return true
		}
	}
	return false
}

// digest names a keyed request: what it is and its bytes.
func digest(key, kind string, raw []byte) []byte {
	if key == "" {
		return nil
	}
	sum := sha256.Sum256(append([]byte(kind+"\n"), raw...))
	return sum[:]
}
