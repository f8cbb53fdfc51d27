package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// sending watches one attempt at an effect: whether its first byte was allowed to leave, and what follows from that.
type sending struct {
	run     *Run
	intent  *journal.Entry // nil for what has none
	allowed bool           // the first byte was allowed to leave
	sent    int64          // bytes written, as far as the function says
	expired func() string  // says why the key of a repetition may be forgotten by now; nil for what is none
}

// allow is asked immediately before the first byte leaves: the claim must stand, and it must not be too late. What was
// held up until its key may be forgotten is judged again, as after a crash.
func (s *sending) allow() error {
	if s.intent == nil {
		return nil
	}
	if err := s.run.maySend(s.intent); err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.BeforeSend); err != nil {
		return err
	}
	if s.expired != nil && !brokenLastCheck && s.intent.OnCut == journal.Redo && s.expired() != "" {
		return errMoved
	}
	s.allowed = true
	return nil
}

// outcome is what came of the attempt. fault is the code for an error that is no *toolabi.Error.
func (s *sending) outcome(reply []byte, err error, fault toolabi.Code) (outcome, error) {
	if err == nil {
		return outcome{reply: reply}, nil
	}
	if stops(err) || errors.Is(err, errMoved) {
		return outcome{unsent: !s.allowed}, err
	}
	var t *toolabi.Error
	if !errors.As(err, &t) {
		t = hostfuncs.AsError(s.run.engine.quiet(err))
		t.Code = fault
		if s.allowed {
			t.Effect = toolabi.EffectUnknown
		}
	}
	return outcome{err: readable(s.run.engine.cfg.Secrets.HideError(t)), sent: s.sent}, nil
}

// unlessApplied returns an error with an effect that is unknown, unless it says that the effect took place.
func unlessApplied(t *toolabi.Error) *toolabi.Error {
	if t == nil || t.Effect == toolabi.EffectApplied {
		return t
	}
	c := *t
	c.Effect = toolabi.EffectUnknown
	return &c
}

// readable returns an error as it can be recorded and read again: with a code, and with text that is text.
func readable(t *toolabi.Error) *toolabi.Error {
	c := *t
	if c.Code == 0 {
		c.Code = toolabi.Failed
	}
	c.Message = toolabi.CutText(strings.ToValidUTF8(t.Message, "\uFFFD"), toolabi.MaxText)
	c.Detail = toolabi.CutText(strings.ToValidUTF8(t.Detail, "\uFFFD"), 64)
	return &c
}

// maySend says why an effect may not leave now, or nil.
func (r *Run) maySend(intent *journal.Entry) error {
	if brokenLastCheck {
		return nil
	}
	s, err := r.patientState()
	if err != nil {
		return &JournalError{Run: r.id, Err: err}
	}
	if s.Owner != r.log.owner {
		return &BusyError{Run: r.id, Owner: s.Owner}
	}
	if isOpaque(intent) && s.CancelAsked && !brokenBlindAppend {
		return fmt.Errorf("%w: %s is not entered", journal.ErrCancelled, intent.Step)
	}
	if intent.OnCut == journal.Doubt && r.engine.cfg.Now().UnixNano() > intent.SendBy { // last, because the look took time
		e := toolabi.NewError(toolabi.Timeout, "it was too late to send; nothing was sent")
		if isOpaque(intent) {
			e.Message = "it was too late to enter the program; it was not entered"
		}
		e.Retry = toolabi.RetrySafe
		return e
	}
	return nil
}

// patientState reads the folded log, and waits for a journal that is busy as an append would.
func (r *Run) patientState() (s *journal.State, err error) {
	err = patiently(func() error {
		s, err = r.engine.state(context.Background(), r.id)
		return err
	})
	return s, err
}

// patiently asks a journal again that is busy: what is at stake may be a result that must not be lost.
func patiently(ask func() error) error {
	for try := 1; ; try++ {
		if err := ask(); !errors.Is(err, journal.ErrBusy) || try == maxBusyRetries {
			return err
		}
	}
}
