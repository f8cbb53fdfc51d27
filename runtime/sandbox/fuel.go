package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// fuelSlice is how much fuel a guest gets at once. It decides how often the host has a turn: some tens of microseconds of
// common code, and less than the promised 20 ms of the slowest.
const fuelSlice = 1 << 15

// fuel is the account of a call.
type fuel struct {
	limit uint64 // 0 means none
	used  uint64 // without what is left in the gauge
	slice int32  // what the gauge was filled with
}

// settle takes over what was used since the gauge was filled.
func (f *fuel) settle(g wasm.Gauge) {
	f.used += uint64(int64(f.slice) - int64(g.Fuel()))
	f.slice = g.Fuel()
}

// refill fills the gauge again, or reports false when there is no fuel left.
func (f *fuel) refill(g wasm.Gauge) (wasm.Gauge, bool) {
	f.settle(g)
	slice := uint64(fuelSlice)
	if f.limit != 0 {
		if f.used > f.limit {
			return g, false
		}
		slice = min(slice, f.limit-f.used)
	}
	f.slice = int32(slice)
	return g.Refilled(f.slice), true
}

// refill is the host's turn while a guest computes. Where the guest ends is decided by what it computed and by ctx alone, so
// that a limit of fuel is reached at the same place each time.
func (c *call) refill(ctx context.Context, g wasm.Gauge) wasm.Gauge {
	if ctx.Err() != nil {
		c.end(context.Cause(ctx))
	}
	filled, ok := c.fuel.refill(g)
	if !ok {
		c.outOfFuel = true
		panic(errUnwind)
	}
	if g.Overflowed() {
		c.overflowed = true
		panic(errUnwind)
	}
	c.keepStack(ctx, g)
	return filled
}

// limitFuel is the error of a call that used up its fuel.
func (c *call) limitFuel() *toolabi.Error {
	return toolabi.NewError(toolabi.LimitFuel, fmt.Sprintf("it wanted more than %d units of fuel", c.fuel.limit))
}

// linkHost links what rewritten modules import beside what their authors wrote.
func linkHost(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(wasm.HostModule)
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
		stack[0] = uint64(callFrom(ctx).refill(ctx, wasm.Gauge(stack[0])))
	}), letters("I"), letters("I")).Export(wasm.RefillImport)
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link %s: %w", wasm.HostModule, err)
	}
	return nil
}
