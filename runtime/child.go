package runtime

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// toolCall makes a step of a tool's call of another tool. The called tool has its own declaration, capabilities and
// limits; nothing of its caller's authority goes with the call.
func (f *frame) toolCall(fn hostfuncs.Func, request []byte) op {
	n := f.next()
	o := op{step: f.step.Child(n), name: toolabi.FuncToolCall, class: toolabi.Call, request: request, digest: requestDigest(toolabi.FuncToolCall, request), frame: f}
	refuse := func(err *toolabi.Error) op {
		o.refused = readable(err)
		return o
	}
	if fn.Check != nil {
		if err := fn.Check(f.hostCall(fn, nil), request); err != nil {
			return refuse(hostfuncs.AsError(err))
		}
	}
	var req toolabi.ToolCallRequest
	if err := toolabi.Decode(request, &req); err != nil {
		return refuse(toolabi.NewError(toolabi.Invalid, toolabi.FuncToolCall+": "+err.Error()))
	}
	module, tool, err := f.run.spec.tool(req.Tool)
	if err != nil {
		return refuse(hostfuncs.AsError(err))
	}
	if err := f.mayCall(req.Tool, module, tool); err != nil {
		return refuse(err)
	}
	if err := f.run.engine.judgeInput(req.Tool, tool, req.Input); err != nil {
		return refuse(err)
	}
	return f.run.callOp(f, o.step, module, tool, req.Input)
}

// mayCall says why a tool may not be called from here, or nil.
func (f *frame) mayCall(name string, module Module, tool toolabi.Tool) *toolabi.Error {
	declared, other := f.tool.Declared(), tool.Declared()
	switch {
	case !declared.Allows(toolabi.Call):
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s is not for a tool that declares itself %s", toolabi.FuncToolCall, declared))
	case declared == toolabi.ReadOnly && other != toolabi.Pure && other != toolabi.ReadOnly:
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf("a tool that declares itself read may not call %s, which declares itself %s", name, other))
	}
	depth := 1
	for c := f; c != nil; c = c.caller {
		if c.module.Digest == module.Digest && c.tool.Name == tool.Name {
			e := toolabi.NewError(toolabi.Conflict, fmt.Sprintf("%s is called by itself, through %s", name, f.step))
			e.Detail = toolabi.DetailCycle
			return e
		}
		depth++
	}
	if depth > toolabi.MaxCallDepth || !f.step.Holds(roomInside) {
		e := toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("calls are nested %d deep, at most %d are allowed", depth, toolabi.MaxCallDepth))
		e.Detail = toolabi.DetailDepth
		return e
	}
	return nil
}

// roomInside is how many levels of steps a call may need below its caller's: itself, an effect, its look-up, and what that asks.
const roomInside = 4

// next counts a host call that has a step.
func (f *frame) next() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n
}

// childAnswer is the answer of tool_call made of what came of the call.
func childAnswer(out outcome) (toolabi.Answer, error) {
	a := toolabi.Answer{Err: out.err, At: out.at}
	if out.err != nil {
		return a, nil
	}
	reply, err := toolabi.Encode(toolabi.ToolCallReply{Output: out.reply})
	if err != nil {
		return a, &hostError{fmt.Errorf("answer of %s: %w", toolabi.FuncToolCall, err)}
	}
	a.Reply = reply
	return a, nil
}

// callTool answers a tool's call of another tool.
func (f *frame) callTool(ctx context.Context, fn hostfuncs.Func, request []byte) (toolabi.Answer, error) {
	o := f.toolCall(fn, request)
	out, err := f.ask(ctx, o)
	if err != nil {
		return toolabi.Answer{}, err
	}
	f.answered(o, out)
	if out.err == nil {
		if err := f.run.engine.judgeOutput(o.name, o.tool, out.reply); err != nil {
			out.err = err
		}
	}
	return childAnswer(out)
}
