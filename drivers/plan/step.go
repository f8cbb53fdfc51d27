package plan

import (
	"context"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// step is one step of a plan: what all kinds share, and what it does.
type step struct {
	id        journal.Step   // "": a block that nobody refers to
	names     []journal.Step // its id, and the ids in it that the steps behind it see
	cond      template       // nil: always
	act       action
	otherwise []step  // what is done when the condition does not hold; nil: nothing
	rescue    *rescue // what is done when it fails; nil: the plan fails
}

// action is what a kind of step does. Each kind is a small type in its own file, with one line in kinds.
type action interface {
	// do does it under the name at and returns its output, JSON. keep says that someone looks at the output; without, an
	// action that would have to put one together may return null. A failure is a *toolabi.Error, an *ExprError, or the
	// *StepError of a step inside; every other error stops the run.
	do(ctx context.Context, s *scope, at journal.Step, keep bool) ([]byte, error)
	// calls says what is known of every call that it may make under the name at.
	calls(at journal.Step) []Call
}

// tool returns the tool that the step calls, "" when it is none or several.
func (st *step) tool() string {
	if c, ok := st.act.(*call); ok {
		return c.tool
	}
	return ""
}

func (st *step) calls() []Call {
	calls := append(st.act.calls(st.id), callsOf(st.otherwise)...)
	if st.rescue != nil {
		calls = append(calls, callsOf(st.rescue.steps)...)
	}
	return calls
}

func callsOf(steps []step) []Call {
	var calls []Call
	for i := range steps {
		calls = append(calls, steps[i].calls()...)
	}
	return calls
}

// kind is how a kind of step is written.
type kind struct {
	// field is the field that makes a step one of this kind; with lists its other fields.
	field string
	with  []string
	// block says that it holds other steps and leaves no mark of its own in the log, so that it need not have an id.
	block bool
	parse func(p *parser, n *yaml.Node, fields fields) action
}

// kinds returns the kinds of steps. A loop has the field "steps" too, so it stands before the block.
func kinds() []kind {
	return []kind{
		{field: "tool", with: []string{"with", "retry"}, parse: parseCall},
		{field: "parallel", with: []string{"limit"}, block: true, parse: parseParallel},
		{field: "for_each", with: []string{"as", "index", "limit", "steps"}, block: true, parse: parseLoop},
		{field: "steps", with: []string{"else"}, block: true, parse: parseBlock},
		{field: "approve", parse: parseApproval},
		{field: "sleep", parse: parsePause},
	}
}

// common are the fields that every step may have.
var common = []string{"id", "if", "on_error"}
