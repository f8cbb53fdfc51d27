package tooltest

import (
	"fmt"
	"math/rand/v2"

	"github.com/wrun-dev/wrun/internal/world"
)

// Moment is what is done to a call, and when.
type Moment struct {
	// Kind is one of the constants.
	Kind string `json:"kind"`
	// Append is which append of the run it is, from 1, and After whether the process dies after it was made; About says what it
	// writes.
	Append int    `json:"append,omitempty"`
	After  bool   `json:"after,omitempty"`
	About  string `json:"about,omitempty"`
	// Request is which request of those that act it is, from 1, and Fault what becomes of it.
	Request int         `json:"request,omitempty"`
	Fault   world.Fault `json:"fault,omitempty"`
}

// The kinds of moments.
const (
	// Undisturbed: nothing is done. Again: the call is made once more, with another clock and other randomness. Anew: the module is
	// loaded anew for it. Undone: it is undone.
	Undisturbed = "undisturbed"
	Again       = "again"
	Anew        = "anew"
	Undone      = "undone"
	// Dies: the process dies at an append. Fault: a request goes wrong while the process lives.
	Dies      = "dies"
	GoesWrong = "goes_wrong"
)

// isCrash says whether the process dies.
func (m Moment) isCrash() bool { return m.Kind == Dies }

// unseen says whether a request goes wrong in a way that nobody sees what became of it.
func (m Moment) unseen() bool { return m.Kind == GoesWrong && m.Fault != world.Refused }

// String says what is done and when.
func (m Moment) String() string {
	switch m.Kind {
	case Again:
		return "the call is made once more, with another clock and other randomness"
	case Anew:
		return "the call is made after the module was loaded anew"
	case Undone:
		return "the call is undone"
	case GoesWrong:
		return fmt.Sprintf("%s request %d of those that act (%s)", faultWords[m.Fault], m.Request, m.About)
	case Dies:
		when := "before"
		if m.After {
			when = "after"
		}
		return fmt.Sprintf("the process dies %s append %d (%s)", when, m.Append, m.About)
	}
	return "nothing is done to the call"
}

var faultWords = map[world.Fault]string{
	world.LostReply: "the reply is lost to", world.Refused: "nobody accepts", world.Hangs: "nobody ever replies to",
}

// short is a heading of it.
func (m Moment) short() string {
	switch m.Kind {
	case Again:
		return "called once more"
	case Anew:
		return "loaded anew, and called"
	case Undone:
		return "called, and undone"
	case GoesWrong:
		return fmt.Sprintf("request %d: %s", m.Request, m.Fault)
	case Dies:
		if m.After {
			return fmt.Sprintf("dies after append %d", m.Append)
		}
		return fmt.Sprintf("dies before append %d", m.Append)
	}
	return "undisturbed"
}

// sample draws n of the moments, the same for the same seed; all of them where n is 0 or more than there are. They stay in order.
func sample(all []Moment, n int, seed uint64) []Moment {
	if n <= 0 || n >= len(all) {
		return all
	}
	drawn := map[int]bool{}
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:n] {
		drawn[i] = true
	}
	var some []Moment
	for i, m := range all {
		if drawn[i] {
			some = append(some, m)
		}
	}
	return some
}
