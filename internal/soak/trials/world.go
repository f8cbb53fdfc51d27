package trials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// world is a ledger that listens, with a trap for whoever charges.
type world struct {
	*ledger.Ledger
	base   ledger.Behaviour // as it is while no trap springs
	url    string
	server *Server

	mu   sync.Mutex // guards what follows
	trap *trap
	seen int // requests of its kind since it was set
}

// openWorld starts a ledger that keeps its charges in a file.
func openWorld(file string, base ledger.Behaviour) (*world, error) {
	l, err := ledger.New(ledger.Config{File: file, Behaviour: base})
	if err != nil {
		return nil, err
	}
	w := &world{Ledger: l, base: base}
	if w.server, err = Serve(w); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	w.url = w.server.URL
	return w, nil
}

func (w *world) close() error { return errors.Join(w.server.Close(), w.Ledger.Close()) }

// settle returns when nothing that a dead process has sent is on its way any more.
func (w *world) settle(ctx context.Context) error { return w.server.Settle(ctx) }

// set replaces the trap; nil takes it away.
func (w *world) set(t *trap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trap, w.seen = t, 0
	w.SetBehaviour(w.base)
}

// caught returns the trap when this request is the one that it waits for.
func (w *world) caught(r *http.Request) *trap {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trap == nil || !w.trap.waitsFor(r) {
		return nil
	}
	w.seen++
	if w.seen != w.trap.at {
		return nil
	}
	return w.trap
}

// ServeHTTP answers as the ledger does, but for the request that the trap waits for.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	t := w.caught(r)
	if t == nil {
		w.Ledger.ServeHTTP(rw, r)
		return
	}
	w.SetBehaviour(t.behaviour(w.base))
	switch {
	case !t.spot.kills():
		w.Ledger.ServeHTTP(rw, r)
		return
	case t.spot == arrived, t.spot == lookupAsked:
		t.spring()
		panic(http.ErrAbortHandler) // net/http's way to close a connection without a reply
	case t.spot == later:
		close(t.sprung) // what was sent is here, and the ledger goes on while whoever sent it dies
		w.Ledger.ServeHTTP(rw, r)
		return
	case t.spot == cut:
		defer t.spring()
		w.Ledger.ServeHTTP(rw, r)
		return
	}
	held := heldReply{header: rw.Header(), status: http.StatusOK}
	w.Ledger.ServeHTTP(&held, r)
	switch t.spot {
	case accepted:
		t.spring()
		panic(http.ErrAbortHandler)
	case halfway:
		held.send(rw, held.body.Len()/2)
		t.spring()
		panic(http.ErrAbortHandler)
	}
	held.send(rw, held.body.Len())
	t.spring()
}

// heldReply keeps a reply until it is sent.
type heldReply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldReply) Header() http.Header         { return h.header }
func (h *heldReply) WriteHeader(status int)      { h.status = status }
func (h *heldReply) Write(b []byte) (int, error) { return h.body.Write(b) }

// send sends the head and so many bytes of the body.
func (h *heldReply) send(rw http.ResponseWriter, n int) {
	rw.Header().Set("Content-Length", fmt.Sprint(h.body.Len()))
	rw.WriteHeader(h.status)
	_, _ = rw.Write(h.body.Bytes()[:n])        // whoever asked may be gone
	_ = http.NewResponseController(rw).Flush() // likewise
}
