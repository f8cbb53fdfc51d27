package agents

import (
	"net/http"
	"sync"
)

// spot is where a trap springs, seen from the server.
type spot int

const (
	arrived  spot = iota // the request is here, and the server never sees it
	later                // the request is here, and is worked on when whoever asked is dead
	worked               // it was worked on, and no byte of the reply was sent
	halfway              // a part of the reply was sent
	replied              // the whole reply was sent just now
	allSpots             // how many there are
)

// trap waits for one POST. sprung is closed then; the server goes on when dead is closed.
type trap struct {
	at     int // which one, from 1
	spot   spot
	sprung chan struct{}
	dead   chan struct{}
}

func newTrap(at int, s spot) *trap {
	return &trap{at: at, spot: s, sprung: make(chan struct{}), dead: make(chan struct{})}
}

// trapped is a server with a trap for whoever asks it to do something.
type trapped struct {
	http.Handler

	mu   sync.Mutex // guards what follows
	trap *trap
	seen int // requests since the trap was set
}

// set replaces the trap; nil takes it away.
func (s *trapped) set(t *trap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trap, s.seen = t, 0
}

// caught returns the trap when this request is the one that it waits for.
func (s *trapped) caught(r *http.Request) *trap {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trap == nil || r.Method != http.MethodPost {
		return nil
	}
	if s.seen++; s.seen != s.trap.at {
		return nil
	}
	return s.trap
}

// ServeHTTP answers as the server does, but for the request that the trap waits for.
func (s *trapped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := s.caught(r)
	if t == nil {
		s.Handler.ServeHTTP(w, r)
		return
	}
	wire := &tripwire{ResponseWriter: w, trap: t}
	switch t.spot {
	case arrived:
		wire.spring()
		panic(http.ErrAbortHandler) // net/http's way to close a connection without a reply
	case later:
		wire.spring()
	case worked:
		wire.writes = 1
	case halfway:
		wire.writes = 3
	}
	s.Handler.ServeHTTP(wire, r)
	if t.spot == replied {
		close(t.sprung) // what was written is on its way
	}
}

// tripwire springs a trap before one of the writes of a reply.
type tripwire struct {
	http.ResponseWriter
	trap   *trap
	writes int // before which one, from 1; 0 for none
	once   sync.Once
}

// spring returns when whoever asked is dead.
func (w *tripwire) spring() {
	w.once.Do(func() {
		close(w.trap.sprung)
		<-w.trap.dead
	})
}

// Write sends a part of the reply, unless the trap springs.
func (w *tripwire) Write(b []byte) (int, error) {
	if w.writes--; w.writes == 0 {
		w.spring()
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *tripwire) Unwrap() http.ResponseWriter { return w.ResponseWriter }
