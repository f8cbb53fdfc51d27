package sandbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// Invoke runs one call of a tool in a clean instance of its module and returns what came of it. Calls run concurrently.
//
// A tool that failed, trapped, left, broke the ABI or reached a limit is an Outcome with Err set. The error is something
// else: a *LoadError when the module cannot be run, ErrClosed, a *MemoryError when the host has not the memory, what a host
// function returned as its error, unchanged, or the cause of the context's end. A context that ends because of a
// *toolabi.Error (as its cause) makes that error the Outcome's, but not while the call waits for memory: the runtime enforces
// the limit of time so, Limits.TimeoutMS is not looked at here. What the guest had already finished when the context ended
// is returned as if it had not.
//
// A call waits until Config.MemoryBudget has room for it, and again when its memory grows; Invocation.Pause is told. One that
// had to be left for want of memory, and had not asked the host for anything, is begun anew with more.
//
// Outcome.Stderr and Unentered are set beside an error too.
func (s *Sandbox) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	if err := s.enter(); err != nil {
		return toolabi.Outcome{Unentered: true}, err
	}
	defer s.leave()
	var m *module
	err := context.Cause(ctx)
	if err == nil {
		m, err = s.load(ctx, inv.Module)
	}
	switch {
	case err != nil && err == context.Cause(ctx):
		out, err := ended(ctx)
		out.Unentered = true
		return out, err
	case err != nil:
		return toolabi.Outcome{Unentered: true}, err
	}
	for need := uint64(0); ; {
		c, refused := s.newCall(inv, m.info, host)
		if refused != nil {
			return toolabi.Outcome{Err: refused, Unentered: true}, nil
		}
		out, err := s.attempt(ctx, m, c, inv, need)
		need = c.again(err)
		s.recycle(c)
		if need == 0 {
			return out, err
		}
	}
}

// maxRequestHead is what a request has beside the tool's name and the input, at most, in bytes.
const maxRequestHead = 32

// newCall prepares the state of a call, or says why the tool is not entered.
func (s *Sandbox) newCall(inv toolabi.Invocation, info *Module, host toolabi.HostFunc) (*call, *toolabi.Error) {
	if _, ok := info.Manifest.Tool(inv.Tool); !ok {
		return nil, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("module %s has no tool %s", info.Manifest.Name, quote(inv.Tool)))
	}
	if len(inv.Input) > toolabi.MaxInput {
		return nil, toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("an input of %d bytes, at most %d are allowed", len(inv.Input), toolabi.MaxInput))
	}
	limits := s.cfg.Limits.Tighten(inv.Limits)
	if info.MemoryMin > limits.MemoryBytes {
		return nil, toolabi.NewError(toolabi.LimitMemory, fmt.Sprintf("the module begins with %d bytes of memory, the call may have %d", info.MemoryMin, limits.MemoryBytes))
	}
	c := s.calls.Get().(*call)
	input := slices.Grow(c.input[:0], len(inv.Tool)+len(inv.Input)+maxRequestHead)
	input = toolabi.AppendRequest(input, toolabi.Request{ABI: 1, Tool: inv.Tool, Input: inv.Input})
	*c = call{host: host, seen: seen{clock: newClock()}, input: input, memoryMax: limits.MemoryBytes, outputMax: int(limits.OutputBytes)}
	c.fuel.limit = limits.Fuel
	if info.Manifest.Command != nil {
		return c, c.becomeProgram(info.Manifest, inv)
	}
	return c, nil
}

// recycle keeps the state of a call for the next one, so that a small call need not make one. Its host functions may have kept
// their context, which is a part of it: then it is left to them.
func (s *Sandbox) recycle(c *call) {
	if c.asked || c.program != nil || cap(c.input) > largeCopy {
		return
	}
	*c = call{input: c.input}
	s.calls.Put(c)
}

// run takes the guest from where its call begins to the end of wrun_invoke and returns its status. The context carries the
// call.
func (s *Sandbox) run(ctx context.Context, m *module, c *call, inv toolabi.Invocation) (status uint32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("run module %s: %v", m.info.Digest.Short(), r)
		}
	}()
	if c.instance == nil {
		if err := s.start(ctx, m, c); err != nil {
			return 0, err
		}
	}
	i := c.instance
	defer func() { c.fuel.settle(wasm.Gauge(i.gauge.Get())) }()
	c.begin(i, inv)
	i.stack[0] = api.EncodeU32(uint32(len(c.input)))
	err = i.entry.CallWithStack(ctx, i.stack[:])
	c.returned = err == nil
	if i.stack[0] == 0 {
		// The parameter was not 0, so this is the result: if the context ended, it was after the guest had finished.
		return 0, nil
	}
	return api.DecodeU32(i.stack[0]), err
}

// begin opens the guest's eyes: from here on it sees the invocation. What it used before is not the call's.
func (c *call) begin(i *instance, inv toolabi.Invocation) {
	if i.snapshot != nil {
		c.seen = i.snapshot.seen.clone()
	}
	c.clock.wall = inv.Started
	c.random.reseed(inv.Seed)
	c.stack.full = wasm.Gauge(i.gauge.Get()).StackBytes()
	i.gauge.Set(uint64(wasm.Gauge(i.gauge.Get()).Refilled(0)))
	c.fuel = fuel{limit: c.fuel.limit}
	c.phase = running
}

// ended returns what a call comes to whose context is over.
func ended(ctx context.Context) (toolabi.Outcome, error) {
	cause := context.Cause(ctx)
	if limit, ok := cause.(*toolabi.Error); ok { // not one that it wraps: what wraps it says more
		return toolabi.Outcome{Err: limit}, nil
	}
	return toolabi.Outcome{}, cause
}
