package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Answer is what somebody says to a step that waits for a person.
type Answer struct {
	// Yes agrees; the zero value is a no, which what asked sees as toolabi.Denied.
	Yes bool
	// Reply is the encoded reply of a host function of the embedder's own. nil makes that of approve, of By and Note.
	Reply []byte
	// Input, JSON, is what a call that is agreed to is made with instead of the input that was shown; nil leaves that. It is
	// held against the tool's schema now, and against the policy before the call begins.
	Input []byte
	// Shown, when set, is the beginning of the digest of what was shown to whoever answers, in hexadecimal. Another
	// question is then not answered. It is mandatory for a yes to one that was put again.
	Shown string
	// By and Note say who says so, and why.
	By, Note string
}

// AnsweredError says that a question has its answer already.
type AnsweredError struct {
	Run  string
	Step journal.Step
	// Yes is the answer, By who gave it, "" for the clock, At when, Note why.
	Yes      bool
	By, Note string
	At       time.Time
	// Used says that the step which was agreed to has begun.
	Used bool
	// Edited is the input that was put in the place of the one that was shown; nil when none was.
	Edited []byte
}

// Error says what the answer was.
func (e *AnsweredError) Error() string {
	word, by := "no", e.By
	if e.Yes {
		word = "yes"
	}
	if by == "" {
		by = "the clock"
	}
	s := fmt.Sprintf("run %s: %s was answered already: %s, by %s at %s", e.Run, e.Step, word, by, e.At.UTC().Format(time.RFC3339))
	if e.Edited != nil {
		s += ", with another input"
	}
	if e.Note != "" {
		s += " (" + e.Note + ")"
	}
	if e.Used {
		s += "; it has begun"
	}
	return s
}

// ShownError says that a question is about something else than what was shown to whoever answers.
type ShownError struct {
	Run  string
	Step journal.Step
	// Shown is the digest of what the question is about now.
	Shown journal.Digest
}

// Error says what to look at.
func (e *ShownError) Error() string {
	if e.Step.Attempt() == 1 {
		return fmt.Sprintf("run %s: %s is about %s, which is not what was shown", e.Run, e.Step, e.Shown.Short())
	}
	return fmt.Sprintf("run %s: %s was put again, because what it is about has changed; it is about %s now", e.Run, e.Step, e.Shown.Short())
}

// Answer answers a step that waits for a person: a question that a tool or the driver asks, or, where step is a call,
// the question whether it may begin. Anyone may, at any time, also while the run is driven; of two answers the first
// counts. A yes that is not used up yet can be taken back by a no. Nothing is executed.
//
// Errors: *AnsweredError; *ShownError; journal.ErrExpired when it is too late for a yes; ErrNotOpen when the step does not
// wait for a person; *SecretError for a reply or an input that holds the value of one; ErrNoInput; a *toolabi.Error for an
// input that the tool's schema refuses; journal.ErrClosed; journal.ErrImported; journal.ErrNotFound.
func (e *Engine) Answer(ctx context.Context, run string, step journal.Step, a Answer) error {
	if err := step.Validate(); err != nil {
		return err
	}
	return untilSettled(func() error {
		l, err := e.load(ctx, run)
		if err != nil {
			return err
		}
		return e.answer(ctx, l, step, a)
	})
}

