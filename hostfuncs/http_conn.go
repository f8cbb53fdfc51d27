package hostfuncs

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// wire is a connection that knows whether anything was written to it, and how long its peer may be silent. For https it lies
// above TLS: the handshake is not a write, since the server cannot act on it.
//
// Writes come one after the other; the first one asks before whether it may. Reads come one after the other, and beside writes.
type wire struct {
	net.Conn
	// before is asked once, immediately before the first byte; nil means yes.
	before func() error

	attempted bool         // set by the first write that was allowed
	refusal   error        // what before answered
	sent      atomic.Int64 // bytes written

	mu     sync.Mutex // guards the rest, and the deadlines of the connection
	over   bool       // the exchange has ended: nothing waits any more
	inBody bool       // the headers of the reply were read
}

// Write writes b, unless before said no: then it writes nothing, now and later, and returns what before said.
func (w *wire) Write(b []byte) (int, error) {
	if w.refusal != nil {
		return 0, w.refusal
	}
	if !w.attempted {
		if w.before != nil {
			if w.refusal = w.before(); w.refusal != nil {
				return 0, w.refusal
			}
		}
		w.attempted = true
	}
	n, err := w.Conn.Write(b)
	w.sent.Add(int64(n))
	return n, err
}

// Read reads, and waits no longer for a part of a body than it may pause.
func (w *wire) Read(b []byte) (int, error) {
	w.mu.Lock()
	if w.inBody {
		w.readWithin(toolabi.HTTPPauseMS)
	}
	w.mu.Unlock()
	return w.Conn.Read(b)
}

// written says that the request is complete: from now on the headers of its reply are waited for.
func (w *wire) written() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.inBody {
		w.readWithin(toolabi.HTTPHeadMS)
	}
}

// headRead says that the body of the reply begins.
func (w *wire) headRead() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inBody = true
}

// end ends what is waited for, now and later.
func (w *wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.SetDeadline(time.Unix(1, 0))
}

// readWithin is called with mu held.
func (w *wire) readWithin(ms int64) {
	if !w.over {
		w.SetReadDeadline(time.Now().Add(time.Duration(ms) * time.Millisecond))
	}
}
