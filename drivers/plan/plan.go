package plan

import (
	"slices"

	"github.com/wrun-dev/wrun/internal/modref"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Version names what plans mean. A run that was begun under another one must not be resumed with this one.
//
// A form that is added leaves it as it is. The plans that were in order before mean what they meant; those that use the
// form were refused, by a Parse that knows no such field. So no run can have been begun that would go on otherwise, and a
// program that does not know the form does not drive a run that uses it, and leaves it open.
const Version = "1"

// The caps of a plan.
const (
	// MaxBytes is the longest text of a plan, in bytes.
	MaxBytes = 1 << 20
	// MaxSteps is how many steps a plan may have, those inside others included.
	MaxSteps = 10_000
	// MaxBlocks is how deep steps may stand inside of steps.
	MaxBlocks = 16
	// MaxLoops is how deep loops may stand inside of loops: as many indexes as the name of a step may have.
	MaxLoops = 4
	// MaxBranches is how many branches a parallel block may have.
	MaxBranches = 100
	// MaxAtOnce is how many steps may be under way at once.
	MaxAtOnce = 256
	// MaxItems is how many items the list of a loop may have.
	MaxItems = 10_000
	// MaxRounds is how many rounds a loop may make together with those around it, if each of them made as many as the
	// one that it is in.
	MaxRounds = 100_000
	// MaxExprs is how many different expressions a plan may have.
	MaxExprs = 20_000
	// MaxDepth is how deep its lists and mappings may nest.
	MaxDepth = 64
	// MaxWork is how many instructions of the interpreter one expression may take. It is a count and not a time, so
	// that an expression that is stopped is stopped everywhere.
	MaxWork = 4_000_000
	// MaxValue is how large, as JSON, a value of an expression, the input of a step and the output may be, in bytes.
	MaxValue = toolabi.MaxInput
)

// Plan is a plan that was found to be in order. It does not change, and may be run several times at once.
type Plan struct {
	name    string
	sources []Source
	schema  []byte
	steps   []step
	output  template // nil: the last result
	needs   needs
}

// Source says where a module comes from.
type Source = modref.Source

// Name returns the plan's name, or "".
func (p *Plan) Name() string { return p.name }

// Sources returns where the modules come from, in the order of the plan.
func (p *Plan) Sources() []Source { return slices.Clone(p.sources) }

// Call is what is known of a call before anything runs.
type Call struct {
	// Step is the step's id, Tool the "module.tool" that it calls.
	Step journal.Step
	Tool string
	// Input is the input as JSON when it has no expressions in it, else nil.
	Input []byte
}

// Calls returns the calls that the plan's steps can make, in the order of the plan. One in a loop is there once, under the
// name without an index.
func (p *Plan) Calls() []Call { return callsOf(p.steps) }

// Tools returns all "module.tool" that the plan's steps name, sorted, each once.
func (p *Plan) Tools() []string {
	var names []string
	for _, c := range p.Calls() {
		names = append(names, c.Tool)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// InputSchema returns the JSON Schema of the input as JSON, or nil when the plan has none. Run does not check it.
func (p *Plan) InputSchema() []byte { return slices.Clone(p.schema) }
