package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Resolution is what someone says about an effect whose outcome is unknown.
type Resolution struct {
	// Happened says that the effect took place, with Reply as what the tool is to be told: the encoded reply of the host
	// function. False says that it did not take place, and may be attempted again under the same key.
	Happened bool
	Reply    []byte
	// Now accepts "did not happen" although the request might still be on its way. It is recorded.
	Now bool
	// By and Note say who says so, and why.
	By, Note string
}

// ErrNotOpen: the step is not one whose outcome is unknown.
var ErrNotOpen = errors.New("not open")

// TooSoonError says that a request may still be on its way, so that "did not happen" is not known yet.
type TooSoonError struct {
	Run   string
	Step  journal.Step
	Until time.Time
}

// Error says until when.
func (e *TooSoonError) Error() string {
	return fmt.Sprintf("run %s: the request of %s may still be on its way until %s", e.Run, e.Step, e.Until.UTC().Format(time.RFC3339))
}

// Resolve settles an effect whose outcome is unknown. It claims the run first, so it is refused while the run is being
// driven, and nothing is executed.
//
// Errors: *BusyError; *TooSoonError; ErrNotOpen, with what the log holds instead; journal.ErrClosed for a finished run;
// journal.ErrNotFound.
func (e *Engine) Resolve(ctx context.Context, run string, step journal.Step, res Resolution) error {
	if err := step.Validate(); err != nil {
		return err
	}
	end, err := e.begin(run)
	if err != nil {
		return err
	}
	defer end()
	for {
		err := e.resolve(ctx, run, step, res)
		if !errors.Is(err, journal.ErrConflict) {
			return err
		}
	}
}

func (e *Engine) resolve(ctx context.Context, run string, step journal.Step, res Resolution) error {
	l, err := e.load(ctx, run)
	if err != nil {
		return err
	}
	if l.state.Finished {
		return fmt.Errorf("run %s: %w", run, journal.ErrClosed)
	}
	if err := e.mayClaim(l.state, false); err != nil {
		return err
	}
	step, past := l.history.Latest(step)
	if err := resolvable(run, step, past); err != nil {
		return err
	}
	now := e.cfg.Now()
	if until := settled(past.Intent); !res.Happened && !res.Now && now.Before(until) {
		return &TooSoonError{Run: run, Step: step, Until: until}
	}
	said, err := e.verdict(ctx, step, past.Intent, res)
	if err != nil {
		return err
	}
	released := journal.Entry{Kind: journal.Released, Name: journal.StopInterrupted, Note: "resolved " + string(step)}
	claim, err := e.claim(now.UnixNano())
	if err != nil {
		return err
	}
	entries := []journal.Entry{claim, said, released}
	for i := range entries {
		entries[i].Seq, entries[i].Owner = l.state.Len+uint64(i), claim.Owner
		entries[i].Time = max(now.UnixNano(), l.state.Time)
	}
	entries[0].After = l.state.Head
	err = e.cfg.Journal.Append(ctx, run, l.state.Len, entries...)
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return &JournalError{Run: run, Err: err}
	}
	return err
}

// resolvable says why a step has nothing to settle.
func resolvable(run string, step journal.Step, past *journal.Past) error {
	switch {
	case past == nil || past.Known() == nil:
		return fmt.Errorf("run %s has no step %s: %w", run, step, ErrNotOpen)
	case past.Result != nil:
		return fmt.Errorf("run %s: step %s has a result (%s) already: %w", run, step, past.Result.Outcome, ErrNotOpen)
	case past.Void != nil:
		return fmt.Errorf("run %s: it was said already that %s did not happen: %w", run, step, ErrNotOpen)
	case !isEffect(past.Intent.Class):
		return fmt.Errorf("run %s: step %s (%s) is not an effect, it is done again by itself: %w", run, step, past.Intent.Name, ErrNotOpen)
	}
	return nil
}

// settled is when a request that was announced can no longer be on its way to the other side.
func settled(intent *journal.Entry) time.Time {
	// The first byte leaves at SendBy at the latest, which is the request's own timeout after the intent.
	patience := intent.SendBy - intent.Time
	return time.Unix(0, intent.SendBy+max(patience, 0))
}

// verdict is the entry that settles a step.
func (e *Engine) verdict(ctx context.Context, step journal.Step, intent *journal.Entry, res Resolution) (journal.Entry, error) {
	said := journal.Entry{Kind: journal.Void, Step: step, Name: intent.Name, Class: intent.Class, By: res.By, Note: res.Note}
	if !res.Happened {
		if res.Now {
			said.Note = note(said.Note, "said before the request could have settled")
		}
		return said, nil
	}
	said.Kind, said.Outcome = journal.Result, journal.OK
	if intent.Class == uint8(toolabi.Once) {
		said.Effect = journal.EffectApplied
	}
	return said, journal.SetBody(ctx, e.blobs, &said, res.Reply)
}

func note(a, b string) string {
	if a == "" {
		return b
	}
	return a + " (" + b + ")"
}
