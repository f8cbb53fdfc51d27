package hostfuncs

import (
	"net"
	"sync/atomic"
)

// wire is a connection that knows whether anything was written to it. For https it lies above TLS: the handshake is
// not a write, since the server cannot act on it.
//
// Writes come one after the other; the first one asks before whether it may.
type wire struct {
	net.Conn
	// before is asked once, immediately before the first byte; nil means yes.
	before func() error

	attempted bool         // set by the first write that was allowed
	refusal   error        // what before answered
	sent      atomic.Int64 // bytes written
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
