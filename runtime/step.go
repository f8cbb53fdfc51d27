package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// op is one step as it is asked for.
type op struct {
	step    journal.Step // the first attempt
	name    string
	class   toolabi.Class
	module  journal.Digest
	request []byte
	digest  journal.Digest
	note    string         // what is asked for, for people
	now     bool           // the result never waits for another append
	again   bool           // it was cut off, and is done again
	refused *toolabi.Error // it must not be executed: this is its outcome
	bulky   bool           // the request is not kept, only its digest
	keyTTL  time.Duration  // how long the provider remembers the key; 0: for ever
	timeout time.Duration  // how long an effect may be on its way
	room    *held          // space for what will come of it, while there is some
	reply   func() int64   // how long its reply can be, in bytes; nil: as a tool's output
	key     func() string  // derives the idempotency key; nil: the step has none

	own          bool                  // the driver does it itself
	frame        *frame                // the call that asks, nil for the driver
	callee       Module                // of a call: the module that is entered
	mounts       []toolabi.Mount       // of a call: the directories that it gets
	tool         toolabi.Tool          // of a call: the tool of it
	unasked      bool                  // of a call: nobody is asked whether it may begin
	wanted       Decision              // of a call: what its driver wants
	wantedEdited func([]byte) Decision // the same with another input; nil for the same
	edited       *Agreed               // of a call: who put another input in the place of what was asked for; nil for nobody
	retry        toolabi.RetryPolicy   // of a call, or of the driver's own step: how it is tried again
	anyFailure   bool                  // of a call: after whatever is not a refusal

	pending func() (hostfuncs.Pending, error) // of class Wait: what is waited for
	perform func(ctx context.Context, intent *journal.Entry) (outcome, error)
}

// outcome is what came of a step.
type outcome struct {
	reply  []byte
	err    *toolabi.Error
	effect journal.Effect  // what is known of this attempt alone; 0 where err says it
	sent   int64           // bytes written, of an effect whose outcome is not known
	ended  bool            // of an opaque call: the program has ended, and what it did stays as it is
	fuel   uint64          // of a call: how much it computed
	unsent bool            // it was stopped before anything could leave
	writes []journal.Write // changes of state that belong to it
	holds  *holding        // the artifacts that belong to it; nil for none
	at     int64           // when it became known
	served bool            // it came from the log
	edited *Agreed         // of a call: who changed its input
}

// precious returns the reply that must not be lost even if it cannot be recorded: an effect's, of one that succeeded.
func (out outcome) precious(o op) []byte {
	if !isEffect(uint8(o.class)) || out.err != nil {
		return nil
	}
	return out.reply
}

// step takes one step into the log and out of it. It is the only way.
//
// An error ends the driving of the run; what a tool or a driver may handle is in the outcome.
func (r *Run) step(ctx context.Context, o op) (outcome, error) {
	for {
		if err := r.stoppedBy(); err != nil {
			return outcome{}, err
		}
		step, past, open := r.lookup(o.step)
		out, err := r.advance(ctx, o, step, past, open)
		if errors.Is(err, errMoved) {
			continue
		}
		var cut *cutError
		if errors.As(err, &cut) {
			return outcome{}, err // the call ends, and the run goes on
		}
		var waits *WaitingError
		if errors.As(err, &waits) {
			r.noteWaiting(waits)
			return outcome{}, err // this branch ends, and others go on
		}
		if err != nil {
			return outcome{}, r.halt(r.describeFence(r.stopFor(step, err)))
		}
		return out, nil
	}
}

// lookup returns the latest attempt of a step, what the log holds of it, and what that means while it is open.
func (r *Run) lookup(step journal.Step) (latest journal.Step, past *journal.Past, open journal.OpenStep) {
	r.log.view(func(h *journal.History, s *journal.State) {
		var p *journal.Past
		latest, p = h.Latest(step)
		open = s.Open[latest]
		if p != nil && p.Known() != nil {
			c := *p
			past = &c
		}
	})
	return latest, past, open
}

