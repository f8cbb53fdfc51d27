package trials

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// provider is what the runs are driven against: how the ledger treats them, and with which tools they ask.
type provider struct {
	name      string
	calls     int
	pairs     []int            // the calls that make two charges
	tool      func(int) string // of a call that makes one
	timeoutMS int              // how long the tools wait for a reply; 0 leaves it to them
	base      ledger.Behaviour
	spots     []spot        // where traps spring
	late      time.Duration // the longest that a request is worked on
	// waits: the person waits until a request cannot be on its way any more, and never says --now. Elsewhere it is known
	// when everything has arrived.
	waits bool
	// hurries: a process that follows a death does not wait until all that the dead one sent has been dealt with.
	hurries bool
	// refuses: a call may fail, and the run with it.
	refuses bool
	// alone: nobody is ever asked.
	alone bool
	// settle: the tool has a look-up, which wrun asks, and this is how long the ledger may work on a request, as the
	// module's manifest says; 0 for tools without one.
	settle time.Duration
}

// replyTimeout is how long the tools wait for the provider that is late. What is on its way for longer is later than a
// request may be.
const replyTimeout = 2 * time.Second

func always(tool string) func(int) string { return func(int) string { return tool } }

// providers are those that trials know. The first is meant where none is named.
var providers = []provider{
	{
		name: "mixed", calls: 20, pairs: []int{4, 11, 20}, tool: always("charge"),
		spots: []spot{arrived, accepted, accepted, halfway, replied, dropped},
	},
	{ // honours the key, replies or not
		name: "honours", calls: 8, tool: always("charge_keyed"), base: ledger.Behaviour{HonourKeys: true},
		spots: []spot{arrived, accepted, accepted, halfway, replied, dropped}, alone: true,
	},
	{ // takes every request for a new one
		name: "ignores", calls: 8, pairs: []int{4, 8}, tool: always("charge"),
		spots: []spot{arrived, accepted, accepted, halfway, replied},
	},
	{ // acts and closes the connection
		name: "drops", calls: 8, pairs: []int{4}, tool: always("charge"),
		spots: []spot{dropped, dropped, cut, cut, cut, accepted},
	},
	{ // acts when whoever asked is gone
		name: "late", calls: 6, pairs: []int{3}, tool: always("charge"), timeoutMS: int(replyTimeout.Milliseconds()),
		spots: []spot{later, later, later, tooLate, mute, arrived, accepted}, late: 1500 * time.Millisecond, waits: true, hurries: true,
	},
	{ // says no for the time being, and for good
		name: "conflict", calls: 8, tool: keyedMostly, base: ledger.Behaviour{HonourKeys: true},
		spots: []spot{later, later, later, conflict, conflict, unprocessable, arrived, accepted, halfway}, late: 4 * time.Second,
		hurries: true, refuses: true,
	},
	{ // takes every request for a new one, and the tool looks what became of the one before
		name: "lookup", calls: 8, tool: always("charge_lookup"), timeoutMS: 1000,
		spots: []spot{arrived, accepted, accepted, halfway, replied, dropped, cut}, alone: true, settle: chargeSettle,
	},
	{ // the same, and there is nothing to be seen before whoever looks has to have waited
		name: "lookup-late", calls: 6, tool: always("charge_lookup"), timeoutMS: int(replyTimeout.Milliseconds()),
		spots: []spot{later, later, later, tooLate, mute, arrived, accepted}, late: 4 * time.Second, hurries: true, alone: true,
		settle: chargeSettle,
	},
}

// chargeSettle is the settle time of charge_lookup.
const chargeSettle = 5 * time.Second

func keyedMostly(call int) string {
	if call == 5 {
		return "charge"
	}
	return "charge_keyed"
}

// Providers lists the names of all providers.
func Providers() []string {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

func providerByName(name string) (*provider, error) {
	for i := range providers {
		if providers[i].name == name || name == "" {
			return &providers[i], nil
		}
	}
	return nil, fmt.Errorf("provider %q is none of %s", name, strings.Join(Providers(), ", "))
}

func (p *provider) isPair(call int) bool { return slices.Contains(p.pairs, call) }
