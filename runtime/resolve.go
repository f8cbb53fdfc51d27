package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Resolution is what someone says about an effect whose outcome is unknown.
type Resolution struct {
	// Happened says that the effect took place, with Reply as what the tool is to be told: the encoded reply of the host
	// function, or the output of a program. False says that it did not take place, and may be attempted again under the same key.
	Happened bool
	Reply    []byte
	// NewKey lets the next attempt of what did not take place have another idempotency key, for a provider that remembers
	// the old one as failed. A first request that comes late after all is then not recognised as the same.
	NewKey bool
	// Now accepts "did not happen" although the request might still be on its way. It is recorded.
	Now bool
	// By and Note say who says so, and why.
	By, Note string
}

// ErrNotOpen: the step is not one whose outcome is unknown.
var ErrNotOpen = errors.New("not open")

// ErrContradicted: the log holds what says the opposite.
var ErrContradicted = errors.New("contradicted by the log")

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

// Resolve settles an effect whose outcome is unknown. Nothing is executed. It claims the run first, so it is refused while
// the run is being driven. What a closed run left in doubt is settled by a late entry, which changes no outcome. Steps that
// wait are answered with Answer.
//
// Errors: *BusyError; *TooSoonError; ErrNotOpen, with what the log holds instead; journal.ErrClosed for a step of a
// finished run that is not in doubt; *SecretError for a reply that holds the value of one; ErrNoKey for another key of a program; a *toolabi.Error for an output that a program could
// not have; journal.ErrNotFound.
func (e *Engine) Resolve(ctx context.Context, run string, step journal.Step, res Resolution) error {
	if err := step.Validate(); err != nil {
		return err
	}
	return untilSettled(func() error { return e.resolve(ctx, run, step, res) })
}

// untilSettled does again what another process came before.
func untilSettled(try func() error) error {
	for {
		if err := try(); !errors.Is(err, journal.ErrConflict) {
			return err
		}
	}
}

func (e *Engine) resolve(ctx context.Context, run string, step journal.Step, res Resolution) error {
	l, err := e.load(ctx, run)
	if err != nil {
		return err
	}
	step, past := l.history.Latest(step)
	if !l.state.Finished {
		if err := e.mayClaim(l.state, false); err != nil {
			return err
		}
	}
	if err := resolvable(l.state, step, past); err != nil {
		return err
	}
	if err := e.judgeVerdict(ctx, l, past.Intent, res); err != nil {
		return err
	}
	if err := e.secretIn(ctx, l, "the reply", res.Reply); err != nil {
		return err
	}
	settled, err := e.settled(ctx, l, step, past)
	if err != nil {
		return err
	}
	if !res.Happened && happenedLate(past) {
		return fmt.Errorf("run %s: %s did happen, its outcome came too late to count and is in the log: %w", run, step, ErrContradicted)
	}
	if !res.Happened && !res.Now && !brokenSettle && e.cfg.Now().Before(settled) {
		return &TooSoonError{Run: run, Step: step, Until: settled}
	}
	said, err := e.verdict(ctx, l, past.Intent, res)
	if err != nil {
		return err
	}
	if l.state.Finished {
		return e.extend(ctx, l.state, asLateVerdict(said))
	}
	return e.settle(ctx, l.state, said)
}

// asLateVerdict is what settles a step of a closed run.
func asLateVerdict(said journal.Entry) journal.Entry {
	said.Kind, said.Key, said.Owner = journal.Late, "", ""
	if said.Outcome == 0 {
		said.Outcome, said.Effect = journal.Fail, journal.EffectNone
	}
	return said
}

// settle claims a run, appends what settles a step, and lets go of the run again, in one append. A look-up inside the step
// that was cut off has nothing to find out any more.
func (e *Engine) settle(ctx context.Context, s *journal.State, said journal.Entry) error {
	released := journal.Entry{Kind: journal.Released, Name: journal.StopInterrupted, Note: noteSettled + string(said.Step)}
	return e.asOwner(ctx, s, append(voidsInside(s, said.Step), said, released)...)
}

// asOwner claims a run and appends entries of its owner, in one append. The last one lets go of the run.
func (e *Engine) asOwner(ctx context.Context, s *journal.State, entries ...journal.Entry) error {
	end, err := e.begin(s.Run)
	if err != nil {
		return err
	}
	defer end()
	claim, err := e.claim(e.cfg.Now().UnixNano())
	if err != nil {
		return err
	}
	for i := range entries {
		entries[i].Owner = claim.Owner
	}
	return e.extend(ctx, s, append([]journal.Entry{claim}, entries...)...)
}