// advance is the recovery table: what the log holds of the step decides what is done.
func (r *Run) advance(ctx context.Context, o op, step journal.Step, past *journal.Past, open journal.OpenStep) (outcome, error) {
	if past != nil {
		var err error
		if o, err = r.asAgreed(ctx, o, past.Known()); err != nil {
			return outcome{}, err
		}
		if err := r.same(o, step, past.Known()); err != nil {
			return outcome{}, err
		}
		o = o.asAnnounced(past.Known())
	}
	switch {
	case past == nil:
		return r.attempt(ctx, o, step, nil)
	case past.Result != nil && past.Result.Retry:
		return r.nextAttempt(ctx, o, step, past)
	case past.Result != nil:
		return r.serve(ctx, o, step, *past.Result)
	case past.Void != nil:
		return r.attempt(ctx, o, step.At(step.Attempt()+1), past)
	}
	return r.reopen(ctx, o, step, past, open)
}

// same holds what is asked for against what the log holds.
func (r *Run) same(o op, step journal.Step, known *journal.Entry) error {
	what := ""
	switch {
	case known.Name != o.name:
		what = fmt.Sprintf("it asks for %s, the log holds %s", o.name, known.Name)
	case known.Module != o.module:
		what = fmt.Sprintf("it enters module %s, the log holds module %s", o.module.Short(), known.Module.Short())
	case known.Request != o.digest:
		what = fmt.Sprintf("it asks %s with another request (digest %s) than the log holds (%s)", o.name, o.digest.Short(), known.Request.Short())
	default:
		return nil
	}
	return &DivergedError{Run: r.id, Step: step, What: what}
}

// serve answers from the log.
func (r *Run) serve(ctx context.Context, o op, step journal.Step, result journal.Entry) (outcome, error) {
	body, err := journal.Body(ctx, r.engine.blobs, result)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{at: result.Known(), served: true, edited: o.edited}
	if result.Outcome == journal.OK {
		out.reply = body
	} else {
		out.err = new(toolabi.Error)
		if err := toolabi.Decode(body, out.err); err != nil {
			return outcome{}, damaged(r.id, fmt.Errorf("result of %s: %w", step, err))
		}
	}
	r.count(func(c *Counts) { c.Served++ })
	r.observe(o, step, Event{Phase: Served, Err: out.err, Size: int64(len(out.reply))})
	return out, nil
}

// reopen goes on with a step that was cut off.
func (r *Run) reopen(ctx context.Context, o op, step journal.Step, past *journal.Past, open journal.OpenStep) (outcome, error) {
	switch open.OnCut {
	case journal.Doubt:
		if open.Unsent {
			return outcome{}, r.void(step, past)
		}
		if interrupted(ctx) {
			return outcome{}, r.ended(ctx)
		}
		if ctx.Err() != nil { // the call has used up its time, and cannot end while this is open
			return outcome{}, r.uncertain(step, past)
		}
		if o.frame != nil {
			defer o.frame.pause()() // nor does its time run meanwhile
		}
		return outcome{}, r.lookUp(ctx, step, past)
	case journal.Await:
		return r.goOnWaiting(ctx, o, step, past.Intent)
	}
	if err := r.mayBegin(ctx, o, step); err != nil {
		return outcome{}, err
	}
	if why := r.expired(o, past.Intent.Key); why != "" {
		return outcome{}, r.nowInDoubt(step, why)
	}
	o.again = true
	done, err := r.hold(ctx, &o)
	if err != nil {
		return outcome{}, err
	}
	defer done()
	if o.enters() {
		// A crash without progress is on the disk before the module is entered again.
		if err := r.flushUnlessFusing(); err != nil {
			return outcome{}, err
		}
		if err := r.mayBegin(ctx, o, step); err != nil { // that took time
			return outcome{}, err
		}
	}
	return r.execute(ctx, o, step, past.Intent)
}

func (r *Run) flushUnlessFusing() error {
	fuses := true
	r.log.view(func(_ *journal.History, s *journal.State) { fuses = s.Fuses() })
	if fuses {
		return nil
	}
	return r.log.flush()
}

