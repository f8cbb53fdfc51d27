package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// picture is a run as show shows it.
type picture struct {
	state *journal.State
	spec  *runtime.Spec
	// grants are those that it began with and what resumes have added.
	grants hostfuncs.Grants
	budget runtime.Budget // what resumes have allowed
	steps  []*stepPicture
	byStep map[journal.Step]*stepPicture
	// driven is when a process drove it, now up to when what is under way is drawn: the last entry, or this moment while it is driven.
	driven []screen.Span
	now    int64
	last   int64 // when its owner appended last
	// artifacts are those that its steps made.
	artifacts []runtime.Artifact
	// stopped is why nobody drives it, late are the outcomes that came too late to count.
	stopped string
	late    []journal.Entry
	// ledger is what the answers of a model cost; nil for a run that asks none.
	// unknown says why that is not known, "" when it is.
	ledger  *agent.Ledger
	unknown string
	// output or failure is how a finished run ended.
	output  []byte
	failure *toolabi.Error
}

// stepPicture is one attempt of a step.
type stepPicture struct {
	step   journal.Step
	name   string
	class  toolabi.Class
	note   string
	began  int64
	ended  int64
	status string // ok, failed, denied, did not happen, open, in doubt
	err    *toolabi.Error
	key    string
	fuel   uint64 // how much a call computed
	onCut  journal.OnCut
	due    int64 // when time lets it go on, and the last moment at which a yes counts; 0 for none
	until  int64
	module journal.Digest
	paid   agent.Tally // for answers of a model
	said   string      // who settled it, and what they wrote
	// shown is what somebody is asked about, edited the input that they put in the place of the one that was shown.
	shown  *runtime.Shown
	edited []byte
}

func readPicture(ctx context.Context, h *wrun.Host, run string) (*picture, error) {
	p := &picture{state: &journal.State{Run: run}, byStep: map[journal.Step]*stepPicture{}}
	spec, err := h.Spec(ctx, run)
	if err != nil {
		return nil, err
	}
	books, err := bookkeeperOf(h, run, spec)
	if err != nil && !errors.Is(err, errNoModel) {
		p.unknown = err.Error() // the rest is shown all the same
	}
	for e, err := range h.Journal().Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		_, open := p.state.Open[e.Step]
		if err := p.state.Apply(e); err != nil {
			return nil, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
		}
		paid := agent.Tally{}
		if books != nil {
			before := books.Paid()
			if err := books.Add(ctx, e); err != nil {
				books, p.unknown = nil, err.Error()
			} else {
				paid = books.Paid().Less(before)
			}
		}
		p.driving(e)
		if err := p.add(ctx, h, e, open); err != nil {
			return nil, err
		}
		if s := p.byStep[e.Step]; s != nil && paid.Answers > 0 { // and not taken back: what a copy had for nothing
			s.paid = paid
		}
	}
	running := h.Status(p.state) == journal.Running
	p.end(running)
	if books != nil {
		p.ledger = books.Close(running)
	}
	p.spec, p.grants = spec, spec.Grants.Union(p.grants)
	p.artifacts, err = h.Artifacts(ctx, run)
	return p, err
}

// add folds an entry; open says whether its step was, before it.
func (p *picture) add(ctx context.Context, h *wrun.Host, e journal.Entry, open bool) error {
	switch e.Kind {
	case journal.Intent, journal.Result, journal.Void:
		s := p.byStep[e.Step]
		if s == nil {
			s = newStepPicture(e)
			p.byStep[e.Step] = s
			p.steps = append(p.steps, s)
		}
		return s.add(ctx, h, e)
	case journal.Record:
		return p.added(ctx, h, e)
	case journal.Released:
		p.stopped = e.Note
	case journal.Late:
		if _, still := p.state.Open[e.Step]; open && !still { // somebody settled it in a run that is closed
			return p.byStep[e.Step].add(ctx, h, e)
		}
		p.late = append(p.late, e)
	case journal.Finished:
		return p.finished(ctx, h, e)
	}
	return nil
}

// end says what open steps mean, and up to when the picture goes.
func (p *picture) end(running bool) {
	if p.now = p.state.Time; running {
		p.now = max(p.now, time.Now().UnixNano())
	}
	if n := len(p.driven); n > 0 && p.driven[n-1].To == 0 {
		if p.driven[n-1].To = p.last; running {
			p.driven[n-1].To = p.now
		}
	}
	for step, open := range p.state.Open {
		p.byStep[step].status = openStatus(open, running)
	}
}

