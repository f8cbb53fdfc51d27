package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Tally counts answers of a model, what they took and what they cost, in millionths.
type Tally struct {
	Answers int
	Usage   model.Usage
	Cost    int64
}

func (t *Tally) add(o Tally) {
	t.Answers, t.Usage, t.Cost = t.Answers+o.Answers, t.Usage.Add(o.Usage), sum(t.Cost, o.Cost)
}

// Less is what t has more than o, which was part of it.
func (t Tally) Less(o Tally) Tally {
	u, v := t.Usage, o.Usage
	return Tally{t.Answers - o.Answers, model.Usage{
		Input: u.Input - v.Input, Output: u.Output - v.Output, CacheRead: u.CacheRead - v.CacheRead, CacheWrite: u.CacheWrite - v.CacheWrite,
	}, t.Cost - o.Cost}
}

// Ledger says what the answers of a model cost a run, from the run's log alone.
type Ledger struct {
	// Priced says that it is known what tokens cost.
	Priced bool
	// Paid are the answers that are recorded. Of these Unused came when nothing could be done about them any more: the run was
	// cancelled, or another process had taken it over; and Replayed were sent again by the provider, which had answered before
	// and recognised the key.
	Paid, Unused, Replayed Tally
	// Served are the answers that were served from the journal instead of being paid for again, each as often as the run was
	// gone on with behind it. What asking for a finished run shows leaves nothing in the log and is not in it.
	Served Tally
	// Twice are requests that may have been paid and have no answer in the log, so that the one that is there for the same
	// question, if there is one, may be the second that was paid.
	Twice []Unanswered
}

// Unanswered is one sending of a request whose answer is not in the log.
type Unanswered struct {
	Run  string
	Step journal.Step
	Key  string
	// At is when it was announced, in nanoseconds since 1970-01-01 UTC.
	At int64
	// Why says what is known.
	Why string
}

// Add adds another run's ledger.
func (l *Ledger) Add(o *Ledger) {
	l.Priced = l.Priced || o.Priced
	l.Paid.add(o.Paid)
	l.Unused.add(o.Unused)
	l.Replayed.add(o.Replayed)
	l.Served.add(o.Served)
	l.Twice = append(l.Twice, o.Twice...)
}

// Bookkeeper makes a ledger of the entries of a run, in their order.
type Bookkeeper struct {
	run    string
	body   func(context.Context, journal.Entry) ([]byte, error)
	ledger Ledger
	prices *Prices

	open      map[journal.Step]journal.Entry // the requests without an answer
	had       Tally                          // the answers that a driving is served
	driving   driving
	cancelled bool
	restored  bool // the log is from a backup, and nothing was asked since
}

// driving is the part of a log between two claims.
type driving struct {
	serves  Tally // what it is served, as long as it is not known that it was
	entries int   // behind the claim
	sends   bool  // it may have sent what is open
}

// NewBookkeeper begins a ledger of a run of this agent.
func NewBookkeeper(run string, a *Agent, body func(context.Context, journal.Entry) ([]byte, error)) *Bookkeeper {
	return &Bookkeeper{
		run: run, body: body, prices: a.Model.Prices, ledger: Ledger{Priced: a.Model.Prices != nil}, open: map[journal.Step]journal.Entry{},
	}
}

// Add takes the next entry. Errors: an answer that cannot be read.
func (b *Bookkeeper) Add(ctx context.Context, e journal.Entry) error {
	switch e.Kind {
	case journal.Claimed:
		b.ends(e)
		if b.driving.sends {
			b.cutOff()
		}
		b.driving = driving{serves: b.had, sends: true}
	case journal.Cancel:
		b.cancelled = true
	case journal.Restored:
		b.restored = true
	case journal.Released, journal.Finished:
		b.ends(e)
		if runtime.EndsCopy(e) { // it was paid for in the other run, and the copy has it for nothing
			b.ledger, b.restored = Ledger{Priced: b.ledger.Priced}, false
		}
	default:
		b.driving.entries++
	}
	if e.Name != StepName {
		return nil
	}
	switch e.Kind {
	case journal.Intent:
		b.open[e.Step] = e
		if b.restored { // how many were, nobody knows here
			b.doubt(e, "the journal was restored from a backup: this request and those after it may have been sent since that was made")
			b.restored = false
		}
	case journal.Result:
		return b.answered(ctx, e)
	case journal.Late:
		return b.late(ctx, e)
	}
	return nil
}

