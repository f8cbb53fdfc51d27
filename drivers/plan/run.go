package plan

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Caller is what a plan needs of a run. *runtime.Run is one.
type Caller interface {
	// Call calls a tool under the name of a step and returns its output. tool is "module.tool"; input and output are
	// JSON. An error that is or wraps a *toolabi.Error is the tool's failure; every other one stops the run.
	Call(ctx context.Context, step journal.Step, tool string, input []byte) ([]byte, error)
}

// Run asks c for the plan's steps in order and returns the plan's output, JSON: what the plan says, or else the output
// of the last step that was executed, byte for byte, or null. input is JSON; none means null.
//
// An error that wraps a *toolabi.Error is a failure of the plan, which the same input and answers give again: a
// *StepError when a step failed, an *ExprError when the output did, otherwise the input is no JSON (toolabi.BadInput).
// Every other error is what the Caller returned, or that of ctx, and says nothing about the plan.
func (p *Plan) Run(ctx context.Context, c Caller, input []byte) ([]byte, error) {
	if len(input) == 0 {
		input = []byte("null")
	}
	v, err := decode(input)
	if err != nil {
		return nil, toolabi.NewError(toolabi.BadInput, fmt.Sprintf("read the input of the plan: %v", err))
	}
	r := &run{plan: p, caller: c, root: map[string]any{inputField: v}, last: []byte("null")}
	if err := r.steps(ctx, p.steps); err != nil {
		return nil, err
	}
	if p.output == nil {
		return r.last, nil
	}
	output, err := r.encode(ctx, p.output, "the value")
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
	root   map[string]any // the context of expressions: .input and one field per step so far
	last   []byte         // the output of the last step that was executed
}

func (r *run) steps(ctx context.Context, steps []step) error {
	for i := range steps {
		if err := r.step(ctx, &steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) step(ctx context.Context, s *step) error {
	wanted, err := r.wanted(ctx, s)
	if err != nil {
		return err
	}
	if !wanted {
		r.root[string(s.id)] = nil
		return nil
	}
	output, err := s.act.do(ctx, r, s.id)
	if err != nil {
		return err
	}
	r.last = output
	if !r.plan.needs.of(string(s.id)) {
		return nil
	}
	v, err := decode(output)
	if err != nil {
		return r.failedStep(s, failure("output", fmt.Sprintf("read the step's output: %v", err)))
	}
	r.root[string(s.id)] = v
	return nil
}

// wanted says whether the step's condition holds: in jq everything but false and null does.
func (r *run) wanted(ctx context.Context, s *step) (bool, error) {
	if s.cond == nil {
		return true, nil
	}
	v, err := s.cond.eval(ctx, r.root)
	if err != nil {
		return false, r.failedStep(s, err)
	}
	return v != nil && v != false, nil
}

// encode evaluates a template and returns its JSON; what names it in an error.
func (r *run) encode(ctx context.Context, t template, what string) ([]byte, error) {
	v, err := t.eval(ctx, r.root)
	if err != nil {
		return nil, err
	}
	j, err := encode(v)
	if err != nil {
		return nil, failure("value", fmt.Sprintf("write %s: %v", what, err))
	}
	return j, nil
}

// failedStep names the step in a failure; what stops the run is returned as it is.
func (r *run) failedStep(s *step, err error) error {
	var tool string
	if calls := s.act.calls(s.id); len(calls) == 1 {
		tool = calls[0].Tool
	}
	return r.failed(s.id, tool, err)
}
