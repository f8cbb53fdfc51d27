package agents

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Moment is where a kill landed, read from the log that it left.
type Moment string

// The moments.
const (
	BeforeCreated Moment = "before the run was created"
	Thinking      Moment = "between a request to the model and its answer"
	Acting        Moment = "between intent and result of a charge"
	Elsewhere     Moment = "anywhere else in agent or resume"
	Approving     Moment = "in wrun approve"
	Resolving     Moment = "in wrun resolve"
	AfterFinished Moment = "after the end was recorded"
)

// Moments lists all moments.
var Moments = []Moment{BeforeCreated, Thinking, Acting, Elsewhere, Approving, Resolving, AfterFinished}

func momentOf(log []entry) Moment {
	switch steps := open(log); {
	case len(log) == 0:
		return BeforeCreated
	case has(log, "finished"):
		return AfterFinished
	case len(steps) > 0 && steps[len(steps)-1].thinks():
		return Thinking
	case len(inDoubt(log)) > 0:
		return Acting
	}
	return Elsewhere
}

// Report is what came of all trials.
type Report struct {
	Seed uint64
	// Trials are the runs that were driven to their end, Processes the uses of agent, resume, approve and resolve.
	Trials, Processes int
	// Kills are the processes that were killed while they ran, and Landed says where.
	Kills  int
	Landed map[Moment]int
	// Approved are the questions that were answered, Uncertain the effects of which nobody knew.
	Approved, Uncertain int
	// Requests are those that reached the providers, Bills those that they worked on, and Sent the answers that they sent
	// again because they knew the key.
	Requests, Bills, Replayed int
	// Answers are those that are recorded. Double are the bills beyond one for each of them; Doubts is how many "wrun cost" says
	// may have been paid twice, and Surplus how many of these were not.
	Answers, Double, Doubts, Surplus int
	// Hidden are bills that are neither an answer nor in doubt, Repeated charges that should not be there, Missing those that
	// should, Lost entries that were in a log and are not any more, or not as they were.
	Hidden, Repeated, Missing, Lost int
	// Busy counts the times that a process gave up because others had the journal, and was started again.
	Busy int
	// Faults say what disagrees. Everything else in a report is of no use when there are any.
	Faults []string

	mu sync.Mutex // guards everything above
}

// minShare is the least part of all kills that has to land while the model is asked, in percent, where there are enough for that.
const (
	minShare = 15
	fewKills = 20
)

func (r *Report) share() int {
	if r.Kills == 0 {
		return 0
	}
	return 100 * r.Landed[Thinking] / r.Kills
}

// Err says what is wrong, nil when everything agrees and the trials were worth something.
func (r *Report) Err() error {
	var errs []error
	for _, f := range r.Faults {
		errs = append(errs, errors.New(f))
	}
	if r.Hidden > 0 || r.Repeated > 0 || r.Missing > 0 || r.Lost > 0 {
		errs = append(errs, fmt.Errorf("%d payments are hidden, %d effects were repeated, %d are missing, %d entries were lost", r.Hidden, r.Repeated, r.Missing, r.Lost))
	}
	if s := r.share(); len(errs) == 0 && r.Kills >= fewKills && s < minShare {
		errs = append(errs, fmt.Errorf("only %d %% of the kills landed while the model was asked, want %d %%", s, minShare))
	}
	return errors.Join(errs...)
}

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	most := 1
	for _, n := range r.Landed {
		most = max(most, n)
	}
	fmt.Fprintf(&b, "agents: %d kills in %d trials, seed %d\n\nwhere they landed\n", r.Kills, r.Trials, r.Seed)
	for _, m := range Moments {
		n := r.Landed[m]
		fmt.Fprintf(&b, "  %-46s %5d  %s\n", m, n, strings.Repeat("#", n*40/most))
	}
	fmt.Fprintf(&b, "  %d %% while the model was asked\n\n", r.share())
	for _, l := range []struct {
		what string
		n    int
	}{
		{"processes", r.Processes}, {"questions agreed to", r.Approved}, {"uncertain effects, resolved", r.Uncertain},
		{"waits for a busy journal", r.Busy}, {"requests to the models", r.Requests}, {"answers sent again for a known key", r.Replayed},
		{"bills", r.Bills}, {"recorded answers", r.Answers}, {"double bills", r.Double}, {"possibly paid twice, in the ledger", r.Doubts},
		{"of these not paid twice", r.Surplus}, {"hidden payments", r.Hidden}, {"repeated effects", r.Repeated},
		{"missing effects", r.Missing}, {"lost entries", r.Lost},
	} {
		fmt.Fprintf(&b, "%-36s %6d\n", l.what, l.n)
	}
	return b.String()
}

// tell changes the report.
func (r *Report) tell(f func(*Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
}

// landed counts a kill.
func (r *Report) landed(m Moment) {
	r.tell(func(r *Report) { r.Kills++; r.Landed[m]++ })
}

func (r *Report) kills() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Kills
}
