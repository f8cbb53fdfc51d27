package main

import (
	"cmp"
	"slices"

	"github.com/wrun-dev/wrun/journal"
)

// firstRuns keeps the first n of some runs in an order, or all of them when n is 0. It never holds more than 2n.
type firstRuns struct {
	n     int
	order func(s, other *journal.State) int
	runs  []*journal.State
}

// add takes a run in, which must not change afterwards.
func (f *firstRuns) add(s *journal.State) {
	if f.runs = append(f.runs, s); f.n > 0 && len(f.runs) == 2*f.n {
		f.sorted()
	}
}

// sorted returns the runs that it keeps, in order.
func (f *firstRuns) sorted() []*journal.State {
	slices.SortStableFunc(f.runs, f.order)
	if f.n > 0 && len(f.runs) > f.n {
		clear(f.runs[f.n:])
		f.runs = f.runs[:f.n]
	}
	return f.runs
}

// lastFirst is the order in which the run comes first whose last entry is the latest, and of the same moment the one whose id does.
func lastFirst(s, other *journal.State) int {
	return cmp.Or(cmp.Compare(other.Time, s.Time), cmp.Compare(s.Run, other.Run))
}

// beganLast is the order in which the run comes first that began last, and of the same moment the one whose id does.
func beganLast(s, other *journal.State) int {
	return cmp.Or(cmp.Compare(other.Began, s.Began), cmp.Compare(s.Run, other.Run))
}
