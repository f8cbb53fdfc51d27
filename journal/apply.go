package journal

import "fmt"

// Apply folds e into s if the rules allow it, and leaves s unchanged otherwise. The rules are these, and this is their
// only copy; docs/journal.md says why each is there.
//
// Errors: ErrInvalid, ErrFenced, ErrCancelled, ErrClosed, ErrUnconfirmed, ErrLate, ErrExpired, ErrImported, ErrExists.
func (s *State) Apply(e Entry) error {
	if err := s.judge(e); err != nil {
		return err
	}
	s.fold(e)
	return nil
}

func invalid(e Entry, format string, a ...any) error {
	where := e.Kind.String()
	if e.Step != "" {
		where += " of " + string(e.Step)
	}
	return fmt.Errorf("%w: %s: %s", ErrInvalid, where, fmt.Sprintf(format, a...))
}

// judge holds e against the log so far.
func (s *State) judge(e Entry) error {
	if e.Seq != s.Len {
		return invalid(e, "position %d in a log of %d entries", e.Seq, s.Len)
	}
	if e.Time < s.Time {
		return invalid(e, "its time lies %d ns before the entry before it", s.Time-e.Time)
	}
	if (e.Kind == Created) != (s.Len == 0) {
		return invalid(e, "a log begins with created, and only begins with it")
	}
	if s.Finished && e.Kind != Late && e.Kind != Record {
		return fmt.Errorf("%w: no %s any more", ErrClosed, e.Kind)
	}
	if err := s.judgeOwner(e); err != nil {
		return err
	}
	if err := judgeFields(e); err != nil {
		return err
	}
	switch e.Kind {
	case Created:
		return judgeCreated(s.Run, e)
	case Record:
		if e.labels() {
			return s.judgeLabel(e)
		}
		return nil
	case Claimed, Cancel, Restored:
		return nil
	case Released:
		if e.Name == "" {
			return invalid(e, "it does not say why")
		}
		return nil
	case Intent:
		return s.judgeIntent(e)
	case Result:
		return s.judgeResult(e)
	case Void:
		return s.judgeVoid(e)
	case Late:
		if e.Outcome == 0 {
			return invalid(e, "it says no outcome")
		}
		return nil
	case Finished:
		return s.judgeFinished(e)
	}
	return invalid(e, "an unknown kind")
}

// judgeFields holds an entry against what its kind says of its fields.
func judgeFields(e Entry) error {
	about := e.Kind == Intent || e.Kind == Result || e.Kind == Void || e.Kind == Late
	if about || e.Step != "" {
		if err := e.Step.Validate(); err != nil {
			return invalid(e, "%v", err)
		}
	}
	switch {
	case e.Outcome > Cancelled, e.Outcome == Cancelled && e.Kind != Finished:
		return invalid(e, "it has outcome %d", e.Outcome)
	case e.Effect > EffectApplied:
		return invalid(e, "it has effect %d", e.Effect)
	case e.OnCut > Await:
		return invalid(e, "it has meaning %d when it is cut off", e.OnCut)
	case e.Retry && (e.Kind != Result || e.Outcome == OK):
		return invalid(e, "only what failed can permit another attempt")
	case e.Fuel != 0 && e.Kind != Result:
		return invalid(e, "only what came of a call has used fuel")
	case e.Due < 0, e.Expires < 0:
		return invalid(e, "a time before 1970")
	case e.Expires != 0 && (e.Kind != Intent || e.OnCut != Await):
		return invalid(e, "only what waits for an answer can expire")
	case !e.Approval.IsZero() && e.Kind != Intent:
		return invalid(e, "only an intent uses up an approval")
	}
	return nil
}

func judgeCreated(run string, e Entry) error {
	if err := ValidateRun(run); err != nil {
		return invalid(e, "%v", err)
	}
	if e.Name == "" {
		return invalid(e, "it names no driver")
	}
	return nil
}

// judgeOwner lets only the owner of the run decide what it does. Evidence, a cancellation and the outcome of what waits
// come from anyone.
func (s *State) judgeOwner(e Entry) error {
	switch e.Kind {
	case Claimed:
		if e.Owner == "" {
			return invalid(e, "it names no owner")
		}
		if s.Imported {
			return ErrImported
		}
		return nil
	case Result:
		if o, ok := s.Open[e.Step]; ok && o.OnCut == Await && e.Owner == "" {
			return nil
		}
	case Intent, Void, Finished, Released:
	default:
		return nil
	}
	if e.Owner == "" {
		return invalid(e, "it names no owner")
	}
	if e.Owner != s.Owner {
		return fmt.Errorf("%w: %s by %s, the owner is %q", ErrFenced, e.Kind, e.Owner, s.Owner)
	}
	return nil
}

func (s *State) judgeIntent(e Entry) error {
	if e.OnCut == 0 {
		return invalid(e, "it does not say what it means when it is cut off")
	}
	if e.Name == "" || e.Request.IsZero() {
		return invalid(e, "it names no function or no request")
	}
	if e.OnCut == Doubt && (e.Key == "" && e.Module.IsZero() || e.SendBy == 0) { // a module is given no key
		return invalid(e, "what must not be repeated needs a key and a last moment to send")
	}
	if s.Lease != 0 && e.SendBy > s.Lease {
		return invalid(e, "it might be sent after the claim has ended")
	}
	if s.CancelAsked && !brokenBlindAppend {
		return fmt.Errorf("%w: %s is not started", ErrCancelled, e.Step)
	}
	if s.Late > 0 {
		return fmt.Errorf("%w: %s is not started", ErrLate, e.Step)
	}
	if e.OnCut == Doubt && s.Unconfirmed && !brokenRestored {
		return fmt.Errorf("%w: %s is not started", ErrUnconfirmed, e.Step)
	}
	if err := s.judgeApproval(e); err != nil && !brokenApproval {
		return err
	}
	return s.judgeBeginning(e)
}

