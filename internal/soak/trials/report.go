package trials

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Report is what came of all trials.
type Report struct {
	Provider string
	Seed     uint64
	// Trials are the runs that were driven to their end, Processes the uses of run, resume and resolve.
	Trials, Processes int
	// Kills are the processes that were killed while they ran, and Landed says where.
	Kills  int
	Landed map[Moment]int
	// Resumes are the processes that went on with a run.
	Resumes int
	// Uncertain are the effects of which nobody knew, Happened and DidNotHappen what the ledger said of them.
	Uncertain, Happened, DidNotHappen int
	// Found and NotFound are the effects that were settled by a tool's look-up, as having happened and as not. NotYet are the
	// times that a run was suspended because the look-up had seen nothing and that could not mean anything yet.
	Found, NotFound, NotYet int
	// Again are the attempts at calls that followed a failed one, by the tool's own policy.
	Again int
	// TooSoon are the times that "did not happen" was refused because the request could still be on its way.
	TooSoon int
	// Dropped are the charges whose reply never came or came too late, with nobody killed.
	Dropped int
	// Declined are the runs that failed because the ledger had said no, Unsettled those that failed because it had not made
	// up its mind, and UnsettledMade the charges among the latter that were made in the end.
	Declined, Unsettled, UnsettledMade int
	// Requests are those that the ledgers were asked, Second those among them that were not the first for their charge:
	// under the key of the first, or after somebody had said that it did not happen. Silent are neither.
	Requests, Second, Silent int
	// Charges are those that the ledger has, Repeated the ones among them that should not be there, Missing those that
	// should.
	Charges, Repeated, Missing int
	// Lost are entries that were in a log and are not any more, or not as they were.
	Lost int
	// Busy counts the times that a process gave up because others had the journal, and was started again.
	Busy int
	// Faults say what disagrees. Everything else in a report is of no use when there are any.
	Faults []string

	mu sync.Mutex // guards everything above
}

// minShare is the least part of all kills that has to land between an intent and its result, in percent.
const minShare = 20

// fewKills are too few for a share to mean anything.
const fewKills = 20

// share is that part, in percent. Kills that found an effect in doubt already do not count.
func (r *Report) share() int {
	if r.Kills == 0 {
		return 0
	}
	return 100 * r.Landed[InEffect] / r.Kills
}

// Err says what is wrong, nil when everything agrees and the trials were worth something.
func (r *Report) Err() error {
	var errs []error
	for _, f := range r.Faults {
		errs = append(errs, errors.New(f))
	}
	if r.Repeated > 0 || r.Missing > 0 || r.Lost > 0 || r.Silent > 0 {
		errs = append(errs, fmt.Errorf("%d effects were repeated, %d requests were silent second ones, %d effects are missing, %d entries were lost", r.Repeated, r.Silent, r.Missing, r.Lost))
	}
	if s := r.share(); len(errs) == 0 && r.Kills >= fewKills && s < minShare {
		errs = append(errs, fmt.Errorf("only %d %% of the kills landed between an intent and its result, want %d %%", s, minShare))
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
	fmt.Fprintf(&b, "provider %s: %d kills in %d trials, seed %d\n\nwhere they landed\n", r.Provider, r.Kills, r.Trials, r.Seed)
	for _, m := range Moments {
		n := r.Landed[m]
		fmt.Fprintf(&b, "  %-40s %5d  %s\n", m, n, strings.Repeat("#", n*40/most))
	}
	fmt.Fprintf(&b, "  %d %% between an intent and its result\n\n", r.share())
	for _, l := range []struct {
		what string
		n    int
	}{
		{"processes", r.Processes}, {"resumes", r.Resumes}, {"replies that did not come in time", r.Dropped},
		{"uncertain effects", r.Uncertain}, {"resolved as happened", r.Happened}, {"resolved as did not happen", r.DidNotHappen},
		{"said too soon, and refused", r.TooSoon}, {"found by a look-up", r.Found}, {"not found, once settled", r.NotFound},
		{"looked up too soon, and suspended", r.NotYet}, {"further attempts at calls", r.Again}, {"runs that were declined", r.Declined},
		{"runs that were left unsettled", r.Unsettled}, {"charges of those", r.UnsettledMade},
		{"waits for a busy journal", r.Busy}, {"requests at the ledgers", r.Requests}, {"second sends", r.Second},
		{"charges in the ledgers", r.Charges}, {"silent second sends", r.Silent}, {"repeated effects", r.Repeated}, {"missing effects", r.Missing}, {"lost entries", r.Lost},
	} {
		fmt.Fprintf(&b, "%-34s %6d\n", l.what, l.n)
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
