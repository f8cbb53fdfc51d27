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
	if err := s.admit(ctx, m, c, inv, need); err != nil {
		return toolabi.Outcome{Unentered: true}, err
	}
	defer s.dismiss(m, c)
	run := s.run
	if c.program != nil {
		run = s.runProgram
	}
	status, err := run(c.under(ctx), m, c, inv)
	c.phase = over
	if m.usual.Load() != c.memory.size { // else processors would take it from each other
		m.usual.Store(c.memory.size)
	}
	out, err := c.judge(ctx, status, err)
	out.Err = c.program.blame(out.Err)
	out.Stderr, out.Fuel = c.stdio.text(), c.fuel.used
	return out, err
}

// admit gives the call its part of the budget, and an instance where there is one.
func (s *Sandbox) admit(ctx context.Context, m *module, c *call, inv toolabi.Invocation, need uint64) error {
	c.paid = max(c.buffers(), callBuffers)
	beside := m.instanceBytes() + c.paid - callBuffers
	memory := max(m.info.MemoryMin, min(m.usual.Load(), c.memoryMax, s.budget.size-min(beside, s.budget.size)))
	c.held = holding{budget: s.budget, parent: outerHolding(ctx), pause: inv.Pause}
	i, from, err := s.budget.begin(ctx, &c.held, wants{
		bytes: max(need, beside+memory), over: c.paid - callBuffers,
		pool: m.pool, memory: c.memoryMax, fuel: c.fuel.limit,
	})
	if err != nil {
		return err
	}
	c.instance, c.from = i, from
	if i != nil {
		c.memory = i.memory
	} else {
		c.memory = &linear{kind: s.cfg.Instances.kind(), room: s.cfg.Limits.MemoryBytes, own: m.info.MemoryMax}
	}
	c.memory.serve(c, c.memoryMax, c.held.bytes-beside)
	return nil
}

// instanceBytes is what a call of the module costs beside its memory and its buffers, in bytes.
func (m *module) instanceBytes() uint64 {
	return callBytes + max(m.beside, callInstance) - callInstance
}

// maxImage is the largest memory that an image is made of, in bytes. All of it is read for that, which the guest does not pay for:
// 40 ms for this much.
const maxImage = 64 << 20

// start makes the instance of a call, and takes it to where the call begins. The context carries the call.
func (s *Sandbox) start(ctx context.Context, m *module, c *call) error {
	if c.from != nil {
		defer c.from.image.Close()
	}
	i, err := m.engine.instantiate(ctx, m.compiled, c.memory, toolabi.ExportInvoke)
	if err != nil {
		return err
	}
	c.instance, c.stack.full = i, wasm.Gauge(i.gauge.Get()).StackBytes()
	if c.from == nil {
		c.random.reseed(initSeed(s.cfg.Seed, m.info.Digest))
		if err := i.initialize(ctx); err != nil {
			return err
		}
		c.fuel.settle(wasm.Gauge(i.gauge.Get()))
		if m.pool == nil || c.memory.refused || c.memory.size > maxImage {
			return nil
		}
		if c.from = s.snapshot(m, c); c.from == nil {
			return nil
		}
		defer c.from.image.Close()
	}
	return i.adopt(c.from, m.pool.globals)
}

// snapshot takes down what _initialize left, for the calls that come, unless another call was faster. It is nil when there is
// no room for that.
func (s *Sandbox) snapshot(m *module, c *call) *snapshot {
	n := c.memory.size
	from, room := s.budget.reserve(m.pool, &c.held, n)
	if !room {
		return from
	}
	taken, err := c.instance.take(c, s.cfg.Instances.kind(), m.pool.globals)
	if err != nil {
		taken = nil
	}
	return s.budget.share(m.pool, &c.held, n, taken)
}

// dismiss ends a call whose outcome is known, after which its instance waits for the next one or is no more.
func (s *Sandbox) dismiss(m *module, c *call) {
	i := c.instance
	c.memory.user = nil
	switch {
	case i == nil:
		c.memory.release()
	case c.returned && i.snapshot != nil && c.stack.paid == 0 && i.reset():
		i.bytes = m.instanceBytes() + i.memory.region.Held()
		c.held.leaveTo(m.pool, i)
		return
	default:
		i.close()
	}
	c.held.leave()
}

// outerHolding returns what the call holds whose host function this context was given to, nil when there is none.
func outerHolding(ctx context.Context) *holding {
	if outer, ok := ctx.Value(callKey{}).(*call); ok {
		return &outer.held
	}
	return nil
}

// again returns with how many bytes a call is begun anew that was left for want of memory. It is 0, for not at all, when
// the call had asked its host for something or had directories, when another call waits for it, or when it wants more than there ever is.
func (c *call) again(err error) uint64 {
	if err == nil {
		return 0
	}
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