// newStepPicture begins with the entry that names a step first.
func newStepPicture(e journal.Entry) *stepPicture {
	return &stepPicture{
		step: e.Step, name: e.Name, class: toolabi.Class(e.Class), note: e.Note, began: e.Time, key: e.Key,
		onCut: e.OnCut, due: e.Due, until: e.Expires, module: e.Module,
	}
}

// driving notes when a process drove the run: from its claim until it let go, or as long as there are entries of it.
func (p *picture) driving(e journal.Entry) {
	n := len(p.driven)
	open := n > 0 && p.driven[n-1].To == 0
	switch e.Kind {
	case journal.Claimed:
		if open {
			p.driven[n-1].To = p.last
		}
		p.driven = append(p.driven, screen.Span{From: e.Time})
	case journal.Released, journal.Finished:
		if open {
			p.driven[n-1].To = max(e.Time, 1)
		}
	}
	if e.Owner != "" {
		p.last = max(e.Time, 1)
	}
}

// added adds what a resume has granted or allowed.
func (p *picture) added(ctx context.Context, h *wrun.Host, e journal.Entry) error {
	if e.Name != runtime.RecordGrants && e.Name != runtime.RecordBudget {
		return nil
	}
	body, err := h.Body(ctx, e)
	if err != nil {
		return err
	}
	var more hostfuncs.Grants
	var budget runtime.Budget
	if e.Name == runtime.RecordGrants {
		err = toolabi.Decode(body, &more)
	} else {
		err = toolabi.Decode(body, &budget)
	}
	if err != nil {
		return fmt.Errorf("%w: %s in entry %d: %w", journal.ErrDamaged, e.Name, e.Seq, err)
	}
	p.grants, p.budget = p.grants.Union(more), p.budget.Raised(budget)
	return nil
}

// openStatus says what an intent without a result means now.
func openStatus(o journal.OpenStep, running bool) string {
	switch {
	case o.OnCut == journal.Await:
		return "waiting"
	case running:
		return "under way"
	case o.Unsent:
		return "not sent"
	case o.OnCut == journal.Doubt:
		return "in doubt"
	}
	return "open"
}

func (p *picture) finished(ctx context.Context, h *wrun.Host, e journal.Entry) error {
	body, err := h.Body(ctx, e)
	if err != nil {
		return err
	}
	if e.Outcome == journal.OK {
		p.output = body
		return nil
	}
	p.failure = decodeError(body)
	return nil
}

func decodeError(body []byte) *toolabi.Error {
	t := new(toolabi.Error)
	if toolabi.Decode(body, t) != nil {
		return nil
	}
	return t
}

// add folds an entry of the step.
func (s *stepPicture) add(ctx context.Context, h *wrun.Host, e journal.Entry) error {
	switch {
	case e.Kind == journal.Void, e.Kind == journal.Late && e.Outcome != journal.OK && e.Effect == journal.EffectNone:
		s.ended, s.status = e.Time, "did not happen"
	case e.Kind == journal.Result, e.Kind == journal.Late:
		s.ended, s.status, s.fuel = e.Time, e.Outcome.String(), e.Fuel
		if e.Outcome != journal.OK {
			body, err := h.Body(ctx, e)
			if err != nil {
				return err
			}
			s.err = decodeError(body)
		}
	}
	if err := s.addQuestion(ctx, h, e); err != nil {
		return err
	}
	if e.By != "" {
		if s.said = e.By; e.Note != "" {
			s.said += ": " + e.Note
		}
	}
	return nil
}

// addQuestion folds what is asked about a call, and a yes to that.
func (s *stepPicture) addQuestion(ctx context.Context, h *wrun.Host, e journal.Entry) error {
	if e.Step.Asks() == "" || e.Kind != journal.Intent && (e.Kind != journal.Result || e.Outcome != journal.OK) {
		return nil
	}
	body, err := h.Body(ctx, e)
	if err != nil {
		return err
	}
	var asked runtime.Shown
	var yes runtime.Agreed
	switch {
	case e.Kind == journal.Intent && toolabi.Decode(body, &asked) == nil:
		s.shown = &asked
	case e.Kind == journal.Result && toolabi.Decode(body, &yes) == nil:
		s.edited = yes.Input
	}
	return nil
}
