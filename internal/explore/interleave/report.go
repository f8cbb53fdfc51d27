package interleave

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Report is what was explored.
type Report struct {
	// Runs are the interleavings, Drives how often a process drove the run in them, Moves how often the scheduler chose.
	Runs, Drives, Moves int
	// Elapsed is the time that it took; of reports that were added, the longest.
	Elapsed  time.Duration
	Failures []Failure
	// Counts estimate how many different logs and states were seen.
	Counts Counts
}

// Failure is an interleaving that broke a promise.
type Failure struct {
	Seed      uint64
	Scenario  string
	Violation Violation
	// Trace says what happened, in the simplest interleaving like it that was found.
	Trace []string
	// Draws repeat it.
	Draws []uint16
}

// Violation is a promise that an interleaving broke.
type Violation struct {
	// Rule is a short name, What says what happened.
	Rule, What string
}

func (v *Violation) Error() string { return v.Rule + ": " + v.What }

// reportMark begins the line that holds a report.
const reportMark = "report "

// Encode returns the report as a line that ReadReport finds again.
func (r *Report) Encode() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // it holds numbers and texts
	}
	return reportMark + string(b)
}

// ReadReport finds a report in what a program has written.
func ReadReport(text string) (*Report, error) {
	for line := range strings.Lines(text) {
		if b, ok := strings.CutPrefix(line, reportMark); ok {
			r := new(Report)
			return r, json.Unmarshal([]byte(b), r)
		}
	}
	return nil, errors.New("a worker has not reported")
}

// Add adds what another one has explored.
func (r *Report) Add(o *Report) {
	r.Runs, r.Drives, r.Moves = r.Runs+o.Runs, r.Drives+o.Drives, r.Moves+o.Moves
	r.Elapsed = max(r.Elapsed, o.Elapsed)
	r.Failures = append(r.Failures, o.Failures...)
	r.Counts.Logs.merge(&o.Counts.Logs)
	r.Counts.States.merge(&o.Counts.States)
}

// Err says that a promise was broken, or nil.
func (r *Report) Err() error {
	if len(r.Failures) == 0 {
		return nil
	}
	return fmt.Errorf("%d interleavings broke a promise", len(r.Failures))
}

// String returns the report for people.
func (r *Report) String() string {
	var b strings.Builder
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\nseed %d (%s)\n%s\n\n", f.Seed, f.Scenario, strings.Join(f.Trace, "\n"))
	}
	fmt.Fprintf(&b, "%d interleavings, %d choices, %d drives, about %d different logs and %d states, in %s: %d broke a promise\n",
		r.Runs, r.Moves, r.Drives, r.Counts.Logs.estimate(), r.Counts.States.estimate(), r.Elapsed.Round(time.Second), len(r.Failures))
	return b.String()
}
