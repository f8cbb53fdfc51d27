package plan

import (
	"context"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// call is the step that calls a tool.
type call struct {
	tool  string   // "module.tool"
	input template // what the tool gets
	retry toolabi.RetryPolicy
}

func parseCall(p *parser, _ *yaml.Node, f fields) action {
	c := &call{tool: p.tool(f["tool"]), input: fixed{map[string]any{}}}
	if n := f["with"]; n != nil {
		c.input = p.template(n)
	}
	if n := f["retry"]; n != nil {
		c.retry = p.retry(n)
	}
	return c
}

// maxAttempts is how often a step may be tried in all.
const maxAttempts = 100

func (p *parser) retry(n *yaml.Node) toolabi.RetryPolicy {
	var policy toolabi.RetryPolicy
	f := p.fields(n, `"retry"`, []string{"attempts", "backoff", "max_backoff"})
	if f == nil {
		return policy
	}
	if v := f["attempts"]; v != nil {
		policy.Attempts = uint32(p.number(v, `"attempts"`, maxAttempts))
	} else {
		p.fail(n, `"retry" needs "attempts": how often the step may be tried in all`)
	}
	if v := f["backoff"]; v != nil {
		policy.BackoffMS = uint64(p.duration(v, `"backoff"`).Milliseconds())
	}
	if v := f["max_backoff"]; v != nil {
		policy.MaxBackoffMS = uint64(p.duration(v, `"max_backoff"`).Milliseconds())
		if policy.MaxBackoffMS < policy.BackoffMS {
			p.fail(v, `"max_backoff" is less than "backoff"`)
		}
	}
	return policy
}

func (c *call) calls(at journal.Step) []Call {
	what := Call{Step: at, Tool: c.tool}
	if v, ok := known(c.input); ok {
		what.Input, _ = encode(v) // nil where run will say what is wrong
	}
	return []Call{what}
}

func (c *call) do(ctx context.Context, s *scope, at journal.Step, _ bool) ([]byte, error) {
	input, err := s.encode(ctx, c.input, "the input")
	if err != nil {
		return nil, err
	}
	return s.run.caller.Invoke(ctx, runtime.CallSpec{Step: at, Tool: c.tool, Input: input, Retry: c.retry})
}
