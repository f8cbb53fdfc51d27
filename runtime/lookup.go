package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// lookUp asks the tool's look-up what became of an effect that is in doubt, and writes its verdict down. The look-up is a
// call inside the step, with steps of its own. It returns errMoved when the verdict settles the step; else the error with
// which the run stops: *UncertainError where nobody can tell, *WaitingError while the request may be on its way.
func (r *Run) lookUp(ctx context.Context, step journal.Step, past *journal.Past) error {
	asked, ok := r.lookupOf(step)
	if !ok {
		return r.uncertain(step, past)
	}
	input, err := r.lookupInput(ctx, asked, past.Intent)
	if err != nil {
		return err
	}
	o := r.callOp(nil, r.nextInside(step), asked.module, asked.lookup, input)
	o.unasked = true // it observes, and nothing goes on before it has
	if d, _ := r.decide(ctx, o); d.Verdict == Deny {
		return r.notTold(step, past, note("the policy does not allow the look-up "+o.name, d.Reason))
	}
	out, err := r.step(ctx, o)
	if err != nil {
		return err
	}
	verdict, err := toolabi.LookupOutput{}, error(out.err)
	if out.err == nil {
		verdict, err = toolabi.ParseLookupOutput(out.reply)
	}
	if err != nil {
		return r.notTold(step, past, fmt.Sprintf("the look-up %s failed: %v", o.name, err))
	}
	switch verdict.Verdict {
	case toolabi.VerdictHappened:
		return r.didHappen(ctx, step, past, o.name, verdict)
	case toolabi.VerdictDidNotHappen:
		return r.didNotHappen(ctx, o, step, past, asked.tool, verdict)
	}
	return r.notTold(step, past, note("the look-up "+o.name+" cannot tell", verdict.Note))
}

// asking is a call with an effect in doubt, and whom to ask about it.
type asking struct {
	module       Module
	tool, lookup toolabi.Tool
	call         journal.Entry
}

// lookupOf finds the look-up of the tool that a step belongs to.
func (r *Run) lookupOf(step journal.Step) (asking, bool) {
	var a asking
	opaque := false // its caller's look-up knows nothing of what it wrote
	r.log.view(func(h *journal.History, _ *journal.State) {
		if it := h.Find(step); it != nil {
			opaque = isOpaque(it.Intent)
		}
		if p := h.Find(step.Parent()); p != nil && p.Intent != nil {
			a.call = *p.Intent
		}
	})
	if opaque {
		return a, false
	}
	var err error
	if a.module, a.tool, err = r.spec.tool(a.call.Name); err != nil || a.tool.Lookup == "" {
		return a, false
	}
	a.lookup, _ = a.module.Manifest.Tool(a.tool.Lookup)
	return a, true
}

// nextInside is the step of the next look-up inside a step: one that was cut off, or a new one.
func (r *Run) nextInside(step journal.Step) (next journal.Step) {
	r.log.view(func(h *journal.History, s *journal.State) {
		n := h.Children(step)
		if n > 0 {
			last, p := h.Latest(step.Child(n))
			if _, open := s.Open[last]; open || p != nil && p.Result != nil && p.Result.Retry {
				next = step.Child(n)
				return
			}
		}
		next = step.Child(n + 1)
	})
	return next
}

func (r *Run) lookupInput(ctx context.Context, a asking, intent *journal.Entry) ([]byte, error) {
	input, err := journal.Body(ctx, r.engine.blobs, a.call)
	if err != nil {
		return nil, err
	}
	request, err := journal.Body(ctx, r.engine.blobs, *intent)
	if err != nil {
		return nil, err
	}
	return json.Marshal(toolabi.LookupInput{
		Tool: a.tool.Name, Input: input, Function: intent.Name, Request: r.engine.showRequest(intent.Name, request),
		Key: intent.Key, Announced: timeOf(intent.Time).UTC().Format(time.RFC3339Nano),
	})
}

// ShowRequest is a request of a host function as JSON, without values of secrets; ok is false where it has no such form.
func (e *Engine) ShowRequest(function string, request []byte) (shown []byte, ok bool) {
	return e.show(e.funcs[function].ShowRequest, request)
}

// ShowReply is a reply of a host function as JSON, without values of secrets; ok is false where it has no such form.
func (e *Engine) ShowReply(function string, reply []byte) (shown []byte, ok bool) {
	return e.show(e.funcs[function].ShowReply, reply)
}

func (e *Engine) show(form func([]byte) ([]byte, error), message []byte) ([]byte, bool) {
	if form == nil {
		return nil, false
	}
	shown, err := form(message)
	return e.cfg.Secrets.Hide(shown), err == nil
}

