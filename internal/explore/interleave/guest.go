package interleave

import (
	"context"
	"errors"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// guests enters the tools of a scenario, which are Go functions.
type guests struct {
	t *trial
	p *process
}

// guest is what a tool sees of the host.
type guest struct {
	guests
	ctx   context.Context
	host  toolabi.HostFunc
	input []byte
	name  string // what it was called for: the driver's step

	promise promise
}

// Invoke enters a tool.
func (g guests) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	in := guest{g, ctx, host, inv.Input, strings.Trim(string(inv.Input), `"`), g.t.scenario.promise(inv.Tool)}
	if strings.HasPrefix(in.name, "{") {
		in.name = inv.Tool
	}
	g.t.began(g.p, "a tool", in.name)
	g.t.checkEntered(g.p, inv)
	if g.t.pause(g.p, waiter{at: atEnter, step: in.name}) == dead {
		return toolabi.Outcome{}, errDead
	}
	out, err := g.t.scenario.tool(inv.Tool).run(&in)
	if g.t.pause(g.p, waiter{at: atReturn, step: in.name}) == dead {
		return toolabi.Outcome{}, errDead
	}
	if err == nil {
		err = in.cut()
	}
	var outcome *toolabi.Error
	switch {
	case err == nil && strings.HasPrefix(out, "{"):
		return toolabi.Outcome{Output: []byte(out)}, nil
	case err == nil:
		return toolabi.Outcome{Output: []byte(`"` + out + `"`)}, nil
	case errors.As(err, &outcome):
		return toolabi.Outcome{Err: outcome}, nil
	}
	return toolabi.Outcome{}, err
}

// cut returns why the call is over, or nil.
func (g *guest) cut() error {
	if g.ctx.Err() == nil {
		return nil
	}
	return context.Cause(g.ctx)
}

// ask asks the host. A *toolabi.Error is an answer; any other error unwinds the tool.
func (g *guest) ask(function, request string) (string, error) {
	if g.t.pause(g.p, waiter{at: atAsk, step: g.name}) == dead {
		return "", errDead
	}
	if err := g.cut(); err != nil {
		return "", err
	}
	a, err := g.host(g.ctx, function, []byte(request))
	if err != nil {
		return "", err
	}
	if a.Err != nil {
		return "", a.Err
	}
	return string(a.Reply), nil
}

// call calls another tool, for something that has a name of its own.
func (g *guest) call(tool, name string) (string, error) {
	request, err := toolabi.Encode(toolabi.ToolCallRequest{Tool: g.t.scenario.full(tool), Input: []byte(`"` + name + `"`)})
	if err != nil {
		return "", err
	}
	reply, err := g.ask(toolabi.FuncToolCall, string(request))
	if err != nil {
		return "", err
	}
	var r toolabi.ToolCallReply
	err = toolabi.Decode([]byte(reply), &r)
	return strings.Trim(string(r.Output), `"`), err
}

// write changes the world without asking the host.
func (g *guest) write() (string, error) {
	if g.t.pause(g.p, waiter{at: atWrite, step: g.name}) == dead {
		return "", errDead
	}
	g.t.mu.Lock()
	defer g.t.mu.Unlock()
	if g.p.dead {
		return "", errDead
	}
	if err := g.cut(); err != nil { // nothing of it runs any more
		return "", err
	}
	g.t.world.write(g.name, g.promise)
	g.t.note(g.p.name + " writes " + g.name)
	return g.t.world.replies[g.name], nil
}

// wait asks a function that suspends the run.
func (g *guest) wait(function string, request any) error {
	b, err := toolabi.Encode(request)
	if err == nil {
		_, err = g.ask(function, string(b))
	}
	return err
}

func (g *guest) read() (string, error) { return g.ask(toolabi.FuncClock, "") }

// send asks for an operation. What was read before is part of the request, so that a read that came out otherwise after
// it was relied on shows as a divergence.
func (g *guest) send(op, read string) (string, error) {
	return g.ask(toolabi.FuncHTTPSend, g.name+"."+op+"?"+read)
}
