package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// intent builds the entry that announces a step.
func (r *Run) intent(ctx context.Context, o op, step journal.Step, before *journal.Past) (journal.Entry, error) {
	now := r.engine.cfg.Now().UnixNano()
	in := journal.Entry{
		Kind: journal.Intent, Step: step, Name: o.name, Class: uint8(o.class), OnCut: onCut(o.class),
		Module: o.module, Request: o.digest, Note: o.note,
	}
	if !o.bulky {
		if err := journal.SetBody(ctx, r.engine.blobs, &in, o.request); err != nil {
			return in, err
		}
	}
	if o.enters() {
		in.Started, in.Seed = now, randomSeed()
	}
	if o.key != nil {
		in.Key = inheritedKey(before, o.key)
	}
	if isEffect(in.Class) {
		in.SendBy = now + int64(o.timeout)
		var lease int64
		r.log.view(func(_ *journal.History, s *journal.State) { lease = s.Lease })
		if lease != 0 && in.SendBy > lease {
			return in, &hostError{fmt.Errorf("step %s is not begun: it may leave within %s, and the claim ends before that; drive the run again, with a lease that is longer", step, o.timeout)}
		}
	}
	if before != nil && before.Intent != nil && o.enters() {
		in.Started, in.Seed = before.Intent.Started, before.Intent.Seed
	}
	return in, nil
}

// inheritedKey is the key of an attempt: that of the attempt before it, unless somebody wants another one, or a new one.
func inheritedKey(before *journal.Past, derive func() string) string {
	switch {
	case before == nil || before.Intent == nil:
		return derive()
	case before.Void != nil && before.Void.Key != "":
		return before.Void.Key
	}
	return before.Intent.Key
}

func onCut(c toolabi.Class) journal.OnCut {
	switch c {
	case toolabi.Once:
		return journal.Doubt
	case toolabi.Wait:
		return journal.Await
	}
	return journal.Redo
}

func (r *Run) resultEntry(ctx context.Context, o op, step journal.Step, intent *journal.Entry, out outcome) (journal.Entry, error) {
	e := journal.Entry{
		Kind: journal.Result, Step: step, Name: o.name, Class: uint8(o.class), Outcome: journal.OK, Writes: out.writes, Fuel: out.fuel,
	}
	body := out.reply
	if out.err == nil {
		e.Refs = out.holds.refs() // which are on the disk, before this is
	} else {
		e.Outcome = journal.Fail
		if out.err == o.refused && errors.Is(out.err, toolabi.Denied) {
			e.Outcome = journal.Denied
		}
		var err error
		if body, err = encodeError(out.err); err != nil {
			return e, err
		}
	}
	e.Effect = out.effect
	if intent == nil {
		e.OnCut, e.Module, e.Request, e.Note = journal.Redo, o.module, o.digest, o.note
	} else if intent.OnCut == journal.Doubt {
		e.Effect = journal.EffectApplied
		if out.err != nil && out.err.Effect != toolabi.EffectApplied && !out.ended {
			e.Effect = journal.EffectNone
		}
	}
	// A result that exists is recorded, also when the caller has gone, or when somebody keeps the blobs locked.
	return e, patiently(func() error { return journal.SetBody(context.WithoutCancel(ctx), r.engine.blobs, &e, body) })
}

// encodeError returns an error as it is recorded: one that can be read back.
func encodeError(t *toolabi.Error) ([]byte, error) {
	return toolabi.Encode(readable(t))
}
