package model

import (
	"errors"
	"net"
	"sync"
)

// gate is what the connections of one exchange pass before they write. It knows what was written of the request.
type gate struct {
	before func() error

	mu      sync.Mutex // guards the rest
	asked   bool       // before was asked
	refusal error      // what before answered
	over    bool       // the exchange has ended: nothing is written any more
	ready   bool       // the way to the provider is open, through a proxy too: what is written from now on is the request
	written bool       // a write of the request was begun
	sent    int64      // bytes of the request that were written
}

var errOver = errors.New("the exchange is over")

// pass says whether a byte may be written, and remembers that it is. The first one asks before.
func (g *gate) pass() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return errOver
	}
	if !g.asked {
		g.asked = true
		if g.before != nil {
			g.refusal = g.before()
		}
	}
	if g.refusal == nil && g.ready {
		g.written = true
	}
	return g.refusal
}

func (g *gate) wrote(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready {
		g.sent += int64(n)
	}
}

// open says that the way is open.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ready = true
}

// gateState is what is known at the end of an exchange.
type gateState struct {
	refusal error
	written bool
	sent    int64
}

// shut lets nothing through any more, also of what net/http does in the background, and returns what is known then.
func (g *gate) shut() gateState {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	return gateState{g.refusal, g.written, g.sent}
}

// wire is a connection behind a gate. For https it lies above TLS, because the server cannot act on a handshake.
type wire struct {
	net.Conn
	gate *gate
}

// Write writes b when the gate lets it.
func (w wire) Write(b []byte) (int, error) {
	if err := w.gate.pass(); err != nil {
		return 0, err
	}
	n, err := w.Conn.Write(b)
	w.gate.wrote(n)
	return n, err
}
