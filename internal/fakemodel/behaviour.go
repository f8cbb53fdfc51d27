package fakemodel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Fault is one way in which a request fails.
type Fault string

// The faults. Those before the bill cost nothing, those after it were paid for.
const (
	DropBefore  Fault = "drop_before"
	HangBefore  Fault = "hang_before"
	RateLimit   Fault = "rate_limit"
	ServerError Fault = "server_error"
	Overloaded  Fault = "overloaded"
	DropAfter   Fault = "drop_after"
	HangAfter   Fault = "hang_after"
	Cut         Fault = "cut"
	Short       Fault = "short"
	InvalidJSON Fault = "invalid_json"
	InvalidUTF8 Fault = "invalid_utf8"
)

// Faults are all of them with what they do, in the order in which they are looked at.
var Faults = []struct {
	Fault Fault
	About string
}{
	{DropBefore, "close the connection without a reply, before there is a bill"},
	{HangBefore, "hold the request, before there is a bill, until it is released"},
	{RateLimit, "refuse with 429 and Retry-After"},
	{ServerError, "refuse with 500"},
	{Overloaded, "refuse with 503, or 529 in the protocol that has it"},
	{DropAfter, "write the bill, and close the connection without a reply"},
	{HangAfter, "write the bill, and hold the reply until it is released"},
	{Cut, "write the bill, and break the connection off inside the reply"},
	{Short, "write the bill, and end the reply too early, but in order"},
	{InvalidJSON, "write the bill, and send a reply that is no JSON, with 200"},
	{InvalidUTF8, "write the bill, and send a reply with a text that is no UTF-8"},
}

// Behaviour is how the server treats what comes. Each fault has a count: how many of the next requests it meets, those after
// the bill how many of the next that are billed. A negative count lasts until it is changed. Of several the first in the
// order of Faults comes first, so it is known which request meets what. The zero value replies at once, and ignores
// idempotency keys, as most providers do.
type Behaviour struct {
	// HonourKeys sends what was answered before again, without a bill, for an Idempotency-Key that was billed, and 422 when
	// its first request had another body.
	HonourKeys bool `json:"honour_keys"`

	DropBefore  int `json:"drop_before"`
	HangBefore  int `json:"hang_before"`
	RateLimit   int `json:"rate_limit"`
	ServerError int `json:"server_error"`
	Overloaded  int `json:"overloaded"`
	DropAfter   int `json:"drop_after"`
	HangAfter   int `json:"hang_after"`
	Cut         int `json:"cut"`
	Short       int `json:"short"`
	InvalidJSON int `json:"invalid_json"`
	InvalidUTF8 int `json:"invalid_utf8"`

	// RetryAfter is what Retry-After says with 429, in seconds; 0 means 1.
	RetryAfter int `json:"retry_after"`
	// CutAfter is after how many bytes of the reply's body the connection is broken off; 0 means half of it.
	CutAfter int `json:"cut_after"`
	// DelayMS is how long every reply is held back after its bill, in milliseconds.
	DelayMS int `json:"delay_ms"`
	// Random is the part of the requests without a counted fault that meet one of RandomFaults, 0 to 1. Which request meets
	// which depends on Seed and the number of the request alone.
	Random float64 `json:"random"`
	Seed   uint64  `json:"seed"`
	// RandomFaults are the faults of Random; none means all but those that hang.
	RandomFaults []Fault `json:"random_faults,omitempty"`
}

// Left is how often the fault comes still.
func (b *Behaviour) Left(f Fault) *int {
	switch f {
	case DropBefore:
		return &b.DropBefore
	case HangBefore:
		return &b.HangBefore
	case RateLimit:
		return &b.RateLimit
	case ServerError:
		return &b.ServerError
	case Overloaded:
		return &b.Overloaded
	case DropAfter:
		return &b.DropAfter
	case HangAfter:
		return &b.HangAfter
	case Cut:
		return &b.Cut
	case Short:
		return &b.Short
	case InvalidJSON:
		return &b.InvalidJSON
	case InvalidUTF8:
		return &b.InvalidUTF8
	}
	return nil
}

func (b *Behaviour) check() error {
	for _, f := range b.RandomFaults {
		if b.Left(f) == nil {
			return fmt.Errorf("there is no fault %.40q", f)
		}
	}
	if !(b.Random >= 0 && b.Random <= 1) {
		return errors.New("random has to be from 0 to 1")
	}
	if b.RetryAfter < 0 || b.CutAfter < 0 || b.DelayMS < 0 {
		return errors.New("retry_after, cut_after and delay_ms have to be 0 or more")
	}
	return nil
}

// beforeBill says whether a fault comes before the bill.
func (f Fault) beforeBill() bool {
	return slices.Contains([]Fault{DropBefore, HangBefore, RateLimit, ServerError, Overloaded}, f)
}

// take uses up one count of the faults on one side of the bill, or else is the random fault when it is on that side.
func (b *Behaviour) take(before bool, random Fault) Fault {
	for _, f := range Faults {
		if f.Fault.beforeBill() == before && use(b.Left(f.Fault)) {
			return f.Fault
		}
	}
	if random.beforeBill() == before {
		return random
	}
	return ""
}

// random is what request n meets by chance.
func (b *Behaviour) random(n int) Fault {
	r := rand.New(rand.NewPCG(b.Seed, uint64(n)))
	if r.Float64() >= b.Random {
		return ""
	}
	faults := b.RandomFaults
	if len(faults) == 0 {
		for _, f := range Faults {
			if f.Fault != HangBefore && f.Fault != HangAfter {
				faults = append(faults, f.Fault)
			}
		}
	}
	return faults[r.IntN(len(faults))]
}

// use takes one from a count and says whether there was one.
func use(n *int) bool {
	if *n > 0 {
		*n--
		return true
	}
	return *n < 0
}

// Behaviour returns the present behaviour; the counts are what is left of them.
func (f *Fake) Behaviour() Behaviour {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.behaviour
}

// SetBehaviour changes the behaviour from the next request on. Errors: a value that there is not.
func (f *Fake) SetBehaviour(b Behaviour) error {
	if err := b.check(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behaviour = b
	return nil
}
