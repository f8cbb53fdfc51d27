package crashtest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/journal"
)

// When is how a Place lies to what is named there.
type When string

// The moments.
const (
	// Before: the append was not made.
	Before When = "before"
	// After: it was made, and nobody was told.
	After When = "after"
	// InFlight: an effect took place and its reply came, and nothing of that is recorded.
	InFlight When = "in flight"
)

// Place is where a process dies. What happens there is named by what is written, and not by a number, so that branches which run at
// once may come by in another order.
type Place struct {
	When When `json:"when"`
	// Kind is the kind of the entry that is appended; "" in flight.
	Kind string `json:"kind,omitempty"`
	// Step is the entry's or the effect's, "" for an entry without one.
	Step journal.Step `json:"step,omitempty"`
	// Nth is the how manieth of that name it is in its process, from 1.
	Nth int `json:"nth"`
}

// String says where it is, such as "before the intent of charge/1".
func (p Place) String() string {
	s := ""
	switch {
	case p.When == InFlight:
		s = fmt.Sprintf("while %s is in flight", p.Step)
	case p.Step == "":
		s = fmt.Sprintf("%s %s", p.When, p.Kind)
	default:
		s = fmt.Sprintf("%s the %s of %s", p.When, p.Kind, p.Step)
	}
	if p.Nth > 1 {
		s += fmt.Sprintf(" (%d)", p.Nth)
	}
	return s
}

// Row is the line of a table that the place belongs to.
func (p Place) Row() string {
	if p.When == InFlight {
		return string(InFlight)
	}
	return p.Kind + " " + string(p.When)
}

// at is the place without the moment.
func (p Place) at(w When) Place {
	p.When = w
	return p
}

// Mark is one thing that a process did: an entry that it appended, or an effect that took place.
type Mark struct {
	Kind string       `json:"kind,omitempty"` // "" for an effect
	Step journal.Step `json:"step,omitempty"`
	Nth  int          `json:"nth"`
	// Rides says that the entry came with others, and would not have been appended by itself.
	Rides bool `json:"rides,omitempty"`
}

// places are the moments at which a process can die there.
func (m Mark) places() []Place {
	p := Place{Kind: m.Kind, Step: m.Step, Nth: m.Nth}
	if m.Kind == "" {
		return []Place{p.at(InFlight)}
	}
	return []Place{p.at(Before), p.at(After)}
}

// Trace is what a process did, in order: appends, each with its entries, and effects.
type Trace [][]Mark

// Places are all places of a trace. Their order does not depend on which of several branches that ran at once came first.
func (t Trace) Places() (all []Place) {
	var marks []Mark
	for _, group := range t {
		kept := slices.DeleteFunc(slices.Clone(group), func(m Mark) bool { return m.Rides })
		if len(kept) == 0 {
			kept = group[len(group)-1:]
		}
		marks = append(marks, kept...)
	}
	for _, m := range inOrder(marks) {
		all = append(all, m.places()...)
	}
	return all
}

// inOrder puts what belongs to branches that ran at once into the order of their names, and leaves everything else where it is.
func inOrder(marks []Mark) []Mark {
	last := map[string]int{}
	for i, m := range marks {
		last[top(m.Step)] = i
	}
	sorted := slices.Clone(marks)
	for begin := 0; begin < len(marks); {
		end := begin // of what overlaps
		for i := begin; i <= end; i++ {
			if marks[i].Step != "" {
				end = max(end, last[top(marks[i].Step)])
			}
		}
		slices.SortStableFunc(sorted[begin:end+1], func(a, b Mark) int {
			if a.Step == "" || b.Step == "" {
				return cmp.Compare(len(a.Step), len(b.Step)) // an entry of the whole run
			}
			return strings.Compare(natural(top(a.Step)), natural(top(b.Step)))
		})
		begin = end + 1
	}
	return sorted
}

// top is the driver's step that a step belongs to, with the question about it.
func top(s journal.Step) string {
	name, _, _ := strings.Cut(string(s.WithoutAttempts()), "/")
	return strings.TrimSuffix(name, "?")
}

var digits = regexp.MustCompile(`[0-9]+`)

// natural is a name in which numbers sort by their value.
func natural(s string) string {
	return digits.ReplaceAllStringFunc(s, func(n string) string {
		v, err := strconv.Atoi(n)
		if err != nil {
			return n
		}
		return fmt.Sprintf("%012d", v)
	})
}
