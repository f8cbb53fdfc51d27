package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// sending watches one attempt at an effect: whether its first byte was allowed to leave, and what follows from that.
type sending struct {
	run     *Run
	intent  *journal.Entry // nil for what has none
	allowed bool           // the first byte was allowed to leave
	sent    int64          // bytes written, as far as the function says
}

// allow is asked immediately before the first byte leaves: the claim must stand, and it must not be too late.
func (s *sending) allow() error {
	if s.intent == nil {
		return nil
	}
	if err := s.run.maySend(s.intent); err != nil {
		return err
	}
	s.allowed = true
	return nil
}

// outcome is what came of the attempt. fault is the code for an error that is no *toolabi.Error.
func (s *sending) outcome(ctx context.Context, reply []byte, err error, fault toolabi.Code) (outcome, error) {
	if err == nil {
		return outcome{reply: reply}, nil
	}
	if stops(err) {
		return outcome{unsent: !s.allowed}, err
	}
	var t *toolabi.Error
	if !errors.As(err, &t) {
		if fault == toolabi.Failed && interrupted(ctx) {
			return outcome{unsent: !s.allowed}, fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		t = hostfuncs.AsError(err)
		t.Code = fault
		if s.allowed {
			t.Effect = toolabi.EffectUnknown
		}
	}
	return outcome{err: readable(t), sent: s.sent}, nil
}

// readable returns an error as it can be recorded and read again.
func readable(t *toolabi.Error) *toolabi.Error {
	if utf8.ValidString(t.Message) && utf8.ValidString(t.Detail) {
		return t
	}
	c := *t
	c.Message, c.Detail = strings.ToValidUTF8(t.Message, "\uFFFD"), strings.ToValidUTF8(t.Detail, "\uFFFD")
	return &c
}

// maySend says why an effect may not leave now, or nil.
func (r *Run) maySend(intent *journal.Entry) error {
	if intent.OnCut == journal.Doubt && r.engine.cfg.Now().UnixNano() > intent.SendBy {
		e := toolabi.NewError(toolabi.Timeout, "it was too late to send; nothing was sent")
		e.Retry = toolabi.RetrySafe
		return e
	}
	s, err := r.patientState()
	if err != nil {
		return &JournalError{Run: r.id, Err: err}
	}
	if s.Owner != r.log.owner {
		return &BusyError{Run: r.id, Owner: s.Owner}
	}
	return nil
}

// patientState reads the folded log, and waits for a journal that is busy as an append would.
func (r *Run) patientState() (*journal.State, error) {
	for try := 1; ; try++ {
		s, err := r.engine.state(context.Background(), r.id)
		if !errors.Is(err, journal.ErrBusy) || try == maxBusyRetries {
			return s, err
		}
	}
}
