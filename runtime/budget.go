package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// RecordBudget is the name of the records that hold what a resume allows from then on, as a Budget.
const RecordBudget = "budget"

// Budget bounds what a run may take in all. A field that is 0 says nothing. The engine keeps it and judges nothing by it: drivers
// do, and stop with a *BudgetError.
type Budget struct {
	// Steps and Tokens are counted as the driver counts them.
	Steps  int64 `cbor:"1,keyasint,omitempty" json:"steps,omitempty"`
	Tokens int64 `cbor:"2,keyasint,omitempty" json:"tokens,omitempty"`
	// Cost is in millionths of the unit of the currency.
	Cost int64 `cbor:"3,keyasint,omitempty" json:"cost_millionths,omitempty"`
	// Time is how long the run may be driven, as Run.Spent counts it, in nanoseconds.
	Time time.Duration `cbor:"4,keyasint,omitempty" json:"time_ns,omitempty"`
}

// IsZero says whether it says nothing.
func (b Budget) IsZero() bool { return b == Budget{} }

// Raised is the budget with what more says in the place of what b does; a field of more that is 0 leaves that of b.
func (b Budget) Raised(more Budget) Budget {
	if more.Steps != 0 {
		b.Steps = more.Steps
	}
	if more.Tokens != 0 {
		b.Tokens = more.Tokens
	}
	if more.Cost != 0 {
		b.Cost = more.Cost
	}
	if more.Time != 0 {
		b.Time = more.Time
	}
	return b
}

// validate refuses what bounds nothing.
func (b Budget) validate() error {
	if b.Steps < 0 || b.Tokens < 0 || b.Cost < 0 || b.Time < 0 {
		return &hostError{fmt.Errorf("a budget of less than nothing: %+v", b)}
	}
	return nil
}

// BudgetError says that a run has taken as much as it may. A driver returns it, and the run stops: it is not closed, and a resume
// that allows more goes on with it.
type BudgetError struct {
	Run string
	// What is "steps", "tokens", "cost" or "time"; Used and Limit are how much of it, for people.
	What, Used, Limit string
}

// Error says how much of what.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("run %s reached its limit of %s: %s of %s", e.Run, e.What, e.Used, e.Limit)
}

func (*BudgetError) stop() string { return journal.StopLimit }

// Budget returns what resumes have said that the run may take, the latest of each field; what the run began with is the driver's
// to know.
func (r *Run) Budget() Budget { return r.budget }

// Spent is how long the run has been driven so far: by earlier processes from their claim to the last that they wrote under it, and
// by this one since its own. Waits for which the run was suspended are not in it, and neither is what a fork was copied from.
func (r *Run) Spent() time.Duration {
	return r.spent.before + max(r.engine.cfg.Now().Sub(time.Unix(0, r.spent.began)), 0)
}

// addBudget records what a resume allows, where it changes something.
func (r *Run) addBudget(ctx context.Context, opts DriveOptions) error {
	more := r.budget.Raised(opts.Budget)
	if more == r.budget {
		return nil
	}
	body, err := toolabi.Encode(opts.Budget)
	if err != nil {
		return err
	}
	rec := journal.Entry{Kind: journal.Record, Name: RecordBudget, By: opts.By}
	if err := journal.SetBody(ctx, r.engine.blobs, &rec, body); err != nil {
		return err
	}
	r.budget = more
	return r.add(rec)
}

// spent is how long a run was driven, folded from its log.
type spent struct {
	before      time.Duration // under claims that have ended
	owner       string        // of the present claim, "" for none
	began, last int64         // the claim, and the last that its owner wrote
}

func (s *spent) add(e journal.Entry) {
	switch {
	case e.Kind == journal.Claimed:
		s.end()
		s.owner, s.began, s.last = e.Owner, e.Time, e.Time
	case e.Kind == journal.Restored:
		s.end()
	case s.owner == "" || e.Owner != s.owner:
	case EndsCopy(e):
		*s = spent{} // all of it was copied
	default:
		if s.last = e.Time; e.Kind == journal.Released || e.Kind == journal.Finished {
			s.end()
		}
	}
}

func (s *spent) end() {
	if s.owner != "" {
		s.before += time.Duration(s.last - s.began)
	}
	s.owner = ""
}
