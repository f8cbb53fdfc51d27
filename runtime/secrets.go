package runtime

import (
	"context"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// No value of a secret is written into a log or said to people. What is asked for with one in it is refused before anything is
// written about it; what came with one in it is recorded as an error; what is said has a mark in its place. All of it concerns
// the values that this process has read: those of an exchange are read before it begins.

// withoutSecret is a step as it may be begun: one whose request holds a value is refused, and nothing is said of what it asks for.
func (e *Engine) withoutSecret(o op) op {
	what := "the request of " + o.name
	if o.enters() {
		what = "the input of " + o.name
	}
	if refused := e.holdsSecret(what, o.request); refused != nil {
		o.refused, o.note = refused, ""
	}
	return o
}

// holdsSecret refuses what holds a value, and never shows it; nil for what holds none.
func (e *Engine) holdsSecret(what string, b []byte) *toolabi.Error {
	name := e.cfg.Secrets.Find(b)
	if name == "" {
		return nil
	}
	t := toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s holds the value of secret %s, which is written nowhere: it is sent where a header or a body refers to it as %s",
		what, name, toolabi.SecretRef(name)))
	t.Detail = toolabi.DetailSecret
	return t
}

// withoutSecrets returns what came of a step as it can be recorded. An output or a reply is never altered: one that holds a value
// is not served, and what it was an answer to has taken place all the same.
func (r *Run) withoutSecrets(o op, step journal.Step, out outcome) outcome {
	out.err = r.engine.cfg.Secrets.HideError(out.err)
	name := r.engine.cfg.Secrets.Find(out.reply)
	if out.err != nil || name == "" {
		return out
	}
	code, whose := toolabi.Internal, "the reply of "+o.name
	if o.enters() {
		code, whose = toolabi.Denied, "the output of "+o.name
	}
	out.reply, out.writes = nil, nil
	out.err = toolabi.NewError(code, fmt.Sprintf("%s holds the value of secret %s, which is written nowhere; it is not recorded", whose, name))
	out.err.Detail = toolabi.DetailSecret
	switch {
	case isEffect(uint8(o.class)):
		out.err.Effect = toolabi.EffectApplied
	case o.enters():
		out.err.Effect = r.effectOf(step, o.tool.Declared())
	}
	return out
}

// effectOf is what is known of the effects of a call that has ended.
func (r *Run) effectOf(call journal.Step, declared toolabi.Idempotency) toolabi.EffectState {
	touched, asked := false, 0
	r.log.view(func(h *journal.History, s *journal.State) { touched, asked = s.Open[call].Touched, h.Children(call) })
	switch {
	case touched:
		return toolabi.EffectApplied
	case asked > 0 && declared != toolabi.Pure && declared != toolabi.ReadOnly:
		return toolabi.EffectUnknown
	}
	return toolabi.EffectNone
}

// quiet returns an error that says the same without values, before anybody cuts its text: a part of a value is not found. A driver that
// panics says what it had in its hands.
func (e *Engine) quiet(err error) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	if text := e.cfg.Secrets.HideText(said); text != said {
		return &quietError{text, err}
	}
	return err
}

// quietError is an error with another text.
type quietError struct {
	text string
	err  error
}

func (e *quietError) Error() string { return e.text }
func (e *quietError) Unwrap() error { return e.err }

// unsaid returns an entry without values in what was said with it.
func (e *Engine) unsaid(entry journal.Entry) journal.Entry {
	entry.Note, entry.By = e.cfg.Secrets.HideText(entry.Note), e.cfg.Secrets.HideText(entry.By)
	return entry
}

// SecretError says that what somebody gave holds the value of a secret, and was not written.
type SecretError struct {
	Run string
	// What was given, Name the secret's.
	What, Name string
}

// Error says what to do.
func (e *SecretError) Error() string {
	return fmt.Sprintf("run %s: %s holds the value of secret %s, which is written nowhere; give it with %s in its place",
		e.Run, e.What, e.Name, toolabi.SecretMark(e.Name))
}

// secretIn returns a *SecretError for what a person gave, or nil. The secrets of the run are read for it, as far as they can be.
func (e *Engine) secretIn(ctx context.Context, l *loaded, what string, given []byte) error {
	if len(given) == 0 || e.cfg.Secrets == nil {
		return nil
	}
	spec, err := e.readSpec(ctx, l.history.Created())
	if err != nil {
		return err
	}
	grants := []hostfuncs.Grants{spec.Grants, l.grants}
	for _, m := range spec.Modules {
		grants = append(grants, m.Grants)
	}
	for _, g := range grants {
		for _, s := range g.Secrets {
			e.cfg.Secrets.Has(ctx, hostfuncs.Call{Grants: g}, s.Name)
		}
	}
	if name := e.cfg.Secrets.Find(given); name != "" {
		return &SecretError{Run: l.state.Run, What: what, Name: name}
	}
	return nil
}

// secretInSpec returns a *SecretError for a run that is made of something with a value in it, or nil.
func (e *Engine) secretInSpec(run string, spec *Spec) error {
	grants, err := toolabi.Encode(spec.Grants)
	if err != nil {
		return err
	}
	labels := []byte(strings.Join(labelTexts(spec.Labels), "\n"))
	for what, b := range map[string][]byte{"its plan": spec.Plan, "its input": spec.Input, "one of its grants": grants, "a label": labels} {
		if name := e.cfg.Secrets.Find(b); name != "" {
			return &SecretError{Run: run, What: what, Name: name}
		}
	}
	return nil
}
