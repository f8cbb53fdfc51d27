package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Whoever agrees to a call can agree to it with another input than the one that was shown. The input is in the answer, so the
// log says for ever who changed what; the intent of the call announces what is done, and names the question as any other does.

// Agreed is the body of a yes to the question whether a call may begin.
type Agreed struct {
	// By is who agreed, Note what they had to say besides.
	By   string `cbor:"1,keyasint"`
	Note string `cbor:"2,keyasint,omitempty"`
	// Input, JSON, takes the place of the input that was shown; nil leaves that.
	Input []byte `cbor:"3,keyasint,omitempty"`
}

// ErrNoInput: the answer has an input, and what it answers has none that could be changed; or it is a no.
var ErrNoInput = errors.New("no input to change")

// readAgreed reads the body of a yes. What an embedder gave as another reply says nothing of an input.
func readAgreed(body []byte) (a Agreed, err error) {
	const aMap = 5 // of the major types of CBOR
	if len(body) == 0 || body[0]>>5 != aMap {
		return a, nil
	}
	return a, toolabi.Decode(body, &a)
}

// judgeEdit holds the input of an answer against the tool that it is for, and takes it out where it is the one that was shown.
// Errors: ErrNoInput, *SecretError, a *toolabi.Error for what the tool's schema refuses.
func (e *Engine) judgeEdit(ctx context.Context, l *loaded, intent *journal.Entry, a *Answer) error {
	if a.Input == nil {
		return nil
	}
	run, step := l.state.Run, intent.Step
	if !a.Yes || step.Asks() == "" {
		return fmt.Errorf("run %s: %s is answered with an input, which only a yes to a call can have: %w", run, step, ErrNoInput)
	}
	if err := e.secretIn(ctx, l, "the input", a.Input); err != nil {
		return err
	}
	shown, err := e.shownIn(ctx, run, intent)
	if err != nil {
		return err
	}
	spec, err := e.readSpec(ctx, l.history.Created())
	if err != nil {
		return err
	}
	_, tool, err := spec.tool(shown.Tool)
	if err != nil {
		return err
	}
	if err := toolabi.StrictJSON(a.Input); err != nil {
		return e.cfg.Secrets.HideError(toolabi.NewError(toolabi.BadInput, fmt.Sprintf("input of %s: not usable as JSON: %v", shown.Tool, err)))
	}
	if err := e.judgeInput(shown.Tool, tool, a.Input); err != nil {
		return err
	}
	if bytes.Equal(a.Input, shown.Input) {
		a.Input = nil
	}
	return nil
}

// shownIn reads what the question about a call is about.
func (e *Engine) shownIn(ctx context.Context, run string, intent *journal.Entry) (shown Shown, err error) {
	body, err := journal.Body(ctx, e.blobs, *intent)
	if err != nil {
		return shown, err
	}
	if err := toolabi.Decode(body, &shown); err != nil {
		return shown, damaged(run, fmt.Errorf("question %s: %w", intent.Step, err))
	}
	return shown, nil
}

// editOf returns who answered a question about a call with another input; nil for nobody, and for what is no such question.
func (e *Engine) editOf(ctx context.Context, run string, past *journal.Past) (*Agreed, error) {
	if past == nil || past.Result == nil || past.Result.Outcome != journal.OK || past.Result.Step.Asks() == "" {
		return nil, nil
	}
	body, err := journal.Body(ctx, e.blobs, *past.Result)
	if err != nil {
		return nil, err
	}
	a, err := readAgreed(body)
	if err != nil {
		return nil, damaged(run, fmt.Errorf("answer to %s: %w", past.Result.Step, err))
	}
	if a.Input == nil {
		return nil, nil
	}
	return &a, nil
}

// withInput is a call with the input that somebody gave it.
func (r *Run) withInput(o op, edit *Agreed) op {
	o.request, o.digest, o.edited = edit.Input, requestDigest(o.name, edit.Input), edit
	if o.wantedEdited != nil {
		o.wanted = o.wantedEdited(edit.Input)
	}
	o.perform = r.entering(o)
	return o
}

// asAgreed is a call as the log holds it: with the input that somebody gave it before it began, or was denied. What was shown
// to them has to be what is asked for now.
func (r *Run) asAgreed(ctx context.Context, o op, known *journal.Entry) (op, error) {
	if !o.enters() {
		return o, nil
	}
	question, past, _ := r.lookup(o.step.Question())
	edit, err := r.engine.editOf(ctx, r.id, past)
	if err != nil || edit == nil || requestDigest(o.name, edit.Input) != known.Request {
		return o, err
	}
	if err := r.sameQuestion(ctx, question, past.Intent, shownOf(o, r.grants)); err != nil {
		return o, err
	}
	return r.withInput(o, edit), nil
}
