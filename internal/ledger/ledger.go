// Package ledger is a small server that takes money: it accepts charges and refunds, writes each to a file before it
// replies, and can be told to misbehave in the ways that real providers do. The demo, the examples and the tests use it
// as the world outside, where an effect that was repeated or lost can be counted.
//
// It is not part of wrun's runtime, knows nothing of it, and has no authentication: it is for the loopback interface.
//
//	POST /charges    {"account","amount_cents","reference"}  201 Charge; 400, 402 declined, 409 in work or refused, 413,
//	                                                         422 key used otherwise or refused
//	POST /refunds    {"charge"}                              201 Refund; 404 no such charge; 409 and 422 for its key
//	GET  /charges    ?reference=R                            200 [Charge…], all without a reference
//	GET  /refunds                                            200 [Refund…]
//	GET  /requests   ?about=PREFIX                           200 [Request…], every POST that arrived at the two above whose
//	                                                         reference begins so
//	GET  /count                                              200 {"charges","refunds","replayed"}
//	POST /behaviour  fields of Behaviour to change           200 Behaviour; GET returns it
//	GET  /hanging    ?at_least=N waits for it                200 {"hanging"}
//	POST /release                                            200 {"released"}
package ledger

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/internal/standin"
)

// Config is how a ledger begins. The zero value keeps everything in memory and behaves well.
type Config struct {
	// File is where charges and refunds are kept, created when it is missing; empty keeps them in memory only.
	File string
	// Addr is where Start listens; empty means 127.0.0.1:0.
	Addr string
	// Behaviour is the first behaviour.
	Behaviour Behaviour
}

// Charge is money taken.
type Charge struct {
	ID          string `json:"id"`
	Account     string `json:"account"`
	AmountCents int64  `json:"amount_cents"`
	Reference   string `json:"reference"`
	Key         string `json:"idempotency_key,omitempty"`
}

// Refund is money given back. A charge can be refunded more than once, so that a repeated refund shows.
type Refund struct {
	ID     string `json:"id"`
	Charge string `json:"charge"`
	Key    string `json:"idempotency_key,omitempty"`
}

// Count says how many charges and refunds were accepted, and how often a first reply was given again for a known key.
type Count struct {
	Charges  int `json:"charges"`
	Refunds  int `json:"refunds"`
	Replayed int `json:"replayed"`
}

// Ledger is the server as an http.Handler. Its methods may be called concurrently.
type Ledger struct {
	*standin.Holds
	mux *http.ServeMux

	mu        sync.Mutex     // guards what follows, and orders the file
	file      *standin.Lines // nil when in memory only
	charges   []Charge
	refunds   []Refund
	firsts    map[string]first    // by idempotency key
	working   map[string][32]byte // digests of requests in work, by idempotency key
	requests  []Request
	replayed  int
	behaviour Behaviour

	closing func() // ends what is in work, may be called again
	closed  <-chan struct{}
}

// New makes a ledger, with what its file holds already. Close it when it has a file.
func New(cfg Config) (*Ledger, error) {
	closed := make(chan struct{})
	l := &Ledger{
		Holds: standin.NewHolds(), behaviour: cfg.Behaviour, firsts: map[string]first{}, working: map[string][32]byte{},
		closed: closed, closing: sync.OnceFunc(func() { close(closed) }),
	}
	if cfg.File != "" {
		f, records, err := openFile(cfg.File)
		if err != nil {
			return nil, fmt.Errorf("open ledger: %w", err)
		}
		l.file = f
		for _, r := range records {
			l.apply(r)
		}
	}
	l.mux = l.routes()
	return l, nil
}

// Close gives up what is in work and closes the file. Charges after it fail.
func (l *Ledger) Close() error {
	l.closing()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Charges returns every accepted charge in order.
func (l *Ledger) Charges() []Charge {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.charges)
}

// Refunds returns every accepted refund in order.
func (l *Ledger) Refunds() []Refund {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.refunds)
}

// Count counts what was accepted.
func (l *Ledger) Count() Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Count{Charges: len(l.charges), Refunds: len(l.refunds), Replayed: l.replayed}
}

// holdList keeps the reply to a request for a list back when the behaviour wants that.
func (l *Ledger) holdList(ctx context.Context) {
	l.mu.Lock()
	var held *standin.Held
	if use(&l.behaviour.HangLists) {
		held = l.Hold()
	}
	l.mu.Unlock()
	held.Wait(ctx)
}
