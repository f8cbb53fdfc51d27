package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/journal"
)

// Undo is one call that undoes another.
type Undo struct {
	// Step is the call that is undone, Tool the full name of the tool that does it.
	Step journal.Step `json:"step"`
	Tool string       `json:"tool"`
	// Input is its input, JSON: a toolabi.CompensateInput.
	Input json.RawMessage `json:"input"`
}

// RollbackDriver is the name of the driver that a rollback is driven with, RollbackVersion its version. Its plan is a JSON
// list of Undo.
const (
	RollbackDriver  = "rollback"
	RollbackVersion = "1"
)

// RollbackOf returns the id of the run that undoes another.
func RollbackOf(run string) string { return run + "~rollback" }

// ErrOpen: the run is not finished.
var ErrOpen = errors.New("the run is not finished")

// Rollback begins the run that undoes a finished one: RollbackOf(run), made of calls of the compensating tools in reverse
// order, one for each call that had effects. It is a run like any other, and is driven like one; nothing is executed here.
// Where it exists already it stays as it is.
//
// Calls without effects, and such as did not happen, are not compensated, nor what a fork copied: that is undone with the run that it
// was copied from. What cannot be compensated is returned. An effect
// under a key whose outcome was never known may have taken place, and is compensated.
//
// Errors: ErrOpen; *UncertainError while an effect of the run is in doubt, since nobody knows whether there is anything to
// undo; ErrNothingToUndo; *NotUndoneError when the rollback was begun before all of it was known; *OtherRunError when its id
// belongs to another run; journal.ErrImported for a run that was imported, which is undone where it comes from and would be undone
// twice otherwise; journal.ErrNotFound.
func (e *Engine) Rollback(ctx context.Context, run, by, why string) (left []Effect, err error) {
	l, err := e.load(ctx, run)
	if err != nil {
		return nil, err
	}
	if l.history.Imported() {
		return nil, fmt.Errorf("run %s is undone where it comes from: %w", run, journal.ErrImported)
	}
	if !l.state.Finished {
		return nil, fmt.Errorf("run %s: %w", run, ErrOpen)
	}
	spec, err := e.readSpec(ctx, l.history.Created())
	if err != nil {
		return nil, err
	}
	if doubt := l.state.InDoubt(); len(doubt) > 0 {
		return nil, uncertainIn(run, l.history, doubt[0], l.history.Find(doubt[0]))
	}
	calls, err := e.calls(ctx, l)
	if err != nil {
		return nil, err
	}
	undo, left, err := e.undo(ctx, l, spec, calls)
	if err != nil {
		return nil, err
	}
	if len(undo) == 0 {
		return left, fmt.Errorf("run %s: %w", run, ErrNothingToUndo)
	}
	plan, err := json.Marshal(undo)
	if err != nil {
		return left, err
	}
	back := Spec{
		Driver: RollbackDriver, Version: RollbackVersion, Plan: plan, Modules: spec.Modules, Grants: spec.Grants.Union(l.grants), Limits: spec.Limits,
	}
	return left, e.startRollback(ctx, run, back, by, why)
}

// ErrNothingToUndo: the run had no effects that a tool of it can undo.
var ErrNothingToUndo = errors.New("there is nothing to undo")

func (e *Engine) startRollback(ctx context.Context, run string, spec Spec, by, why string) error {
	id := RollbackOf(run)
	if err := journal.ValidateRun(id); err != nil {
		return fmt.Errorf("roll back %s: what is a rollback or a copy with such a name cannot be rolled back: %w", run, err)
	}
	_, err := e.create(ctx, id, spec, journal.Entry{By: someone(by), Note: note("undoes "+run, why)}, false)
	var other *OtherRunError
	if !errors.As(err, &other) {
		return err
	}
	existing, err := e.Spec(ctx, id)
	if err != nil || existing.Driver != RollbackDriver {
		return errors.Join(other, err)
	}
	return notUndone(run, existing.Plan, spec.Plan)
}

// notUndone says what a rollback that was begun before leaves out of what is to be undone now: effects that were settled only
// since. nil when it leaves out nothing.
func notUndone(run string, begun, wanted []byte) error {
	var has, want []Undo
	if err := errors.Join(json.Unmarshal(begun, &has), json.Unmarshal(wanted, &want)); err != nil {
		return damaged(RollbackOf(run), err)
	}
	var missing []Undo
	for _, w := range want {
		if !slices.ContainsFunc(has, func(h Undo) bool { return h.Step == w.Step }) {
			missing = append(missing, w)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &NotUndoneError{Run: run, Missing: missing}
}

// NotUndoneError says that a rollback was begun before all that is to be undone was known. It stays as it is; what it leaves
// out has to be undone by hand.
type NotUndoneError struct {
	Run string
	// Missing are the calls that would undo the rest, the last first.
	Missing []Undo
}

// Error names what is not undone.
func (e *NotUndoneError) Error() string {
	var steps []journal.Step
	for _, u := range e.Missing {
		steps = append(steps, u.Step)
	}
	return fmt.Sprintf("%s was begun before it was known that %v had effects, and does not undo them", RollbackOf(e.Run), steps)
}
