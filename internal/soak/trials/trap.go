package trials

import (
	"net/http"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// spot is where a trap springs, seen from the ledger.
type spot string

const (
	// arrived: the request is here, and the ledger never sees it.
	arrived spot = "the request has arrived"
	// accepted: the charge is in the ledger, and no byte of the reply was sent.
	accepted spot = "the charge was accepted"
	// halfway: half of the reply was sent.
	halfway spot = "half of the reply was sent"
	// replied: the whole reply was sent just now.
	replied spot = "the reply was sent"
	// dropped: not a death: the ledger accepts and closes the connection.
	dropped spot = "the reply was dropped"
	// cut: the same, and the process is killed while it learns of it.
	cut spot = "the connection was cut"
	// later: the request is here, and is accepted when whoever asked is dead.
	later spot = "the request is being worked on"
	// tooLate: not a death: it is accepted when whoever asked has given up.
	tooLate spot = "the charge came too late"
	// mute: not a death: it is accepted at once, and no reply comes in time.
	mute spot = "the reply came too late"
	// conflict and unprocessable: not a death: the ledger accepts nothing and says so.
	conflict      spot = "a conflict"
	unprocessable spot = "a refusal"
	// lookupAsked: the look-up's question is here, and is not answered. lookupTold: it was answered just now.
	lookupAsked spot = "the look-up has asked"
	lookupTold  spot = "the look-up was answered"
)

// kills says whether a trap at the spot kills.
func (s spot) kills() bool {
	switch s {
	case dropped, tooLate, mute, conflict, unprocessable:
		return false
	}
	return true
}

// trap waits for one charge, or for a look-up. sprung is closed then; the ledger goes on when dead is closed.
type trap struct {
	at     int // which charge, from 1
	spot   spot
	late   time.Duration // how long it is worked on, where the spot is later
	sprung chan struct{}
	dead   chan struct{}
}

func (t *trap) spring() {
	close(t.sprung)
	<-t.dead
}

// waitsFor says whether a request is of the kind that the trap is for.
func (t *trap) waitsFor(r *http.Request) bool {
	method := http.MethodPost
	if t.spot == lookupAsked || t.spot == lookupTold {
		method = http.MethodGet
	}
	return r.Method == method && r.URL.Path == "/charges"
}

// behaviour is how the ledger treats the charge of the trap.
func (t *trap) behaviour(b ledger.Behaviour) ledger.Behaviour {
	switch t.spot {
	case dropped, cut:
		b.Drop = 1
	case later:
		b.Late, b.LateMS = 1, int(t.late.Milliseconds())
	case tooLate:
		b.Late, b.LateMS = 1, int((replyTimeout + replyTimeout/8).Milliseconds())
	case mute:
		b.Hang = 1
	case conflict:
		b.Conflict = 1
	case unprocessable:
		b.Unprocessable = 1
	}
	return b
}
