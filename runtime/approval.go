package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Shown is what a person is shown who is asked whether a call may begin. It is the body of the question's intent, and the
// question's Request is its digest: the yes is for this and for nothing else.
type Shown struct {
	// Tool is the full name of the tool, Module the digest of its module's bytes.
	Tool   string         `cbor:"1,keyasint"`
	Module toolabi.Digest `cbor:"2,keyasint"`
	// Input is the call's input, JSON.
	Input []byte `cbor:"3,keyasint,omitempty"`
	// Grants is what the run may do at that moment.
	Grants hostfuncs.Grants `cbor:"4,keyasint,omitzero"`
}

// shownOf is what is shown of a call in a run with these grants.
func shownOf(o op, grants hostfuncs.Grants) Shown {
	return Shown{Tool: o.name, Module: o.callee.Digest, Input: o.request, Grants: o.callee.granted(grants)}
}

func (s Shown) encode() (body []byte, digest journal.Digest, err error) {
	body, err = toolabi.Encode(s)
	return body, requestDigest(questionName, body), err
}

// questionName is what the question about a call calls.
const questionName = toolabi.FuncApprove

// agreed returns a call as it may begin, with what its intent has to name before: the yes to a question about it, or nothing
// when none is needed. The call has the input that whoever agreed put in the place of its own, and refused is set in it when it
// must not begin.
//
// The log decides where it holds a question. A changed decision of the policy does not put a question again that was
// answered; only what was shown does, when it is not the same any more.
func (r *Run) agreed(ctx context.Context, o op) (op, journal.Digest, error) {
	none := journal.Digest{}
	question, past, _ := r.lookup(o.step.Question())
	shown := shownOf(o, r.grants)
	body, digest, err := shown.encode()
	if err != nil {
		return o, none, err
	}
	if past != nil {
		if err := r.sameQuestion(ctx, question, past.Intent, shown); err != nil {
			return o, none, err
		}
	}
	edit, err := r.engine.editOf(ctx, r.id, past)
	if err != nil {
		return o, none, err
	}
	if edit != nil && past.Void == nil && !r.withdrawn(o.step, past) {
		if o = r.engine.withoutSecret(r.withInput(o, edit)); o.refused != nil {
			return o, none, nil
		}
	}
	decision, driver := r.decide(ctx, o)
	if edit != nil && past.Void != nil && decision.Verdict < AskFirst { // somebody did not want it with its own input
		decision.Verdict, decision.Reason = AskFirst, "somebody agreed to it with another input before"
	}
	switch {
	case brokenApproval && past != nil && past.Result != nil:
		return o, past.Intent.Request, nil
	case decision.Verdict == Deny:
		o.refused = denied(o, decision.Reason, driver)
		if o.edited != nil {
			return o, none, nil // the denial is of what somebody made of the question, and stays beside it
		}
		return o, none, r.closeQuestion(question, past)
	case past == nil && decision.Verdict != AskFirst, past != nil && past.Void != nil && decision.Verdict != AskFirst:
		return o, none, nil
	case past == nil:
		return o, none, r.raise(ctx, o, question, body, digest, decision)
	case past.Void != nil:
		return o, none, r.raise(ctx, o, question.At(question.Attempt()+1), body, digest, decision)
	}
	o.refused, err = r.answered(ctx, o, question, past, digest)
	return o, digest, err
}

// answered says whether a call may begin about which a question stands: refused is why it must not, and an error that nobody has
// said, or that it has to be judged again. digest is that of what the question would be about now.
func (r *Run) answered(ctx context.Context, o op, question journal.Step, past *journal.Past, digest journal.Digest) (*toolabi.Error, error) {
	switch {
	case past.Result != nil && past.Result.Outcome != journal.OK:
		return r.no(ctx, *past.Result)
	case r.withdrawn(o.step, past):
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: the approval was withdrawn%s", o.step, byWhom(past))), nil
	case past.Intent.Request != digest:
		if err := r.closeQuestion(question, past); err != nil {
			return nil, err
		}
		return nil, errMoved
	case past.Intent.Expires != 0 && r.now() > past.Intent.Expires:
		return expiredAnswer(past.Intent), r.expireQuestion(ctx, question, past)
	case past.Result == nil:
		return nil, &WaitingError{Run: r.id, Step: question, For: questionName, Text: past.Intent.Note, Due: timeOf(past.Intent.Expires)}
	}
	return nil, nil
}

func denied(o op, reason string, driver bool) *toolabi.Error {
	who := "the policy does"
	if driver {
		who = "the rules of the run do"
	}
	text := fmt.Sprintf("%s not allow %s", who, o.name)
	if reason != "" {
		text += ": " + reason
	}
	return toolabi.NewError(toolabi.Denied, text)
}

