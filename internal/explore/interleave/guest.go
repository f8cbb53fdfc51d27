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
	ctx  context.Context
	host toolabi.HostFunc
	name string // what it was called for: the driver's step
}

// Invoke enters a tool.
func (g guests) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	in := guest{g, ctx, host, strings.Trim(string(inv.Input), `"`)}
	g.t.began(g.p, "a tool", in.name)
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

func (g *guest) read() (string, error) { return g.ask(toolabi.FuncClock, "") }

// send asks for an operation. What was read before is part of the request, so that a read that came out otherwise after
// it was relied on shows as a divergence.
func (g *guest) send(op, read string) (string, error) {
	return g.ask(toolabi.FuncHTTPSend, g.name+"."+op+"?"+read)
}
