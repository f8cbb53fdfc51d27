package plan

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// call is the step that calls a tool.
type call struct {
	tool  string   // "module.tool"
	input template // what the tool gets
}

func parseCall(p *parser, f fields) action {
	c := &call{tool: p.tool(f["tool"]), input: fixed{map[string]any{}}}
	if n := f["with"]; n != nil {
		c.input = p.template(n)
	}
	return c
}

func (c *call) calls(at journal.Step) []Call {
	what := Call{Step: at, Tool: c.tool}
	if v, ok := known(c.input); ok {
		what.Input, _ = encode(v) // nil where run will say what is wrong
	}
	return []Call{what}
}

func (c *call) do(ctx context.Context, r *run, at journal.Step) ([]byte, error) {
	input, err := r.encode(ctx, c.input, "the input")
	if err != nil {
		return nil, r.failed(at, c.tool, err)
	}
	output, err := r.caller.Call(ctx, at, c.tool, input)
	if err != nil {
		return nil, r.failed(at, c.tool, err)
	}
	return output, nil
}

// failed names the step in a failure of the tool or of the plan; what stops the run is returned as it is.
func (r *run) failed(at journal.Step, tool string, err error) error {
	if e := (*toolabi.Error)(nil); errors.As(err, &e) {
		return &StepError{Step: at, Tool: tool, Err: err}
	}
	return err
}
