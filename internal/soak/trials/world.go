package trials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// world is a ledger that listens, with a trap for whoever charges.
type world struct {
	*ledger.Ledger
	base ledger.Behaviour // as it is while no trap springs
	url  string
	http *http.Server
	done chan error

	mu      sync.Mutex // guards what follows
	conns   int
	changed chan struct{} // closed and replaced when conns changes
	trap    *trap
	seen    int // requests of its kind since it was set
}

// openWorld starts a ledger that keeps its charges in a file.
func openWorld(file string, base ledger.Behaviour) (*world, error) {
	l, err := ledger.New(ledger.Config{File: file, Behaviour: base})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start ledger: %w", err), l.Close())
	}
	w := &world{Ledger: l, base: base, url: "http://" + listener.Addr().String(), done: make(chan error, 1), changed: make(chan struct{})}
	w.http = &http.Server{
		Handler: w, ConnState: w.count, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // it reports connections that were cut, which is what happens here all the time
	}
	go func() { w.done <- w.http.Serve(listener) }()
	return w, nil
}

func (w *world) close() error {
	err := w.http.Close()
	if served := <-w.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, w.Ledger.Close())
}

func (w *world) count(_ net.Conn, s http.ConnState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch s {
	case http.StateNew:
		w.conns++
	case http.StateClosed, http.StateHijacked:
		w.conns--
	default:
		return
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// settle returns when nothing that a dead process has sent is on its way any more, so that what the ledger does not
// have by then did not happen. A real provider offers no such thing; there a person waits.
func (w *world) settle(ctx context.Context) error {
	// Connections are accepted in the order in which they were made: once this one is answered, the older ones were.
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/count", nil)
	if err != nil {
		return err
	}
	probe := &http.Transport{DisableKeepAlives: true}
	res, err := probe.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("ask the ledger: %w", err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("ask the ledger: %w", err)
	}
	for {
		w.mu.Lock()
		open, changed := w.conns, w.changed
		w.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d connections of dead processes: %w", open, context.Cause(ctx))
		}
	}
}

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