// attempt begins an attempt that the log does not hold. before is the attempt before it, whose key, seed and start it
// inherits.
func (r *Run) attempt(ctx context.Context, o op, step journal.Step, before *journal.Past) (outcome, error) {
	o = r.engine.withoutSecret(o)
	if err := r.mayBegin(ctx, o, step); err != nil {
		return outcome{}, err
	}
	if err := r.withinQuota(ctx, step); err != nil {
		return outcome{}, err
	}
	var approval journal.Digest
	if o.enters() && o.refused == nil && !o.unasked && before == nil {
		var err error
		if o, approval, err = r.agreed(ctx, o); err != nil {
			return outcome{}, err
		}
	}
	if o.refused == nil && o.key != nil && o.class == toolabi.Effect {
		if err := r.mindKey(ctx, &o, before); err != nil {
			return outcome{}, err
		}
	}
	switch {
	case o.refused != nil:
		return r.record(ctx, o, step, nil, outcome{err: o.refused})
	case o.class == toolabi.Read || o.class == toolabi.Local:
		return r.execute(ctx, o, step, nil)
	}
	if o.enters() && isEffect(uint8(o.class)) { // what takes time comes first, since a crash behind the intent leaves it in doubt
		if err := r.prepare(ctx, o.callee, r.engine.cfg.Invoker); err != nil {
			return outcome{}, err
		}
		if err := r.mayBegin(ctx, o, step); err != nil {
			return outcome{}, err
		}
	}
	done, err := r.hold(ctx, &o)
	if err != nil {
		return outcome{}, err
	}
	defer done()
	intent, err := r.intent(ctx, o, step, before)
	if err != nil {
		return outcome{}, err
	}
	if o.class == toolabi.Wait {
		return r.await(ctx, o, step, intent)
	}
	intent.Approval = approval
	durable := o.class != toolabi.Call || !approval.IsZero()
	if !durable {
		r.log.view(func(_ *journal.History, s *journal.State) { durable = !s.Fuses() })
	}
	if brokenNoIntent && isEffect(uint8(o.class)) {
		return r.executeFirst(ctx, o, step, intent)
	}
	intent, err = r.log.add(intent, durable)
	if errors.Is(err, journal.ErrExpired) {
		err = errMoved // the time ran out just now
	}
	if err != nil {
		return outcome{}, err
	}
	return r.execute(ctx, o, step, &intent)
}

// mayBegin says why no step is begun or done again, or nil.
func (r *Run) mayBegin(ctx context.Context, o op, step journal.Step) (err error) {
	if ctx.Err() != nil {
		return r.ended(ctx)
	}
	if err := r.log.over(); err != nil {
		return err
	}
	if o.refused == nil {
		if err := usable(r.id, o.callee.granted(r.grants), o.mounts); err != nil {
			return err
		}
	}
	r.log.view(func(_ *journal.History, s *journal.State) {
		switch {
		case s.CancelAsked && !brokenBlindAppend:
			err = fmt.Errorf("%w: %s is not started", journal.ErrCancelled, step)
		case s.Late > 0:
			err = &LateError{Run: r.id}
		case s.Unconfirmed && o.keyTTL != 0 && o.refused == nil: // its key may have been used after the backup, and be forgotten
			err = &UnconfirmedError{Run: r.id, Step: step}
		}
	})
	return err
}

// execute does the step now. intent is nil for what needs none.
func (r *Run) execute(ctx context.Context, o op, step journal.Step, intent *journal.Entry) (outcome, error) {
	r.observe(o, step, Event{Phase: Begun, Began: announced(intent), Request: o.request})
	r.count(func(c *Counts) { c.Executed++ })
	if o.class == toolabi.Local { // two that look at the same key and then write it would keep each other from it
		r.local.Lock()
		defer r.local.Unlock()
	}
	doing := ctx
	once := o.class == toolabi.Once
	if once || o.own && o.class == toolabi.Effect { // the reply to the driver's own effect may have cost something
		var done func()
		doing, done = r.engine.unhurried(ctx, once)
		defer done()
	}
	if brokenResultFirst && once && intent != nil {
		return r.recordFirst(ctx, doing, o, step, intent)
	}
	out, err := o.perform(doing, intent)
	defer func() { out.holds.release() }()
	if err != nil {
		if once && out.unsent {
			r.noteUnsent(*intent, err)
		}
		return outcome{}, err
	}
	if !once && out.err != nil && interrupted(doing) {
		return outcome{}, r.ended(ctx) // the error is the interruption's, not the step's
	}
	before := o.again && o.class == toolabi.Effect
	if !before && out.err != nil && o.own && intent != nil {
		if before, err = r.mayHaveHappened(ctx, intent.Step); err != nil {
			return outcome{}, err
		}
	}
	if before {
		out.err = unlessApplied(out.err) // what it says is true of this attempt; the one before it may have taken place
	}
	return r.record(ctx, o, step, intent, out)
}

