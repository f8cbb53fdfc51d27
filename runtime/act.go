package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Act is a step of a driver's own, such as asking a model.
type Act struct {
	// Name says what is done, Request with what; both identify the step. Name is recorded, and so is Request unless Bulky.
	Name    string
	Request []byte
	// Bulky keeps only the digest of the request in the log: it is long, and what it is made of is there already.
	Bulky bool
	// Note says what is asked for, for people: with the step in the log, and to whoever observes it.
	Note string
	// Class is toolabi.Read, Effect or Once.
	Class toolabi.Class
	// MaxReply is how long the reply can be, in bytes: as much space is held for it before an effect is announced. 0 means
	// toolabi.MaxOutput.
	MaxReply int64
	// Timeout is how long an effect may be on its way; 0 means 30 s. Do keeps to it by itself.
	Timeout time.Duration
	// Retry says how often the step is attempted in all, and with which pauses; the zero value attempts it once. An attempt
	// is tried again when its error says RetrySafe or RetryAfter: an Effect also when its outcome is unknown, since the next
	// attempt has the same key, and a Once only when it is known that nothing happened.
	Retry toolabi.RetryPolicy
	// Exact says that the Effect of an error of Do is what is known of that attempt, also after BeforeSend has let it go: that
	// the other side refused it without doing anything, for one. It is recorded as the Effect of the attempt's result.
	Exact bool
	// Do does it, once. An error is an outcome too, with toolabi.Failed when it is no *toolabi.Error. After BeforeSend has let
	// an effect go, its outcome is unknown unless the error says EffectApplied, or Exact is set: what was answered belongs into
	// the reply.
	// An unknown outcome of a Once leaves the step uncertain.
	//
	// The context of an effect outlives that of Drive by the engine's Grace. What is still on its way then is given up: a Once
	// is in doubt, and an Effect is done again, under its key, when the run is resumed.
	Do func(ctx context.Context, a Attempt) (reply []byte, err error)
}

// Attempt is what a step's function is given.
type Attempt struct {
	// Key is the idempotency key, "" for a Read. All attempts of a step have the same.
	Key string
	// BeforeSend is called immediately before the first byte leaves. When it returns an error nothing may be sent, and
	// the function returns that error as it is.
	BeforeSend func() error
	// Progress tells whoever observes how far it is. It may be called at any time until the function returns.
	Progress func(text string)
}

// Do does a step of the driver's own, or returns what came of it when the log holds that. Nothing of the journal is held
// meanwhile, so others may read it, cancel the run or answer its questions.
func (r *Run) Do(ctx context.Context, step journal.Step, act Act) ([]byte, error) {
	if act.Class != toolabi.Read && act.Class != toolabi.Effect && act.Class != toolabi.Once {
		return nil, fmt.Errorf("step %s: a driver's own step cannot be of class %s", step, act.Class)
	}
	answered, err := r.ask(step)
	if err != nil {
		return nil, err
	}
	defer answered()
	out, err := r.step(ctx, r.actOp(step, act))
	if err != nil {
		return nil, err
	}
	if out.err != nil {
		return nil, out.err
	}
	return out.reply, nil
}

func (r *Run) actOp(step journal.Step, act Act) op {
	digest := requestDigest(act.Name, act.Request)
	o := op{
		step: step, name: act.Name, class: act.Class, request: act.Request, digest: digest, bulky: act.Bulky,
		note: toolabi.CutText(r.engine.cfg.Secrets.HideText(act.Note), maxNote), // before it is cut: a part of a value is not found
		now:  act.Class != toolabi.Read, timeout: act.Timeout, own: true, retry: act.Retry,
		perform: func(ctx context.Context, in *journal.Entry) (outcome, error) { return r.perform(ctx, step, in, act) },
	}
	if o.timeout == 0 {
		o.timeout = defaultSendTimeout
	}
	if act.MaxReply > 0 {
		o.reply = func() int64 { return act.MaxReply }
	}
	if act.Class != toolabi.Read {
		o.key = func() string { return idempotencyKey(r.engine.identity, r.id, step, digest, 1) }
	}
	return o
}

func (r *Run) perform(ctx context.Context, step journal.Step, in *journal.Entry, act Act) (outcome, error) {
	send := sending{run: r, intent: in}
	a := Attempt{BeforeSend: send.allow}
	if in != nil {
		a.Key, step = in.Key, in.Step
	}
	a.Progress = func(text string) {
		r.engine.observe(Event{Run: r.id, Step: step, Name: act.Name, Class: act.Class, Phase: Progressed, Text: text})
	}
	reply, err := act.Do(ctx, a)
	out, err := send.outcome(reply, err, toolabi.Failed)
	switch {
	case act.Exact && out.err != nil:
		out.effect = max(journal.Effect(out.err.Effect), journal.EffectNone)
	case send.allowed:
		out.err = unlessApplied(out.err) // an error after the first byte does not say that nothing happened
	}
	return out, err
}