func (e *Engine) answer(ctx context.Context, l *loaded, step journal.Step, a Answer) error {
	run := l.state.Run
	question, past := l.history.Latest(step)
	if step.Asks() == "" {
		if q, p := l.history.Latest(step.Question()); p != nil && (past == nil || !past.Open() || past.Intent.OnCut != journal.Await) {
			question, past = q, p
		}
	}
	switch {
	case l.state.Finished:
		return fmt.Errorf("run %s: %w", run, journal.ErrClosed)
	case l.state.Imported:
		return fmt.Errorf("run %s: %w", run, journal.ErrImported)
	case past == nil || past.Intent == nil || past.Intent.OnCut != journal.Await || past.Void != nil:
		return fmt.Errorf("run %s: step %s does not wait for anybody: %w", run, step, ErrNotOpen)
	case past.Intent.Due != 0:
		return fmt.Errorf("run %s: step %s waits for %s, not for somebody: %w", run, step, timeOf(past.Intent.Due).UTC().Format(time.RFC3339), ErrNotOpen)
	case a.Yes && a.Shown == "" && question.Attempt() > 1, !strings.HasPrefix(past.Intent.Request.String(), a.Shown):
		return &ShownError{Run: run, Step: question, Shown: past.Intent.Request}
	case past.Result != nil:
		return e.takeBack(ctx, l, question, past, a)
	case a.Yes && past.Intent.Expires != 0 && max(e.cfg.Now().UnixNano(), l.state.Time) > past.Intent.Expires:
		return fmt.Errorf("run %s: %s had to be answered before %s: %w", run, question, timeOf(past.Intent.Expires).UTC().Format(time.RFC3339), journal.ErrExpired)
	}
	if err := e.judgeEdit(ctx, l, past.Intent, &a); err != nil {
		return err
	}
	if err := e.secretIn(ctx, l, "the answer", a.Reply); err != nil {
		return err
	}
	a.By, a.Note = e.cfg.Secrets.HideText(a.By), e.cfg.Secrets.HideText(a.Note)
	said, err := e.said(ctx, past.Intent, a)
	if err != nil {
		return err
	}
	return e.extend(ctx, l.state, said)
}

// takeBack turns a yes that is not used up into a no.
func (e *Engine) takeBack(ctx context.Context, l *loaded, question journal.Step, past *journal.Past, a Answer) error {
	asked, unused := l.state.Asked[question.Asks()]
	answered := &AnsweredError{
		Run: l.state.Run, Step: question, Yes: past.Result.Outcome == journal.OK,
		By: past.Result.By, Note: past.Result.Note, At: timeOf(past.Result.Time), Used: !unused && question.Asks() != "",
	}
	edit, err := e.editOf(ctx, l.state.Run, past)
	if err != nil {
		return err
	}
	if edit != nil {
		answered.Edited = edit.Input
	}
	for _, rec := range past.Evidence {
		if rec.Name == journal.RecordWithdrawn {
			answered.Yes, answered.By, answered.Note, answered.At = false, rec.By, rec.Note, timeOf(rec.Time)
		}
	}
	if a.Yes || !unused || !asked.Yes || asked.Question != question {
		return answered
	}
	return e.extend(ctx, l.state, journal.Entry{
		Kind: journal.Record, Name: journal.RecordWithdrawn, Step: question, By: someone(a.By), Note: a.Note,
	})
}

// said is the entry that answers.
func (e *Engine) said(ctx context.Context, intent *journal.Entry, a Answer) (journal.Entry, error) {
	said := journal.Entry{
		Kind: journal.Result, Step: intent.Step, Name: intent.Name, Class: intent.Class, Outcome: journal.OK, By: someone(a.By), Note: a.Note,
	}
	if !a.Yes {
		text := fmt.Sprintf("%s said no", said.By)
		if a.Note != "" {
			text += ": " + a.Note
		}
		body, err := encodeError(toolabi.NewError(toolabi.Denied, text))
		said.Outcome, said.Body = journal.Denied, body
		return said, err
	}
	reply := a.Reply
	if reply == nil || a.Input != nil {
		var err error // without an input it is what approve replies
		if reply, err = toolabi.Encode(Agreed{By: said.By, Note: toolabi.CutText(a.Note, toolabi.MaxText), Input: a.Input}); err != nil {
			return said, err
		}
	}
	return said, journal.SetBody(ctx, e.blobs, &said, reply)
}

func someone(by string) string {
	if by == "" {
		return "somebody"
	}
	return by
}

// approvalJSON is the reply of approve as a driver gets it.
func approvalJSON(reply []byte) ([]byte, error) {
	var r toolabi.ApproveReply
	if err := toolabi.Decode(reply, &r); err != nil {
		return nil, &hostError{errors.Join(journal.ErrDamaged, err)}
	}
	return json.Marshal(struct {
		By   string `json:"by"`
		Note string `json:"note"`
	}{r.By, r.Note})
}
