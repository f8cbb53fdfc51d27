package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// judge turns the end of a call into its outcome. First comes what the host wanted, then what the guest did, then what
// stopped it from outside.
func (c *call) judge(ctx context.Context, status uint32, err error) (toolabi.Outcome, error) {
	switch {
	case c.stop != nil:
		return c.stopped(ctx)
	case c.program != nil && (err == nil || c.exit != nil):
		return c.programEnded(), nil
	case err == nil:
		return c.reply(status), nil
	case c.breach != nil:
		return c.failed(c.breach), nil
	case c.outOfFuel:
		return c.failed(c.limitFuel()), nil
	case c.overflowed:
		return c.failed(c.trapped("stack overflow")), nil
	case c.exit != nil:
		return c.failed(toolabi.NewError(toolabi.Exited, fmt.Sprintf("the module exited with status %d", *c.exit)+c.hint())), nil
	}
	if kind := trapKind(err); kind != "" {
		return c.failed(c.trapped(kind)), nil
	}
	return toolabi.Outcome{}, fmt.Errorf("run module: %s", firstLine(err))
}

// trapped is the error of a trap of WebAssembly.
func (c *call) trapped(kind string) *toolabi.Error {
	e := toolabi.NewError(toolabi.Trapped, kind+c.hint())
	e.Detail = kind
	return e
}

// stopped returns the error of a host function. Only the context's own error counts as the context's end: one that wraps it
// says more.
func (c *call) stopped(ctx context.Context) (toolabi.Outcome, error) {
	if ctx.Err() != nil && (c.stop == ctx.Err() || c.stop == context.Cause(ctx)) {
		return ended(ctx)
	}
	return toolabi.Outcome{}, c.stop
}

// reply reads what the guest wrote.
func (c *call) reply(status uint32) toolabi.Outcome {
	if status != 0 {
		return c.failed(toolabi.NewError(toolabi.Protocol, fmt.Sprintf("%s returned %d", toolabi.ExportInvoke, int32(status))+c.hint()))
	}
	r, err := toolabi.DecodeReply(c.output)
	if err != nil {
		return c.failed(toolabi.NewError(toolabi.Protocol, "the reply cannot be read: "+toolabi.CleanLine(err.Error(), toolabi.MaxText)))
	}
	switch {
	case r.Err != nil && r.Output != nil:
		return c.failed(toolabi.NewError(toolabi.Protocol, "the reply has both an output and an error"))
	case r.Err != nil && r.Err.Code == toolabi.LimitOutput && c.outputRefused:
		return c.failed(nil)
	case r.Err != nil:
		return toolabi.Outcome{Err: claim(r.Err)}
	case len(r.Output) > c.outputMax:
		c.outputRefused = true
		return c.failed(nil)
	case !json.Valid(r.Output):
		return c.failed(toolabi.NewError(toolabi.Protocol, "the output is not JSON"))
	}
	return toolabi.Outcome{Output: r.Output}
}

// failed blames a limit that was reached before for what followed from it.
func (c *call) failed(e *toolabi.Error) toolabi.Outcome {
	switch {
	case c.memory.refused:
		e = toolabi.NewError(toolabi.LimitMemory, fmt.Sprintf("it wanted more than %d bytes of memory", c.memoryMax))
	case c.outputRefused:
		e = toolabi.NewError(toolabi.LimitOutput, fmt.Sprintf("it wanted to write more than %d bytes of output", c.outputMax))
	}
	return toolabi.Outcome{Err: e}
}

// claimable are the codes that a tool may give to its own failure: its own, and what a host function told it. The others
// say what a host found.
var claimable = []toolabi.Code{
	toolabi.Denied, toolabi.NotFound, toolabi.Conflict, toolabi.Timeout, toolabi.Unavailable, toolabi.TooLarge,
	toolabi.Invalid, toolabi.RateLimited, toolabi.Unsupported, toolabi.Failed, toolabi.Expired,
}

// maxDetail is the longest Detail, in bytes.
const maxDetail = 64

// claim returns the error of a tool with everything in it that a tool may say.
func claim(e *toolabi.Error) *toolabi.Error {
	c := &toolabi.Error{
		Code:    e.Code,
		Message: toolabi.CleanText(e.Message, toolabi.MaxText),
		Retry:   e.Retry,
		Effect:  e.Effect,
		Detail:  toolabi.CleanLine(e.Detail, maxDetail),
	}
	if !slices.Contains(claimable, c.Code) {
		c.Code = toolabi.Failed
	}
	if c.Retry < toolabi.RetryNever || c.Retry > toolabi.RetryAfter {
		c.Retry = toolabi.RetryNever
	}
	if c.Retry == toolabi.RetryAfter {
		c.RetryAfterMS = e.RetryAfterMS
	}
	if c.Effect == 0 {
		c.Effect = toolabi.EffectNone
	}
	if c.Effect > toolabi.EffectApplied {
		c.Effect = toolabi.EffectUnknown
	}
	return c
}

// trapKinds are the traps of WebAssembly as wazero words them.
var trapKinds = []string{
	"unreachable", "out of bounds memory access", "invalid table access", "indirect call type mismatch",
	"integer divide by zero", "integer overflow", "invalid conversion to integer", "stack overflow", "null reference",
	"out of bounds table access",
}

// trapKind returns which trap an error is, "" when it is none.
func trapKind(err error) string {
	line := ": " + firstLine(err)
	for _, kind := range trapKinds {
		if strings.HasSuffix(line, ": "+kind) {
			return kind
		}
	}
	return ""
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return toolabi.CleanLine(line, toolabi.MaxText)
}

// hint returns, in parentheses, the line of the guest's output that most likely says why it stopped.
func (c *call) hint() string {
	line := panicLine(c.stdio.text())
	if line == "" {
		return ""
	}
	return " (" + toolabi.CutText(line, 500) + ")"
}

// panicLine returns the last line with which the runtime of a language says why it gives up.
func panicLine(text []byte) (last string) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.Contains(line, "panicked at") {
			last = line
		}
	}
	return last
}