// record writes what came of a step.
func (r *Run) record(ctx context.Context, o op, step journal.Step, intent *journal.Entry, out outcome) (outcome, error) {
	o.room.free()
	refused := out.err != nil && out.err == o.refused
	if out = r.withoutSecrets(o, step, out); refused {
		o.refused = out.err
	}
	if o.class == toolabi.Once && out.err != nil && out.err.Effect == toolabi.EffectUnknown && intent != nil && !out.ended {
		if !brokenUnknownShown {
			return outcome{}, r.doubt(ctx, step, *intent, out)
		}
		known := *out.err
		known.Effect = toolabi.EffectNone
		out.err = &known
	}
	if out.err != nil && out.err != o.refused { // what is shown now is what a replay will show
		out.err = readable(out.err)
	}
	result, err := r.resultEntry(ctx, o, step, intent, out)
	if due, again := r.retries(o, step, out.err); again && err == nil {
		result.Retry, result.Due = true, due
	}
	if err != nil {
		if reply := out.precious(o); reply != nil {
			r.rescue(step, o.name, reply)
		}
		return outcome{}, err
	}
	local := o.class == toolabi.Local && o.refused == nil // also where it changed nothing, such as a comparison that failed
	durable := o.class == toolabi.Once && intent != nil || o.now || len(result.Writes) > 0 || local || answerable(intent)
	result, err = r.log.addReply(result, out.precious(o), durable)
	if err != nil {
		return outcome{}, err
	}
	out.at, out.edited = result.Known(), o.edited
	ended := Event{Phase: Ended, Err: out.err, Began: announced(intent), Reply: out.reply, Fuel: out.fuel, Size: int64(len(out.reply))}
	if o.refused == nil { // else it may be what must not be shown
		ended.Request = o.request
	}
	r.observe(o, step, ended)
	if result.Retry {
		return outcome{}, errMoved // to the next attempt
	}
	return out, nil
}

// answerable says whether somebody may come before the answer that the clock gives to a step. What asked is told what is in
// the log.
func answerable(intent *journal.Entry) bool {
	return intent != nil && intent.OnCut == journal.Await && intent.Due == 0
}

// executeFirst is the negative control: the effect takes place before anything is written.
func (r *Run) executeFirst(ctx context.Context, o op, step journal.Step, intent journal.Entry) (outcome, error) {
	out, err := o.perform(ctx, &intent)
	if err != nil {
		return outcome{}, err
	}
	if intent, err = r.log.add(intent, true); err != nil {
		return outcome{}, err
	}
	return r.record(ctx, o, step, &intent, out)
}

// recordFirst is another one: what came of the effect is written before it takes place.
func (r *Run) recordFirst(ctx, doing context.Context, o op, step journal.Step, intent *journal.Entry) (outcome, error) {
	reply, err := toolabi.Encode(&toolabi.HTTPReply{Status: 201})
	if err != nil {
		return outcome{}, err
	}
	out, err := r.record(ctx, o, step, intent, outcome{reply: reply})
	if err == nil {
		_, err = o.perform(doing, intent)
	}
	return out, err
}

// observe tells of a moment of a step.
func (r *Run) observe(o op, step journal.Step, ev Event) {
	ev.Run, ev.Step, ev.Name, ev.Class, ev.Text = r.id, step, o.name, o.class, o.note
	r.engine.observe(ev)
}

// announced is when a step was announced, zero for one that was not.
func announced(intent *journal.Entry) time.Time {
	if intent == nil {
		return time.Time{}
	}
	return timeOf(intent.Time)
}
