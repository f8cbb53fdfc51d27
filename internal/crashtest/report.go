package crashtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/journal"
)

// Report is what came of a test.
type Report struct {
	// Base is the run that nobody disturbed.
	Base *Trial
	// Places is how many places it comes by, Visited how many of them were visited.
	Places, Visited int
	// Trials are in the order of their numbers.
	Trials []*Trial
	Seed   uint64
}

// Sum adds up trials. The fields are those of Trial.
type Sum struct {
	Kills    int `json:"kills"`
	Acted    int `json:"acted"`
	Again    int `json:"sent_again"`
	Repeated int `json:"repeated"`
	Lost     int `json:"lost"`
	Doubts   int `json:"in_doubt"`
	Found    int `json:"looked_up"`
	Told     int `json:"told"`
	Differs  int `json:"differ"`
	Asked    int `json:"answers"`
	Twice    int `json:"paid_twice"`
	Missed   int `json:"missed"`
	Failed   int `json:"failed"`
}

func (s *Sum) add(t *Trial) {
	s.Kills++
	s.Acted, s.Again, s.Repeated, s.Lost = s.Acted+t.Acted, s.Again+t.Again, s.Repeated+t.Repeated, s.Lost+t.Lost
	s.Doubts, s.Found, s.Told = s.Doubts+t.Doubts, s.Found+t.Found, s.Told+t.Told
	s.Asked, s.Twice = s.Asked+t.Asked, s.Twice+t.Twice
	for _, c := range []struct {
		is bool
		n  *int
	}{{t.Differs, &s.Differs}, {t.Missed, &s.Missed}, {t.Failed(), &s.Failed}} {
		if c.is {
			*c.n++
		}
	}
}

// Sum adds up all trials.
func (r *Report) Sum() (s Sum) {
	for _, t := range r.Trials {
		s.add(t)
	}
	return s
}

// Failed are the trials with something wrong.
func (r *Report) Failed() (failed []*Trial) {
	return slices.DeleteFunc(slices.Clone(r.Trials), func(t *Trial) bool { return !t.Failed() })
}

// kinds are the kinds of entries in the order of the table.
var kinds = []journal.Kind{
	journal.Created, journal.Claimed, journal.Intent, journal.Result, journal.Record, journal.Void, journal.Late, journal.Cancel, journal.Restored,
	journal.Released, journal.Finished,
}

// secondRow is the line of trials with two deaths.
const secondRow = "a second death"

// Rows are the lines of the table, each with what is on it: one for each kind of place that was visited.
func (r *Report) Rows() (names []string, sums []Sum) {
	order := []string{}
	for _, k := range kinds {
		order = append(order, k.String()+" "+string(Before), k.String()+" "+string(After))
		if k == journal.Intent {
			order = append(order, string(InFlight))
		}
	}
	order = append(order, secondRow)
	by := map[string]*Sum{}
	for _, t := range r.Trials {
		row := secondRow
		if len(t.Kills) == 1 {
			row = t.Kills[0].Row()
		}
		if by[row] == nil {
			by[row] = new(Sum)
		}
		by[row].add(t)
	}
	for _, name := range order {
		if s := by[name]; s != nil {
			names, sums = append(names, name), append(sums, *s)
		}
	}
	return names, sums
}

// column is one of the table.
type column struct {
	head  string
	of    func(Sum) int
	model bool // only where a model is asked
}

var columns = []column{
	{"kills", func(s Sum) int { return s.Kills }, false},
	{"acted", func(s Sum) int { return s.Acted }, false},
	{"again", func(s Sum) int { return s.Again }, false},
	{"repeat", func(s Sum) int { return s.Repeated }, false},
	{"lost", func(s Sum) int { return s.Lost }, false},
	{"doubt", func(s Sum) int { return s.Doubts }, false},
	{"found", func(s Sum) int { return s.Found }, false},
	{"told", func(s Sum) int { return s.Told }, false},
	{"other", func(s Sum) int { return s.Differs }, false},
	{"asked", func(s Sum) int { return s.Asked }, true},
	{"twice", func(s Sum) int { return s.Twice }, true},
}

// Table is the report for people, at most 80 columns wide.
func (r *Report) Table() string {
	var b strings.Builder
	all := r.Sum()
	line := func(name string, cell func(column) string) {
		fmt.Fprintf(&b, "%-15s", name)
		for _, c := range columns {
			if !c.model || all.Asked > 0 {
				fmt.Fprintf(&b, "%*s", len(c.head)+1, cell(c))
			}
		}
		b.WriteByte('\n')
	}
	row := func(name string, s Sum) { line(name, func(c column) string { return fmt.Sprint(c.of(s)) }) }
	line("killed", func(c column) string { return c.head })
	names, sums := r.Rows()
	for i, name := range names {
		row(name, sums[i])
	}
	row("total", all)
	return b.String()
}
