package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// phase is how far a call has come.
type phase uint8

const (
	starting phase = iota // _initialize
	running               // wrun_invoke
	over
)

// call is the state of one call, reached by the host's functions through the context. One goroutine uses it.
type call struct {
	ctx  callContext
	host toolabi.HostFunc
	seen
	instance *instance // nil until there is one
	from     *snapshot // what to make the instance of; nil when it begins with _initialize
	memory   *linear   // of the instance, which may be on its way
	returned bool      // the guest came back from wrun_invoke by itself

	random randomness
	fuel   fuel
	phase  phase

	input  []byte // the encoded request
	output []byte // the encoded reply, as far as it was written
	result []byte // what the last host function left

	memoryMax     uint64 // bytes
	outputMax     int    // bytes of output, without its envelope
	outputRefused bool

	held  holding // of the budget
	paid  uint64  // bytes of input, output, request and result that there is room for
	stack callStack
	asked bool             // the host was asked for something, or the call has directories
	said  map[string]*said // by function

	stop   error          // what the host wants returned
	breach *toolabi.Error // how the guest broke the ABI
	exit   *uint32        // the code of proc_exit

	outOfFuel  bool     // it reached its limit of fuel
	overflowed bool     // it reached the limit of its stack
	program    *program // of a call of a program
}

// seen is what _initialize leaves behind in the call, beside its instance. All else of a call begins with the invocation, as
// the time of day, randomness and fuel do.
type seen struct {
	clock   clock
	stdio   tail
	streams streams // of a module of ABI 1
}

// clone returns a copy that shares nothing with s.
func (s *seen) clone() seen {
	c := *s
	c.stdio.buf = slices.Clone(s.stdio.buf)
	return c
}

type callKey struct{}

// callContext is a context that knows its call. It is a part of the call, so that it costs nothing.
type callContext struct {
	context.Context
	call *call
}

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// under returns the context of the call, under one that ends with it.
func (c *call) under(ctx context.Context) context.Context {
	c.ctx = callContext{Context: ctx, call: c}
	return &c.ctx
}

// spare implements memoryUser.
func (c *call) spare() { c.held.spare() }

// more implements memoryUser.
func (c *call) more(n uint64) error { return c.held.more(c.ctx.Context, n) }

func callFrom(ctx context.Context) *call {
	if own, ok := ctx.(*callContext); ok {
		return own.call
	}
	return ctx.Value(callKey{}).(*call)
}

// pause unwinds the guest when the context has ended. What the host does for a guest costs the guest no fuel, so whatever may
// take long looks here first.
func (c *call) pause(ctx context.Context) {
	if ctx.Err() != nil {
		c.end(context.Cause(ctx))
	}
}

// errUnwind is thrown through the guest to end a call; why stands in the call.
var errUnwind = errors.New("call ended by the host")

// end unwinds the guest because the host has to stop.
func (c *call) end(err error) {
	c.stop = err
	panic(errUnwind)
}

// misuse unwinds the guest because it broke the ABI.
func (c *call) misuse(format string, a ...any) {
	c.breach = toolabi.NewError(toolabi.Protocol, fmt.Sprintf(format, a...))
	panic(errUnwind)
}

// leave unwinds the guest because it asked to exit.
func (c *call) leave(code uint32) {
	c.exit = &code
	panic(errUnwind)
}

// must checks that the guest may use a function of wrun now.
func (c *call) must(name string) {
	if c.phase != running {
		c.misuse("%s was used outside of %s", name, toolabi.ExportInvoke)
	}
}