// sameQuestion holds what is called now against what the question in the log was about. Other grants are no divergence:
// the question is put again.
func (r *Run) sameQuestion(ctx context.Context, step journal.Step, intent *journal.Entry, now Shown) error {
	then, err := r.engine.shownIn(ctx, r.id, intent)
	if err != nil {
		return err
	}
	what := ""
	switch a, b := requestDigest(then.Tool, then.Input), requestDigest(now.Tool, now.Input); {
	case then.Tool != now.Tool:
		what = fmt.Sprintf("somebody was asked about %s, and %s is called", then.Tool, now.Tool)
	case then.Module != now.Module:
		what = fmt.Sprintf("somebody was asked about module %s, and module %s is entered", then.Module.Short(), now.Module.Short())
	case a != b:
		what = fmt.Sprintf("somebody was asked about a call of %s with another input (digest %s) than it has now (%s)", then.Tool, a.Short(), b.Short())
	default:
		return nil
	}
	return &DivergedError{Run: r.id, Step: step, What: what}
}

// raise puts a question, and the run waits for the answer.
func (r *Run) raise(ctx context.Context, o op, question journal.Step, body []byte, digest journal.Digest, d Decision) error {
	in := journal.Entry{
		Kind: journal.Intent, Step: question, Name: questionName, Class: uint8(toolabi.Wait), OnCut: journal.Await,
		Module: o.module, Request: digest, Note: toolabi.CutText(r.engine.cfg.Secrets.HideText(d.Reason), maxNote),
	}
	if err := journal.SetBody(ctx, r.engine.blobs, &in, body); err != nil {
		return err
	}
	if d.Within > 0 {
		in.Expires = r.engine.cfg.Now().Add(d.Within).UnixNano()
	}
	if by := unixNano(r.approveBy); by != 0 && (in.Expires == 0 || by < in.Expires) {
		in.Expires = by
	}
	if _, err := r.log.add(in, false); err != nil {
		return err
	}
	return &WaitingError{Run: r.id, Step: question, For: questionName, Text: in.Note, Due: timeOf(in.Expires)}
}

// no is the answer of a question that was answered with no.
func (r *Run) no(ctx context.Context, result journal.Entry) (*toolabi.Error, error) {
	body, err := journal.Body(ctx, r.engine.blobs, result)
	if err != nil {
		return nil, err
	}
	refused := new(toolabi.Error)
	if err := toolabi.Decode(body, refused); err != nil {
		return nil, damaged(r.id, fmt.Errorf("answer to %s: %w", result.Step, err))
	}
	return refused, nil
}

// withdrawn says whether a yes in the log does not count any more because somebody took it back.
func (r *Run) withdrawn(step journal.Step, past *journal.Past) (back bool) {
	if past.Result == nil {
		return false
	}
	r.log.view(func(_ *journal.History, s *journal.State) {
		a, asked := s.Asked[step]
		back = asked && !a.Yes
	})
	return back
}

func byWhom(past *journal.Past) string {
	for _, e := range past.Evidence {
		if e.Name == journal.RecordWithdrawn && e.By != "" {
			if e.Note == "" {
				return " by " + e.By
			}
			return fmt.Sprintf(" by %s: %s", e.By, e.Note)
		}
	}
	return ""
}

// closeQuestion voids a question that is open, or whose yes is not used up.
func (r *Run) closeQuestion(question journal.Step, past *journal.Past) error {
	if past == nil || past.Void != nil || past.Result != nil && past.Result.Outcome != journal.OK || r.withdrawn(question.Asks(), past) {
		return nil
	}
	v := journal.Entry{Kind: journal.Void, Step: question, Name: questionName, Class: uint8(toolabi.Wait), Note: "what was shown is not what would be done now"}
	_, err := r.log.add(v, true)
	return err
}

// expireQuestion records that nobody answered in time.
func (r *Run) expireQuestion(ctx context.Context, question journal.Step, past *journal.Past) error {
	if past.Result != nil {
		return nil
	}
	o := op{name: questionName, class: toolabi.Wait, now: true, refused: expiredAnswer(past.Intent)}
	_, err := r.record(ctx, o, question, past.Intent, outcome{err: o.refused})
	return err
}

// Question is what a driver asks a person.
type Question struct {
	// Text is what they are asked, Detail JSON that is shown beneath.
	Text   string
	Detail []byte
	// Within is how long a yes counts, from the question on; 0 means for ever.
	Within time.Duration
}

// Approve asks a person, and returns who agreed and what they noted, as JSON {"by":…,"note":…}. A no, and an answer that
// did not come in time, is a *toolabi.Error with toolabi.Denied. Errors: *WaitingError until there is an answer.
func (r *Run) Approve(ctx context.Context, step journal.Step, q Question) ([]byte, error) {
	reply, err := r.waitFor(ctx, step, toolabi.FuncApprove,
		toolabi.ApproveRequest{Text: q.Text, Detail: q.Detail, ExpiresMS: uint64(q.Within.Milliseconds())},
		func() (hostfuncs.Pending, error) { return r.pendingQuestion(q), nil })
	if err != nil {
		return nil, err
	}
	return approvalJSON(reply)
}

func (r *Run) pendingQuestion(q Question) hostfuncs.Pending {
	p := hostfuncs.Pending{Text: q.Text, Detail: q.Detail}
	if q.Within > 0 {
		p.Expires = r.engine.cfg.Now().Add(q.Within)
	}
	if !r.approveBy.IsZero() && (p.Expires.IsZero() || r.approveBy.Before(p.Expires)) {
		p.Expires = r.approveBy
	}
	return p
}
