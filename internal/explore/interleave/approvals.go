package interleave

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// approvals lists the questions that the run asks people now, each with what they may say. The caller holds mu.
func (t *trial) approvals() []question {
	var qs []question
	s := t.store.log.state
	if s.Finished {
		return nil
	}
	for _, step := range s.InOrder() {
		if o := s.Open[step]; o.OnCut != journal.Await || o.Due != 0 {
			continue
		}
		shown := t.store.log.entries[s.Open[step].Seq].Request
		qs = append(qs,
			question{"says yes to", step, t.answering(step, true, shown)},
			question{"says no to", step, t.answering(step, false, shown)},
		)
		if step.Asks() != "" {
			qs = append(qs, question{"says yes with another input to", step, t.editing(step, t.store.log.entries[s.Open[step].Seq])})
		}
	}
	for _, about := range slices.Sorted(maps.Keys(s.Asked)) {
		if a := s.Asked[about]; a.Yes && t.limits.withdrawals > 0 {
			qs = append(qs, question{"takes back the yes to", a.Question, t.answering(about, false, a.Request)})
		}
	}
	return qs
}

// answering answers what a person was shown.
func (t *trial) answering(step journal.Step, yes bool, shown journal.Digest) func(context.Context, *process) error {
	return func(ctx context.Context, p *process) error {
		t.mu.Lock()
		p.shown = shown
		if a, asked := t.store.log.state.Asked[step]; !yes && asked && a.Yes {
			t.limits.withdrawals--
		}
		t.mu.Unlock()
		return p.engine.Answer(ctx, runID, step.First(), runtime.Answer{Yes: yes, Shown: shown.String(), By: p.name})
	}
}

// editing agrees to a call with another input than the one that was shown, which names the operations of the call.
func (t *trial) editing(step journal.Step, asked journal.Entry) func(context.Context, *process) error {
	return func(ctx context.Context, p *process) error {
		t.mu.Lock()
		p.shown = asked.Request
		t.mu.Unlock()
		var was runtime.Shown
		if err := toolabi.Decode(asked.Body, &was); err != nil {
			return err
		}
		input := []byte(`"` + strings.Trim(string(was.Input), `"`) + ` otherwise"`)
		return p.engine.Answer(ctx, runID, step.First(), runtime.Answer{Yes: true, Shown: asked.Request.String(), By: p.name, Input: input})
	}
}

// agreedInput is the input that a yes to a question is for.
func agreedInput(question, yes *journal.Entry) (input string, err error) {
	var s runtime.Shown
	var a runtime.Agreed
	if err := errors.Join(toolabi.Decode(question.Body, &s), toolabi.Decode(yes.Body, &a)); err != nil {
		return "", err
	}
	if a.Input != nil {
		return string(a.Input), nil
	}
	return string(s.Input), nil
}

// checkAnswer holds an answer against what was shown to the person who gives it. The caller holds mu.
func (t *trial) checkAnswer(p *process, e *journal.Entry) {
	o := slices.IndexFunc(t.store.log.entries, func(q journal.Entry) bool { return q.Kind == journal.Intent && q.Step == e.Step })
	if p.isPerson && e.Outcome == journal.OK && t.store.log.entries[o].OnCut == journal.Await && t.store.log.entries[o].Request != p.shown {
		t.violate("YES-TO-ANOTHER", "%s said yes to %s, and was shown something else", p.name, e.Step)
	}
}

// checkAgreed holds the beginning of a call that somebody has to agree to against all that the log says of it before. It
// does not trust what the log was folded to. The caller holds mu.
func (t *trial) checkAgreed(at int) {
	e := &t.store.log.entries[at]
	if e.Step.Asks() != "" || e.Step.Attempt() > 1 || !t.scenario.wantsApproval(e.Name) {
		return
	}
	var question, answer *journal.Entry
	var yes, used bool
	for i := range at {
		switch b := &t.store.log.entries[i]; {
		case b.Kind == journal.Intent && b.Step.Asks() == e.Step:
			question, yes = b, false
		case b.Kind == journal.Intent && b.Step == e.Step:
			used = true
		case question == nil || b.Step != question.Step:
		case b.Kind == journal.Result:
			yes, answer = b.Outcome == journal.OK, b
		case b.Kind == journal.Void, b.Name == journal.RecordWithdrawn:
			yes = false
		}
	}
	switch {
	case question == nil:
		t.violate("UNASKED", "%s begins, and nobody was asked", e.Step)
	case !yes:
		t.violate("UNAGREED", "%s begins, and the last answer is not yes", e.Step)
	case used:
		t.violate("AGREED-ONCE", "%s begins again with the same yes", e.Step)
	case e.Approval != question.Request:
		t.violate("AGREED-TO-ANOTHER", "%s begins with %s, and %s was shown", e.Step, e.Approval.Short(), question.Request.Short())
	case question.Expires != 0 && e.Time > question.Expires:
		t.violate("AGREED-TOO-LATE", "%s begins after its yes has expired", e.Step)
	default:
		if input, err := agreedInput(question, answer); err != nil || input != string(e.Body) {
			t.violate("OTHER-INPUT", "%s begins with %s, and %q was agreed to (%v)", e.Step, e.Body, input, err)
		}
	}
}

// checkEntered holds a tool that is entered against the log: one that somebody has to agree to has begun there.
func (t *trial) checkEntered(p *process, inv toolabi.Invocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	begun := func(e journal.Entry) bool {
		return e.Kind == journal.Intent && e.Name == "m."+inv.Tool && string(e.Body) == string(inv.Input)
	}
	if !p.dead && !p.free && t.scenario.wantsApproval("m."+inv.Tool) && !slices.ContainsFunc(t.store.log.entries, begun) {
		t.violate("ENTERED-UNAGREED", "%s is entered, and the log does not know", inv.Tool)
	}
}

// wantsApproval says whether somebody has to agree to the calls of a tool, by its full name.
func (s *scenario) wantsApproval(name string) bool {
	return slices.ContainsFunc(s.tools, func(t tool) bool { return t.Approval && t.Name == strings.TrimPrefix(name, "m.") })
}