// ends notes what a driving was served, if it was one: whoever drives a run goes through all that it has.
func (b *Bookkeeper) ends(e journal.Entry) {
	d := &b.driving
	if endsOrderly(e) {
		d.sends = false
	}
	switch {
	case runtime.EndsSettling(e):
	case e.Kind == journal.Finished && (e.Outcome == journal.Cancelled || e.Abandon) && d.entries == 0: // it was only closed
	case e.Kind == journal.Claimed && d.entries == 0: // it died before anything is known of it
	default:
		b.ledger.Served.add(d.serves)
	}
	d.serves = Tally{}
}

// endsOrderly says whether a driving that ends with an entry has left nothing on its way: what it sent has a result, and what is
// open was left by others before it. A process that was asked to stop, or that could not go on, may have sent that again.
func endsOrderly(e journal.Entry) bool {
	switch {
	case e.Kind == journal.Finished, runtime.EndsSettling(e):
		return true
	case e.Kind != journal.Released:
		return false
	}
	switch e.Name {
	case journal.StopWaiting, journal.StopLimit, journal.StopDiverged, journal.StopUncertain:
		return true
	}
	return false
}

// cutOff notes the requests that a process had announced and that it left without an answer.
func (b *Bookkeeper) cutOff() {
	for _, step := range slices.Sorted(maps.Keys(b.open)) {
		b.doubt(b.open[step], "the process ended without recording an answer")
	}
}

func (b *Bookkeeper) doubt(in journal.Entry, why string) {
	if brokenNoDoubt {
		return
	}
	b.ledger.Twice = append(b.ledger.Twice, Unanswered{Run: b.run, Step: in.Step, Key: in.Key, At: in.Time, Why: why})
}

// answered takes what came of a request.
func (b *Bookkeeper) answered(ctx context.Context, e journal.Entry) error {
	in, announced := b.open[e.Step]
	delete(b.open, e.Step)
	body, err := b.body(ctx, e)
	if err != nil {
		return err
	}
	if e.Outcome != journal.OK {
		t := new(toolabi.Error)
		if err := toolabi.Decode(body, t); err != nil {
			return fmt.Errorf("%w: entry %d: %w", journal.ErrDamaged, e.Seq, err)
		}
		if announced && e.Effect != journal.EffectNone { // of this attempt; what the error says is true of those before it as well
			b.doubt(in, t.Message)
		}
		return nil
	}
	return b.paid(e, body, b.cancelled)
}

// late takes an answer that came when it could not count any more. It was paid, once.
func (b *Bookkeeper) late(ctx context.Context, e journal.Entry) error {
	if e.Outcome != journal.OK {
		return nil
	}
	body, err := b.body(ctx, e)
	if err != nil {
		return err
	}
	b.forget(e.Step, 1)
	return b.paid(e, body, true)
}

func (b *Bookkeeper) paid(e journal.Entry, body []byte, unused bool) error {
	answer, err := ReadAnswer(body)
	if err != nil {
		return fmt.Errorf("%w: entry %d: %w", journal.ErrDamaged, e.Seq, err)
	}
	one := Tally{1, answer.Usage, b.prices.Of(answer.Usage)}
	b.ledger.Paid.add(one)
	if unused {
		b.ledger.Unused.add(one)
	} else {
		b.had.add(one)
	}
	if answer.Replayed { // so the sendings before it were one and the same payment
		b.ledger.Replayed.add(one)
		b.forget(e.Step, len(b.ledger.Twice))
	}
	return nil
}

// forget takes back so many doubts about a step and its attempts, the latest first.
func (b *Bookkeeper) forget(step journal.Step, most int) {
	for i := len(b.ledger.Twice) - 1; i >= 0 && most > 0; i-- {
		if b.ledger.Twice[i].Step.First() == step.First() {
			b.ledger.Twice = append(b.ledger.Twice[:i], b.ledger.Twice[i+1:]...)
			most--
		}
	}
}

// Paid are the answers so far that are recorded.
func (b *Bookkeeper) Paid() Tally { return b.ledger.Paid }

// Close ends the ledger. driven says that a process drives the run now, so that what has no answer may still get one.
func (b *Bookkeeper) Close(driven bool) *Ledger {
	if b.driving.entries > 0 {
		b.ledger.Served.add(b.driving.serves)
	}
	if !driven && b.driving.sends {
		b.cutOff()
	}
	return &b.ledger
}