// judgeApproval lets a step that was asked about begin only with a yes to exactly what was shown, in time, and once.
func (s *State) judgeApproval(e Entry) error {
	if e.Step.Asks() != "" && e.OnCut != Await {
		return invalid(e, "a question has to wait for its answer")
	}
	a, asked := s.Asked[e.Step.First()]
	switch {
	case !asked && !e.Approval.IsZero():
		return invalid(e, "there is no approval that it could use up")
	case !asked:
		return nil
	case !a.Yes:
		return invalid(e, "nobody has agreed to it")
	case e.Approval != a.Request || e.Module != a.Module:
		return invalid(e, "what was agreed to is something else (%s, not %s)", a.Request.Short(), e.Approval.Short())
	case a.Expires != 0 && e.Time > a.Expires:
		return fmt.Errorf("%w: %s is not started", ErrExpired, e.Step)
	}
	return nil
}

// judgeBeginning holds the first entry of a step against the steps around it: an intent, or a result that had none.
func (s *State) judgeBeginning(e Entry) error {
	if _, ok := s.Open[e.Step]; ok {
		return fmt.Errorf("%w: the intent of %s", ErrExists, e.Step)
	}
	if p := e.Step.Parent(); p != "" {
		if o, ok := s.Open[p]; !ok || o.OnCut == Await {
			return invalid(e, "%s is not under way", p)
		}
	}
	if n := e.Step.Attempt(); n > 1 && !s.Again[e.Step.At(n-1)] && !brokenAttempts {
		return invalid(e, "the attempt before it does not permit another")
	}
	return nil
}

func (s *State) judgeResult(e Entry) error {
	if e.Outcome == 0 {
		return invalid(e, "it says no outcome")
	}
	o, open := s.Open[e.Step]
	if !open {
		// What only observed, or was not allowed, is written once its outcome is known.
		if e.OnCut != Redo && e.Outcome != Denied {
			return invalid(e, "there is no open intent")
		}
		if e.Name == "" || e.Request.IsZero() {
			return invalid(e, "it names no function or no request")
		}
		if _, asked := s.Asked[e.Step.First()]; asked && e.Outcome == OK {
			return invalid(e, "nobody has agreed to it, or the yes is not used up")
		}
		return s.judgeBeginning(e)
	}
	if o.OnCut == Doubt && e.Effect != EffectNone && e.Effect != EffectApplied {
		return invalid(e, "an unknown outcome is not a result")
	}
	if o.OnCut == Await && e.Outcome == OK {
		if o.Due == 0 && e.Owner != "" {
			return invalid(e, "whoever drives the run does not agree to what it asks")
		}
		if o.Due != 0 && e.Time < o.Due {
			return invalid(e, "it is %d ns too early", o.Due-e.Time)
		}
		if o.Expires != 0 && e.Time > o.Expires {
			return fmt.Errorf("%w: %s", ErrExpired, e.Step)
		}
	}
	if e.Retry && o.Touched && !brokenAttempts {
		return invalid(e, "another attempt would repeat an effect inside it")
	}
	if e.Retry && o.OnCut == Doubt && e.Effect != EffectNone {
		return invalid(e, "another attempt would repeat the effect")
	}
	return s.judgeInside(e)
}

// judgeInside lets a step end only when everything inside it has.
func (s *State) judgeInside(e Entry) error {
	for below := range s.Open {
		if below.Within(e.Step) {
			return invalid(e, "%s inside it is still open", below)
		}
	}
	return nil
}

func (s *State) judgeVoid(e Entry) error {
	o, open := s.Open[e.Step]
	if !open && !s.unused(e.Step) {
		return invalid(e, "there is no open intent")
	}
	if o.Touched {
		return invalid(e, "an effect inside it took place")
	}
	return s.judgeInside(e)
}

// unused says whether a step is the last question about another one that was agreed to, and has not been used up.
func (s *State) unused(question Step) bool {
	a, asked := s.Asked[question.Asks()]
	return asked && a.Yes && a.Question == question
}

func (s *State) judgeFinished(e Entry) error {
	if e.Outcome == 0 || e.Outcome == Denied {
		return invalid(e, "it says no outcome")
	}
	if e.Outcome == Cancelled && !s.CancelAsked {
		return invalid(e, "nobody cancelled the run")
	}
	if s.Late > 0 && e.Outcome != Cancelled && !e.Abandon {
		return fmt.Errorf("%w: the run is not finished", ErrLate)
	}
	if doubt := s.InDoubt(); len(doubt) > 0 && e.Outcome != Cancelled && !e.Abandon {
		return invalid(e, "nobody knows yet whether %s happened", doubt[0])
	}
	if len(s.Open) > 0 && e.Outcome == OK {
		return invalid(e, "%d steps are still open", len(s.Open))
	}
	return nil
}
