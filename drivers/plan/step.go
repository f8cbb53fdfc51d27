package plan

import (
	"context"

	"github.com/wrun-dev/wrun/journal"
)

// step is one step of a plan: what all kinds share, and what it does.
type step struct {
	id   journal.Step
	cond template // nil: always
	act  action
}

// action is what a kind of step does. Each kind is a small type in its own file, with one line in kindOf.
type action interface {
	// do does it under the name at and returns its output, JSON. An error that is a *StepError is a failure of the
	// plan; every other one stops the run.
	do(ctx context.Context, r *run, at journal.Step) ([]byte, error)
	// calls says what is known of every call that it may make under the name at.
	calls(at journal.Step) []Call
}

// kind is how a kind of step is written.
type kind struct {
	// field is the field that makes a step one of this kind; with lists its other fields.
	field string
	with  []string
	parse func(p *parser, fields fields) action
}

var kinds = []kind{
	{field: "tool", with: []string{"with"}, parse: parseCall},
}

// common are the fields that every step may have.
var common = []string{"id", "if"}
