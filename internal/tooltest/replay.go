package tooltest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// exchange is one use of a host function in a log: what was asked, and what came of it.
type exchange struct {
	function string
	request  []byte
	reply    []byte
	err      *toolabi.Error
	open     bool // nothing came of it
}

// past is a log by its steps.
type past struct {
	intents, results map[journal.Step]journal.Entry
}

// pastOf reads a log whose bodies are in its entries.
func pastOf(log []journal.Entry) past {
	p := past{map[journal.Step]journal.Entry{}, map[journal.Step]journal.Entry{}}
	for _, e := range log {
		switch e.Kind {
		case journal.Intent:
			p.intents[e.Step] = e
		case journal.Result:
			p.results[e.Step] = e
		}
	}
	return p
}

// maxAttempts is how many attempts of a step are looked for.
const maxAttempts = 100

// last is the last attempt of a step that the log knows.
func (p past) last(step journal.Step) journal.Step {
	found := step
	for n := 2; n <= maxAttempts; n++ {
		next := step.At(n)
		_, begun := p.intents[next]
		_, ended := p.results[next]
		if begun || ended {
			found = next
		}
	}
	return found
}

// errOpen ends a replay where the log does.
var errOpen = errors.New("the log ends here")

// replayed is one call as a log has it.
type replayed struct {
	tool      string
	input     []byte
	started   int64
	exchanges []exchange
	output    []byte
	err       *toolabi.Error
	open      bool // its last exchange has no outcome
}

// replay enters the module once more for a call of a log, and answers it from there: what a tool asks and is told is not all in a log,
// since of what only reads the request is not kept.
func (b *Bench) replay(ctx context.Context, p past, step journal.Step) (*replayed, error) {
	step = p.last(step)
	call, ok := p.intents[step]
	if !ok || toolabi.Class(call.Class) != toolabi.Call && call.Started == 0 {
		return nil, fmt.Errorf("the log has no call %s", step)
	}
	if toolabi.Digest(call.Module) != b.module.Digest {
		return nil, fmt.Errorf("%s was a call of another module, or of another version of this one", step)
	}
	r := &replayed{tool: call.Name[strings.LastIndexByte(call.Name, '.')+1:], input: call.Body, started: call.Started}
	n := 0
	host := func(ctx context.Context, name string, request []byte) (toolabi.Answer, error) {
		if f, ok := toolabi.FunctionByName(name); ok && f.Class == toolabi.Free {
			return toolabi.Answer{}, nil
		}
		n++
		return r.answer(ctx, b, p, p.last(step.Child(n)), name, request)
	}
	out, err := b.box.Invoke(ctx, toolabi.Invocation{
		Module: b.module.Digest, Tool: r.tool, Input: r.input, Started: call.Started, Seed: call.Seed, Limits: b.module.Manifest.Limits,
	}, host)
	switch {
	case errors.Is(err, errOpen):
		r.open = true
	case err != nil:
		return nil, fmt.Errorf("enter the module once more: %w", err)
	}
	r.output, r.err = out.Output, out.Err
	return r, nil
}

// answer is what the log has of the step.
func (r *replayed) answer(ctx context.Context, b *Bench, p past, step journal.Step, name string, request []byte) (toolabi.Answer, error) {
	x := exchange{function: name, request: request}
	if name == toolabi.FuncToolCall {
		if err := r.inner(ctx, b, p, step, request); err != nil {
			return toolabi.Answer{}, err
		}
	}
	result, ok := p.results[step]
	if !ok {
		x.open = true
		r.exchanges = append(r.exchanges, x)
		return toolabi.Answer{}, errOpen
	}
	a := toolabi.Answer{Reply: result.Body, At: result.Time}
	if result.At != 0 {
		a.At = result.At
	}
	if result.Outcome != journal.OK {
		a.Reply, a.Err = nil, new(toolabi.Error)
		if err := toolabi.Decode(result.Body, a.Err); err != nil {
			return toolabi.Answer{}, fmt.Errorf("the error of %s: %w", step, err)
		}
	}
	x.reply, x.err = a.Reply, a.Err
	r.exchanges = append(r.exchanges, x)
	if name == toolabi.FuncToolCall && a.Err == nil {
		reply, err := toolabi.Encode(toolabi.ToolCallReply{Output: a.Reply})
		if err != nil {
			return toolabi.Answer{}, err
		}
		a.Reply = reply
	}
	return a, nil
}

// inner adds what another tool of the same module asked when it was called.
func (r *replayed) inner(ctx context.Context, b *Bench, p past, step journal.Step, request []byte) error {
	module, _, _ := strings.Cut(decoded[toolabi.ToolCallRequest](request).Tool, ".")
	if _, entered := p.intents[step]; !entered || module != b.module.Name {
		return nil
	}
	inner, err := b.replay(ctx, p, step)
	if err != nil {
		return err
	}
	r.exchanges = append(r.exchanges, inner.exchanges...)
	return nil
}
