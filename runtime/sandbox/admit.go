package sandbox

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// callBytes is what a call costs beside its memory, in bytes: its stack, its state, what is kept of its standard output,
	// the first callBuffers bytes of its input, output, request and answer, and the first callInstance bytes of its instance.
	callBytes    = 1 << 20
	callBuffers  = 256 << 10
	callInstance = 256 << 10
)

// attempt runs a call once there is room for it in the budget: for at least need bytes, and for what the last call of the
// module ended with where the budget has that much, so that calls that grow seldom meet each other half way.
func (s *Sandbox) attempt(ctx context.Context, m *module, c *call, inv toolabi.Invocation, need uint64) (toolabi.Outcome, error) {
	defer c.program.close()
	c.paid = max(c.buffers(), callBuffers)
	beside := callBytes + c.paid - callBuffers + max(m.beside, callInstance) - callInstance
	c.memory.paid = max(m.info.MemoryMin, min(m.usual.Load(), c.memory.limit, s.budget.size-min(beside, s.budget.size)))
	if need > beside+c.memory.paid {
		c.memory.paid = need - beside
	}
	var err error
	if c.held, err = s.budget.enter(ctx, outerHolding(ctx), inv.Pause, beside+c.memory.paid); err != nil {
		return toolabi.Outcome{Unentered: true}, err
	}
	defer c.held.leave()
	defer c.memory.release()
	c.memory.more = func(n uint64) error { return c.held.more(ctx, n) }
	run := s.run
	if c.program != nil {
		run = s.runProgram
	}
	c.stdio.over, c.random.over = ctx.Err, ctx.Err
	status, err := run(withCall(ctx, c), m, c, inv)
	c.phase = over
	m.usual.Store(c.memory.size)
	out, err := c.judge(ctx, status, err)
	out.Err = c.program.blame(out.Err)
	out.Stderr, out.Fuel = c.stdio.text(), c.fuel.used
	return out, err
}

// outerHolding returns what the call holds whose host function this context was given to, nil when there is none.
func outerHolding(ctx context.Context) *holding {
	if outer, ok := ctx.Value(callKey{}).(*call); ok {
		return outer.held
	}
	return nil
}

// again returns with how many bytes a call is begun anew that was left for want of memory. It is 0, for not at all, when
// the call had asked its host for something or had directories, when another call waits for it, or when it wants more than there ever is.
func (c *call) again(err error) uint64 {
	var e *MemoryError
	if c.asked || !errors.As(err, &e) || e.anew > e.Budget {
		return 0
	}
	return e.anew
}

// buffers is how much the host keeps of the call beside its memory, in bytes.
func (c *call) buffers() uint64 { return uint64(len(c.input) + len(c.output) + len(c.result)) }

// keep makes room for n bytes more in the buffers of the call, or unwinds it.
func (c *call) keep(ctx context.Context, n int) {
	want := c.buffers() + uint64(n)
	if want <= c.paid {
		return
	}
	want = (want + callBytes - 1) / callBytes * callBytes
	if err := c.held.more(ctx, want-c.paid); err != nil {
		c.end(err)
	}
	c.paid = want
}

// callStack is the native stack of a call, in bytes.
type callStack struct {
	full int64  // what there is at the begin
	paid uint64 // what there is room for beyond the shallow part, which is in callBytes
}

// shallowStack is how much of its stack a call may use for callBytes, in bytes.
const shallowStack = 256 << 10

// keepStack makes room for the native stack that a call uses, or unwinds it. A stack that is full is moved to one twice as
// large, so that twice what is in use counts.
func (c *call) keepStack(ctx context.Context, g wasm.Gauge) {
	used := c.stack.full - g.StackBytes()
	if used <= shallowStack {
		return
	}
	want := (2*uint64(used) + callBytes - 1) / callBytes * callBytes
	if want <= c.stack.paid {
		return
	}
	if err := c.held.more(ctx, want-c.stack.paid); err != nil {
		c.end(err)
	}
	c.stack.paid = want
}