// showRequest is a request of a host function as JSON, null where it has no such form.
func (e *Engine) showRequest(function string, request []byte) toolabi.RawJSON {
	if show := e.funcs[function].ShowRequest; show != nil {
		if shown, err := show(request); err == nil {
			return shown
		}
	}
	return toolabi.RawJSON("null")
}

// ParseReply makes the reply of a host function of what somebody says, in JSON, that it answered. For a function without such
// a form, and for a driver's own step, the reply is what was said. What an *UnrecordedError holds is taken byte for byte.
func (e *Engine) ParseReply(function string, said []byte) ([]byte, error) {
	if reply, is, err := parseExact(said); is {
		return reply, err
	}
	if e.funcs[function].ParseReply == nil {
		return said, nil
	}
	return e.parseReply(function, said)
}

// parseReply is what the tool is told of what somebody says that a host function answered.
func (e *Engine) parseReply(function string, said []byte) ([]byte, error) {
	parse := e.funcs[function].ParseReply
	if parse == nil {
		return nil, fmt.Errorf("the reply of %s cannot be given as JSON", function)
	}
	return parse(said)
}

// didHappen records the reply that the look-up found.
func (r *Run) didHappen(ctx context.Context, step journal.Step, past *journal.Past, by string, v toolabi.LookupOutput) error {
	reply, err := r.engine.parseReply(past.Intent.Name, v.Reply)
	if err != nil {
		return r.notTold(step, past, fmt.Sprintf("the look-up %s found it, and its reply cannot be used: %v", by, err))
	}
	said := journal.Entry{
		Kind: journal.Result, Step: step, Name: past.Intent.Name, Class: past.Intent.Class, Outcome: journal.OK,
		Effect: journal.EffectApplied, By: "look-up " + by, Note: v.Note,
	}
	if err := journal.SetBody(context.WithoutCancel(ctx), r.engine.blobs, &said, reply); err != nil {
		return err
	}
	if _, err := r.log.add(said, true); err != nil {
		return err
	}
	return errMoved
}

// didNotHappen records that the look-up did not find it, if it looked when nothing could be on its way any more. Before
// that it means "not seen yet", and the run waits.
func (r *Run) didNotHappen(ctx context.Context, o op, step journal.Step, past *journal.Past, tool toolabi.Tool, v toolabi.LookupOutput) error {
	var looked int64
	var restored *journal.Entry
	r.log.view(func(h *journal.History, _ *journal.State) {
		restored = h.Restored()
		if first := h.Find(o.step); first != nil && first.Intent != nil {
			looked = first.Intent.Time // what it read may be as old as this
		}
	})
	if happenedLate(past) {
		return r.notTold(step, past, "the look-up "+o.name+" did not find it, and an outcome in the log says that it happened")
	}
	if until := settledAt(past, tool, restored); looked < until && !brokenSettle {
		if err := r.until(ctx, o, step, "its request to have settled, before it is looked up again", until, r.engine.cfg.Patience); err != nil {
			return err
		}
		return errMoved
	}
	said := journal.Entry{
		Kind: journal.Void, Step: step, Name: past.Intent.Name, Class: past.Intent.Class, By: "look-up " + o.name, Note: v.Note,
	}
	if _, err := r.log.add(said, true); err != nil {
		return err
	}
	return errMoved
}

// notTold leaves a step in doubt, with what is known of why.
func (r *Run) notTold(step journal.Step, past *journal.Past, why string) error {
	err := r.uncertain(step, past)
	if u, ok := err.(*UncertainError); ok {
		u.Why = note(u.Why, why)
	}
	return err
}

// settledAt is when a request that was announced can no longer be on its way to the other side, or be worked on there: it
// leaves at SendBy at the latest, which is its own timeout after the intent, may be on its way for as long again, and then
// the tool's settle time. Where the log was restored since, the request may have been announced once more between the backup
// and that moment. What may be repeated is sent at any time until it is known that it may not be any more.
func settledAt(past *journal.Past, tool toolabi.Tool, restored *journal.Entry) int64 {
	intent := past.Intent
	timeout, sendBy := max(intent.SendBy-intent.Time, 0), intent.SendBy
	for _, e := range past.Evidence {
		if e.Name == journal.RecordExpired {
			sendBy = max(sendBy, e.Time)
		}
	}
	if restored != nil && restored.Seq > intent.Seq {
		sendBy = max(sendBy, restored.Time+timeout)
	}
	return sendBy + timeout + int64(time.Duration(tool.SettleMS)*time.Millisecond)
}
