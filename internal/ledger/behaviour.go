package ledger

import "time"

// Behaviour is how the ledger treats what comes. The counts are used up one by one by charges that are accepted (by
// Decline: that are not); a negative count lasts until it is changed. Of the three, Decline comes first and Drop before
// Hang. The zero value accepts, replies at once, and ignores idempotency keys.
type Behaviour struct {
	// HonourKeys gives the first reply again for a known Idempotency-Key with the same body, and 422 with another one.
	HonourKeys bool `json:"honour_keys"`
	// Drop accepts the next charges and closes their connections without a reply.
	Drop int `json:"drop"`
	// Hang accepts the next charges and holds their replies until Release, or until the client is gone.
	Hang int `json:"hang"`
	// DelayMS is how long every reply to a charge or refund is held back, in milliseconds, after it was accepted.
	DelayMS int `json:"delay_ms"`
	// Decline answers the next charges with 402 and accepts nothing.
	Decline int `json:"decline"`
}

// fate is what becomes of the reply to one charge.
type fate int

const (
	answer fate = iota
	drop
	hang
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
	}
	return answer
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
