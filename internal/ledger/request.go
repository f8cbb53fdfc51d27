package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"time"
)

// Request is a POST to /charges or /refunds that arrived, whatever became of it. Requests are kept in memory only. Where
// one request for a reference was accepted, every later one for it is a second send.
type Request struct {
	// Kind is charge or refund.
	Kind string `json:"kind"`
	// Reference is the reference of a charge, or the charge of a refund; empty where the body is not understood.
	Reference string `json:"reference"`
	// Key is the idempotency key.
	Key string `json:"idempotency_key,omitempty"`
	// Digest is the SHA-256 of the body, in hexadecimal.
	Digest string `json:"digest"`
	// Arrived is when the body had been read, Accepted when the effect took place, zero when it did not or not by this request.
	Arrived  time.Time `json:"arrived"`
	Accepted time.Time `json:"accepted,omitzero"`
	// Status is what was replied, or would have been to a client that had waited; 0 while the request is in work.
	Status int `json:"status"`
	// Replayed says that the first reply to the key was given again.
	Replayed bool `json:"replayed,omitempty"`
	// ID is the charge or refund that the reply names.
	ID string `json:"id,omitempty"`
}

// The kinds of request.
const (
	chargeKind = "charge"
	refundKind = "refund"
)

// asked is a request that is being answered.
type asked struct {
	n      int // its place among the requests
	kind   string
	key    string
	raw    []byte
	digest [32]byte // of kind and body
}

// keyDigest is what is kept of a request that came with a key.
func (a asked) keyDigest() []byte {
	if a.key == "" {
		return nil
	}
	return a.digest[:]
}

// Requests returns every request that arrived since the ledger was made, in order.
func (l *Ledger) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// arrive notes that a request is here, or answers it when not even its key and body can be read.
func (l *Ledger) arrive(w http.ResponseWriter, r *http.Request, kind string) (asked, bool) {
	key, raw, ok := readKeyed(w, r)
	if !ok {
		return asked{}, false
	}
	body := sha256.Sum256(raw)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := asked{n: len(l.requests), kind: kind, key: key, raw: raw, digest: sha256.Sum256(append([]byte(kind+"\n"), raw...))}
	l.requests = append(l.requests, Request{Kind: kind, Key: key, Digest: hex.EncodeToString(body[:]), Arrived: time.Now()})
	return a, true
}

// about notes what a request is about.
func (l *Ledger) about(a asked, reference string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests[a.n].Reference = reference
}

// told notes what came of a request. It wants mu held.
func (l *Ledger) told(a asked, out outcome) {
	q := &l.requests[a.n]
	q.Status, q.ID, q.Replayed = out.status, out.id, out.replayed
	if out.status == http.StatusCreated && !out.replayed {
		q.Accepted = time.Now()
	}
}
