package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Fork says what a copy of a run takes and what it will do again.
type Fork struct {
	// Taken counts the steps whose outcomes are taken.
	Taken int
	// Again are the effects that took place in the run, or may have, and that the copy will do once more when it comes
	// to them.
	Again []Effect
	// InDoubt are the effects that stay in doubt in both.
	InDoubt []journal.Step
}

// Effect is one effect of a run.
type Effect struct {
	Step journal.Step
	// Name is the host function, Tool the tool that used it, "" for a driver's own step; Note says what was asked for.
	Name, Tool, Note string
	// Class is toolabi.Local, Effect or Once.
	Class toolabi.Class
	// Known says that the outcome is known.
	Known bool
}

// PlanFork says what Fork would take and what it would do again. Nothing is written. Errors: ErrNoStep;
// journal.ErrNotFound.
func (e *Engine) PlanFork(ctx context.Context, run string, at journal.Step) (Fork, error) {
	l, err := e.load(ctx, run)
	if err != nil {
		return Fork{}, err
	}
	c, err := e.copyLog(ctx, l, "nobody", at)
	if err != nil {
		return Fork{}, err
	}
	return e.describeFork(ctx, l, c)
}

func (e *Engine) describeFork(ctx context.Context, l *loaded, c copied) (Fork, error) {
	var f Fork
	for _, t := range c.taken {
		switch {
		case t.Kind == journal.Intent && t.OnCut == journal.Doubt:
			f.InDoubt = append(f.InDoubt, t.Step)
		case t.Kind == journal.Result || t.Kind == journal.Void:
			f.InDoubt = slices.DeleteFunc(f.InDoubt, func(s journal.Step) bool { return s == t.Step })
		}
		if t.Kind == journal.Result {
			f.Taken++
		}
	}
	var again made // not of one call, but attempts of a step are one effect there too
	for _, entry := range c.left {
		eff, ok, err := e.tookPlace(ctx, l, entry)
		if err != nil {
			return f, err
		}
		if ok {
			again.add(l, eff)
		}
	}
	f.Again = again.effects
	return f, nil
}

// Fork copies a run up to a step under another id. The copy is made of the same, holds what had begun before the step, and
// goes on from there when it is driven: what the run did from the step on is done again. Effects that are in doubt are in
// doubt in both. The run itself stays as it is, and may be open or closed.
//
// Copied effects keep their idempotency keys; those that are done again have others, since the copy is another run.
//
// Errors: ErrNoStep; *OtherRunError when the id is taken; journal.ErrNotFound; *JournalError.
func (e *Engine) Fork(ctx context.Context, run string, at journal.Step, id, by, why string) (Fork, error) {
	if err := journal.ValidateRun(id); err != nil {
		return Fork{}, err
	}
	l, err := e.load(ctx, run)
	if err != nil {
		return Fork{}, err
	}
	me, err := e.me()
	if err != nil {
		return Fork{}, err
	}
	c, err := e.copyLog(ctx, l, me, at)
	if err != nil {
		return Fork{}, err
	}
	c.taken[0].By, c.taken[0].Note = someone(by), note(fmt.Sprintf("forked from %s at %s", run, at), why)
	c.taken[0] = e.unsaid(c.taken[0])
	if err := e.appendCopy(ctx, id, c.taken, me); err != nil {
		return Fork{}, err
	}
	return e.describeFork(ctx, l, c)
}

// appendCopy writes a copied log.
func (e *Engine) appendCopy(ctx context.Context, id string, entries []journal.Entry, owner string) error {
	end, err := e.begin(id)
	if err != nil {
		return err
	}
	defer end()
	last := entries[len(entries)-1].Time
	now := max(e.cfg.Now().UnixNano(), last)
	released := journal.Entry{Kind: journal.Released, Owner: owner, Name: journal.StopInterrupted, Note: noteForked, Time: now}
	all := append(entries, released)
	if len(all) > journal.MaxAppend {
		all = append([]journal.Entry{entries[0], {Kind: journal.Record, Name: recordCopying, Time: entries[1].Time}}, entries[1:]...)
		all = append(all, journal.Entry{Kind: journal.Record, Name: recordCopied, Time: now}, released)
	}
	switch err := appendAll(ctx, e.cfg.Journal, id, all); {
	case errors.Is(err, journal.ErrConflict):
		return &OtherRunError{Run: id, Differs: "beginning"}
	case err != nil:
		return &JournalError{Run: id, Err: err}
	}
	return nil
}