// voidsInside are the entries that end a look-up which was cut off inside a step, innermost first: a step ends only when
// everything inside it has.
func voidsInside(s *journal.State, step journal.Step) (voids []journal.Entry) {
	for _, open := range slices.Backward(s.InOrder()) {
		if open.Within(step) {
			voids = append(voids, journal.Entry{Kind: journal.Void, Step: open, Name: s.Open[open].Name, Note: "it is known what became of " + string(step)})
		}
	}
	return voids
}

// extend appends entries at the end of a log that is as s says. Errors: journal.ErrConflict when it is not.
func (e *Engine) extend(ctx context.Context, s *journal.State, entries ...journal.Entry) error {
	now := max(e.cfg.Now().UnixNano(), s.Time)
	for i := range entries {
		entries[i] = e.unsaid(entries[i])
		entries[i].Time = now
		entries[i].Note = strings.ToValidUTF8(entries[i].Note, "\uFFFD")
		entries[i].By = strings.ToValidUTF8(entries[i].By, "\uFFFD")
	}
	entries[0].After = s.Head
	err := e.cfg.Journal.Append(ctx, s.Run, s.Len, entries...)
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return &JournalError{Run: s.Run, Err: err}
	}
	return err
}

// happenedLate says whether an outcome came, too late to count, of an effect that took place. That a program failed says
// nothing of what it wrote.
func happenedLate(past *journal.Past) bool {
	for _, l := range past.Late {
		if l.Outcome == journal.OK || l.Effect == journal.EffectApplied && !isOpaque(past.Intent) {
			return true
		}
	}
	return false
}

// resolvable says why a step has nothing to settle.
func resolvable(s *journal.State, step journal.Step, past *journal.Past) error {
	not := func(format string, a ...any) error {
		return fmt.Errorf("run %s: step %s %s: %w", s.Run, step, fmt.Sprintf(format, a...), ErrNotOpen)
	}
	_, open := s.Open[step]
	switch {
	case s.Finished && !open:
		return fmt.Errorf("run %s: %w", s.Run, journal.ErrClosed)
	case past == nil || past.Known() == nil:
		return not("does not exist")
	case past.Result != nil:
		return not("has a result (%s) already", past.Result.Outcome)
	case past.Void != nil:
		return not("did not happen, somebody has said already")
	case past.Intent.OnCut == journal.Await:
		return not("(%s) waits, and nothing was executed yet", past.Intent.Name)
	case !isEffect(past.Intent.Class):
		return not("(%s) is not an effect, it is done again by itself", past.Intent.Name)
	}
	return nil
}

// settled is settledAt for a step of a log.
func (e *Engine) settled(ctx context.Context, l *loaded, step journal.Step, past *journal.Past) (time.Time, error) {
	if isOpaque(past.Intent) {
		return e.programOver(ctx, l, past)
	}
	var tool toolabi.Tool
	if call := l.history.Find(step.Parent()); call != nil && call.Known() != nil {
		spec, err := e.readSpec(ctx, l.history.Created())
		if err != nil {
			return time.Time{}, err
		}
		_, tool, _ = spec.tool(call.Known().Name) // a tool that is gone has no settle time
	}
	return time.Unix(0, settledAt(past, tool, l.history.Restored())), nil
}

// verdict is the entry that settles a step.
func (e *Engine) verdict(ctx context.Context, l *loaded, intent *journal.Entry, res Resolution) (journal.Entry, error) {
	said := journal.Entry{Kind: journal.Void, Step: intent.Step, Name: intent.Name, Class: intent.Class, By: someone(res.By), Note: res.Note}
	if !res.Happened {
		if res.Now {
			said.Note = note(said.Note, "said before the request could have settled")
		}
		if res.NewKey {
			said.Key = idempotencyKey(e.identity, l.state.Run, intent.Step, intent.Request, int(l.state.Len))
		}
		return said, nil
	}
	said.Kind, said.Outcome = journal.Result, journal.OK
	if l.state.Open[intent.Step].OnCut == journal.Doubt {
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

// Acknowledge says that somebody has looked at the outcomes of a run that arrived too late to count. An unfinished run
// may then go on. Errors: ErrNotOpen when there is none.
func (e *Engine) Acknowledge(ctx context.Context, run, by, note string) error {
	return untilSettled(func() error {
		s, err := e.state(ctx, run)
		if err != nil {
			return err
		}
		if s.Late == 0 {
			return fmt.Errorf("run %s has no outcome that arrived too late: %w", run, ErrNotOpen)
		}
		return e.extend(ctx, s, journal.Entry{Kind: journal.Record, Name: journal.RecordAcknowledged, By: by, Note: note})
	})
}
