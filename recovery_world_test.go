package wrun_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// world is the server that the tools of a cell read from and act upon, and the network on the way to it.
type world struct {
	*httptest.Server

	mu      sync.Mutex
	reached int      // guarded by mu: requests to read or to act
	acted   bool     // guarded by mu: it was told to act
	gate    int      // guarded by mu: times that it was asked whether it is ready
	verdict string   // guarded by mu: what it says to a look-up, "" for the truth
	drop    func()   // guarded by mu: called instead of replying to the next request to read or to act
	down    bool     // guarded by mu: nobody gets through
	queries []string // guarded by mu: of the requests to act
	holding bool     // guarded by mu: a read was held

	held chan struct{} // closed when a read is held
}

func newWorld(t *testing.T) *world {
	w := &world{held: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /read", func(rw http.ResponseWriter, _ *http.Request) { w.answer(rw, http.StatusOK) })
	mux.HandleFunc("POST /act", func(rw http.ResponseWriter, r *http.Request) {
		w.set(func() { w.queries = append(w.queries, r.URL.RawQuery) })
		w.answer(rw, http.StatusCreated)
	})
	mux.HandleFunc("GET /hold", w.hold)
	mux.HandleFunc("GET /act", w.look)
	mux.HandleFunc("GET /gate", func(rw http.ResponseWriter, _ *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.gate++; w.gate == 1 {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

// answer counts a request, and replies or drops the connection.
func (w *world) answer(rw http.ResponseWriter, status int) {
	w.mu.Lock()
	drop := w.drop
	w.reached++
	w.acted = w.acted || status == http.StatusCreated
	w.drop = nil
	w.mu.Unlock()
	if drop != nil {
		drop()
		panic(http.ErrAbortHandler)
	}
	rw.WriteHeader(status)
}

// look answers a look-up.
func (w *world) look(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.verdict == "fails":
		rw.WriteHeader(http.StatusInternalServerError)
	case w.verdict == "cannot tell":
		fmt.Fprint(rw, `{"verdict":"unknown"}`)
	case w.acted:
		fmt.Fprint(rw, `{"verdict":"happened","reply":{"status":201}}`)
	default:
		fmt.Fprint(rw, `{"verdict":"did_not_happen"}`)
	}
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	down := w.down
	w.mu.Unlock()
	if down {
		return nil, errors.New("the network is down")
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
}

// hold holds the first read of its kind until whoever asks is gone.
func (w *world) hold(_ http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	first := !w.holding
	w.holding = true
	w.mu.Unlock()
	if first {
		close(w.held)
		<-r.Context().Done()
	}
}

func (w *world) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.queries)
}
