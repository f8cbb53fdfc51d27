package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Caller is what a plan needs of a run; *runtime.Run is one. Its methods are called concurrently, for steps of different names.
//
// An error that is a *toolabi.Error itself is an outcome, which a plan may handle. Every other one ends the driving of the
// run, for now or for good, and is passed on as it is.
type Caller interface {
	// Invoke calls a tool under the name of a step and returns its output. The tool is "module.tool"; input and output
	// are JSON.
	Invoke(ctx context.Context, c runtime.CallSpec) ([]byte, error)
	// Approve asks a person and returns the answer, {"by": …, "note": …}. Denied is the code when the answer was no, or
	// when none came in time.
	Approve(ctx context.Context, step journal.Step, q runtime.Question) ([]byte, error)
	// Sleep returns when d has passed since it was first asked for.
	Sleep(ctx context.Context, step journal.Step, d time.Duration) error
	// SleepUntil returns when it is t or later.
	SleepUntil(ctx context.Context, step journal.Step, t time.Time) error
}

// Run asks c for the plan's steps and returns the plan's output, JSON: what the plan says, or else the output of the last
// step that was executed, byte for byte, or null. input is JSON; none means null.
//
// What it asks for, and under which names, depends on the plan, the input and the answers, and not on time. A failure of
// the plan, which the same input and answers give again, is a *StepError when a step failed, an *ExprError in it when
// the output did, and otherwise the input is no JSON (toolabi.BadInput); all wrap a *toolabi.Error. Every other error is
// what the Caller returned, or that of ctx, and says nothing about the plan.
func (p *Plan) Run(ctx context.Context, c Caller, input []byte) ([]byte, error) {
	if len(input) == 0 {
		input = []byte("null")
	}
	v, err := decode(input)
	if err != nil {
		return nil, toolabi.NewError(toolabi.BadInput, fmt.Sprintf("read the input of the plan: %v", err))
	}
	s := &scope{run: &run{plan: p, caller: c}, values: map[string]any{inputField: v}, rounds: 1}
	last, err := s.steps(ctx, p.steps, p.output == nil)
	if err != nil {
		return nil, err
	}
	if p.output == nil {
		return last, nil
	}
	output, err := s.encode(ctx, p.output, "the value")
	if err != nil {
		return nil, fmt.Errorf("output of the plan: %w", err)
	}
	return output, nil
}

// inputField is the field of the context that holds the input; no step may have its name.
const inputField = "input"

// run is one run of a plan.
type run struct {
	plan   *Plan
	caller Caller
}

const null = "null"

// steps runs steps one after the other and returns the output of the last that was executed, or null. keep says that
// someone looks at it.
func (s *scope) steps(ctx context.Context, steps []step, keep bool) ([]byte, error) {
	last := []byte(null)
	for i := range steps {
		output, executed, err := s.step(ctx, &steps[i], keep)
		if err != nil {
			return nil, err
		}
		if executed {
			last = output
		}
	}
	return last, nil
}

// step runs a step, and what the plan wants done when it fails.
func (s *scope) step(ctx context.Context, st *step, keep bool) (output []byte, executed bool, err error) {
	keep = keep || s.needs(st.id)
	output, executed, err = s.try(ctx, st, keep)
	if failure, failed := err.(*StepError); failed && st.rescue != nil {
		executed = true
		output, err = s.handle(ctx, st, failure, keep)
	}
	if err != nil {
		return nil, false, err
	}
	s.settle(st.names)
	return output, executed, nil
}

// try runs a step if its condition holds.
func (s *scope) try(ctx context.Context, st *step, keep bool) (output []byte, executed bool, err error) {
	wanted, err := s.wanted(ctx, st)
	switch {
	case err != nil:
		return nil, false, s.failed(st, err)
	case wanted:
		output, err = st.act.do(ctx, s, s.at(st.id), keep)
	case st.otherwise != nil:
		output, err = s.steps(ctx, st.otherwise, keep)
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, false, s.failed(st, err)
	}
	return output, true, s.store(st, output)
}

// store makes the output of a step known to the expressions behind it, if one of them looks at it.
func (s *scope) store(st *step, output []byte) error {
	if !s.needs(st.id) {
		return nil
	}
	v, err := decode(output)
	if err != nil {
		return s.failed(st, failure("output", fmt.Sprintf("read the step's output: %v", err)))
	}
	s.values[string(st.id)] = v
	return nil
}

// wanted says whether the step's condition holds: in jq everything but false and null does.
func (s *scope) wanted(ctx context.Context, st *step) (bool, error) {
	if st.cond == nil {
		return true, nil
	}
	v, err := st.cond.eval(ctx, s)
	return err == nil && v != nil && v != false, err
}

// encode evaluates a template and returns its JSON; what names it in an error.
func (s *scope) encode(ctx context.Context, t template, what string) ([]byte, error) {
	v, err := t.eval(ctx, s)
	if err != nil {
		return nil, err
	}
	j, err := encode(v)
	if err != nil {
		return nil, failure("value", fmt.Sprintf("write %s: %v", what, err))
	}
	return j, nil
}

// failed names the step in a failure of its own. One of a step inside is named already, and what stops the run is
// returned as it is: also when it wraps a *toolabi.Error, as some reasons to stop do.
func (s *scope) failed(st *step, err error) error {
	switch err.(type) {
	case *toolabi.Error, *ExprError:
		return &StepError{Step: s.at(st.id), Tool: st.tool(), Err: err}
	}
	return err
}
