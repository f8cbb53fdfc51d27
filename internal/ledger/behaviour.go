package ledger

import (
	"net/http"
	"time"
)

// Behaviour is how the ledger treats what comes. The counts are used up one by one by charges that are accepted (by
// Decline, Conflict and Unprocessable: that are not); a negative count lasts until it is changed. Those that refuse come
// first, in this order, then Late, and Drop before Hang before Twice. The zero value accepts, replies at once, and ignores idempotency keys.
type Behaviour struct {
	// HonourKeys gives the first reply again for a known Idempotency-Key with the same body, 409 while the first request
	// with it is still being worked on, and 422 with another body. A request that was refused leaves no key behind.
	HonourKeys bool `json:"honour_keys"`
	// KeyTTLMS is how long a key is remembered from the moment its request was accepted, in milliseconds; 0 means for ever.
	KeyTTLMS int64 `json:"key_ttl_ms"`
	// Drop accepts the next charges and closes their connections without a reply.
	Drop int `json:"drop"`
	// Hang accepts the next charges and holds their replies until Release, or until the client is gone.
	Hang int `json:"hang"`
	// Twice accepts the next charges and sends each reply two times on its connection.
	Twice int `json:"twice"`
	// HangLists holds the replies to the next requests for a list of charges in the same way.
	HangLists int `json:"hang_lists"`
	// DelayMS is how long every reply to a charge or refund is held back, in milliseconds, after it was accepted.
	DelayMS int `json:"delay_ms"`
	// Late works on the next charges for LateMS milliseconds before it accepts them, whether or not the client is there by then.
	Late   int `json:"late"`
	LateMS int `json:"late_ms"`
	// Decline answers the next charges with 402 and accepts nothing.
	Decline int `json:"decline"`
	// Conflict answers the next charges with 409 and accepts nothing.
	Conflict int `json:"conflict"`
	// Unprocessable answers the next charges with 422 and accepts nothing.
	Unprocessable int `json:"unprocessable"`
}

// fate is what becomes of the reply to one charge.
type fate int

const (
	answer fate = iota
	drop
	hang
	twice
)

// Behaviour returns the present behaviour; the counts are what is left of them.
func (l *Ledger) Behaviour() Behaviour {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.behaviour
}

// SetBehaviour changes the behaviour from the next request on.
func (l *Ledger) SetBehaviour(b Behaviour) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behaviour = b
}

// next decides the fate of an accepted charge.
func (b *Behaviour) next() fate {
	switch {
	case use(&b.Drop):
		return drop
	case use(&b.Hang):
		return hang
	case use(&b.Twice):
		return twice
	}
	return answer
}

// refusal uses up one of the counts of charges that are refused.
func (b *Behaviour) refusal() (outcome, bool) {
	switch {
	case use(&b.Decline):
		return refused(http.StatusPaymentRequired, "declined"), true
	case use(&b.Conflict):
		return refused(http.StatusConflict, "the account is in use"), true
	case use(&b.Unprocessable):
		return refused(http.StatusUnprocessableEntity, "the account cannot be charged"), true
	}
	return outcome{}, false
}

// use takes one from a count and says whether there was one.
func use(n *int) bool {
	if *n > 0 {
		*n--
		return true
	}
	return *n < 0
}

func (b Behaviour) delay() time.Duration { return time.Duration(b.DelayMS) * time.Millisecond }

// work is how long a charge is worked on before it is accepted.
func (b *Behaviour) work() time.Duration {
	if use(&b.Late) {
		return time.Duration(b.LateMS) * time.Millisecond
	}
	return 0
}

func (b Behaviour) keyTTL() time.Duration { return time.Duration(b.KeyTTLMS) * time.Millisecond }
