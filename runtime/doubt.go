package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// expired says why an effect may not be done again under a key any more, or "". The time for which the provider remembers
// the key counts from its first use.
func (r *Run) expired(o op, key string) string {
	if o.keyTTL == 0 || o.class != toolabi.Effect {
		return ""
	}
	var first, last int64
	r.log.view(func(h *journal.History, s *journal.State) { first, last = h.FirstUse(key), s.Time })
	now := r.engine.cfg.Now().UnixNano()
	switch {
	case first == 0:
		return ""
	case now < last-int64(time.Second):
		return "the clock is behind the log, so it cannot be told whether the provider still remembers the key"
	case now+int64(o.timeout) > first+int64(o.keyTTL):
		return fmt.Sprintf("the provider remembers a key for %s, and it was first used at %s", o.keyTTL, time.Unix(0, first).UTC().Format(time.RFC3339))
	}
	return ""
}

// mindKey judges an effect that is about to be attempted under a key which the provider may not remember any more. Where
// what was announced under it is known not to have happened, this is an effect that must not be repeated; else it might
// happen a second time, and is refused. before is the attempt before it, of which somebody has said so.
func (r *Run) mindKey(ctx context.Context, o *op, before *journal.Past) error {
	key := inheritedKey(before, o.key)
	why := r.expired(*o, key)
	if why == "" {
		return nil
	}
	never := before != nil
	if !never {
		var err error
		if never, err = r.neverHappened(ctx, key); err != nil {
			return err
		}
	}
	if never {
		o.class = toolabi.Once
		return nil
	}
	o.refused = toolabi.NewError(toolabi.Expired, "it might happen a second time: "+why)
	o.refused.Effect = toolabi.EffectUnknown
	return nil
}

// neverHappened says whether everything that was announced under a key is known not to have taken place.
func (r *Run) neverHappened(ctx context.Context, key string) (bool, error) {
	var uses []journal.Past
	r.log.view(func(h *journal.History, _ *journal.State) { uses = h.Uses(key) })
	for _, p := range uses {
		switch {
		case happenedLate(&p):
			return false, nil
		case p.Void != nil:
			continue
		case p.Result == nil || p.Result.Outcome == journal.OK:
			return false, nil
		}
		body, err := journal.Body(ctx, r.engine.blobs, *p.Result)
		if err != nil {
			return false, err
		}
		var failure toolabi.Error
		if err := toolabi.Decode(body, &failure); err != nil {
			return false, damaged(r.id, fmt.Errorf("result of %s: %w", p.Result.Step, err))
		}
		if failure.Effect > toolabi.EffectNone {
			return false, nil
		}
	}
	return true, nil
}

// nowInDoubt records that an effect may not be done again any more, so that it is in doubt from now on, and is looked up
// like any other.
func (r *Run) nowInDoubt(step journal.Step, why string) error {
	rec := journal.Entry{Kind: journal.Record, Step: step, Name: journal.RecordExpired, Note: why}
	if _, err := r.log.add(rec, true); err != nil {
		return err
	}
	return errMoved
}

func (r *Run) uncertain(step journal.Step, past *journal.Past) (err error) {
	r.log.view(func(h *journal.History, _ *journal.State) { err = uncertainIn(r.id, h, step, past) })
	return err
}

// uncertainIn says that an effect of a log is in doubt, and what is known of it.
func uncertainIn(run string, h *journal.History, step journal.Step, past *journal.Past) *UncertainError {
	u := &UncertainError{Run: run, Step: step, Intent: *past.Intent, Request: int64(len(past.Intent.Body))}
	if past.Intent.Size > 0 {
		u.Request = past.Intent.Size
	}
	if p := h.Find(step.Parent()); isOpaque(past.Intent) {
		u.Tool = past.Intent.Name
	} else if p != nil && p.Known() != nil {
		u.Tool = p.Known().Name
	}
	for _, e := range past.Evidence {
		switch ev := new(Evidence); {
		case e.Name == journal.RecordExpired:
			u.Why = e.Note
		case e.Name == journal.RecordEvidence && toolabi.Decode(e.Body, ev) == nil:
			u.Evidence = ev
		}
	}
	return u
}

// doubt records what is known of an effect whose outcome is not, and leaves the step open, as after a crash: the tool never
// sees it, and is entered again or goes on once it is settled.
func (r *Run) doubt(ctx context.Context, step journal.Step, intent journal.Entry, out outcome) error {
	rec, err := evidenceEntry(step, journal.EffectUnknown, Evidence{Err: out.err, Sent: out.sent})
	if err != nil {
		return err
	}
	if _, err := r.log.add(rec, true); err != nil {
		return err
	}
	if _, ok := r.lookupOf(step); ok && ctx.Err() == nil {
		return errMoved // to the look-up
	}
	return r.uncertain(step, &journal.Past{Intent: &intent, Evidence: []journal.Entry{rec}})
}

func evidenceEntry(step journal.Step, effect journal.Effect, ev Evidence) (journal.Entry, error) {
	body, err := toolabi.Encode(ev)
	return journal.Entry{Kind: journal.Record, Step: step, Name: journal.RecordEvidence, Effect: effect, Body: body}, err
}

// noteUnsent leaves the evidence that an effect was stopped before anything could leave. Where even that cannot be
// written, the effect is in doubt, which is true.
func (r *Run) noteUnsent(intent journal.Entry, why error) {
	what := "it was stopped before anything was sent: "
	if isOpaque(&intent) {
		what = "the program was not entered: "
	}
	ev := Evidence{Err: r.engine.cfg.Secrets.HideError(toolabi.NewError(toolabi.Internal, what+why.Error()))}
	if rec, err := evidenceEntry(intent.Step, journal.EffectNone, ev); err == nil {
		_, _ = r.log.add(rec, true)
	}
}

// void says for the log that a step did not happen, so that it is attempted again.
func (r *Run) void(step journal.Step, past *journal.Past) error {
	var voids []journal.Entry
	r.log.view(func(_ *journal.History, s *journal.State) { voids = voidsInside(s, step) })
	v := journal.Entry{Kind: journal.Void, Step: step, Name: past.Intent.Name, Class: past.Intent.Class, Note: "nothing of it was sent"}
	if isOpaque(past.Intent) {
		v.Note = "it was not entered"
	}
	for _, v := range append(voids, v) {
		if _, err := r.log.add(v, false); err != nil {
			return err
		}
	}
	return errMoved
}
