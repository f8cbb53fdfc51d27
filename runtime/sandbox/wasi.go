package sandbox

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/toolabi"
)

// linkWASI links WASI preview 1 as modules of ABI 1 see it.
func linkWASI(ctx context.Context, r wazero.Runtime) error {
	return linkWASIFor(ctx, r, func(f wasiFunc) guestFunc { return f.tool })
}

// linkProgramWASI links WASI preview 1 as programs see it.
func linkProgramWASI(ctx context.Context, r wazero.Runtime) error {
	return linkWASIFor(ctx, r, func(f wasiFunc) guestFunc { return f.program })
}

// linkWASIFor links all of WASI. Everything that a guest can change or see through it is the call's and nothing the instance's, so
// that an instance is as good for one call as for another.
func linkWASIFor(ctx context.Context, r wazero.Runtime, pick func(wasiFunc) guestFunc) error {
	b := r.NewHostModuleBuilder(toolabi.WASIModule)
	for _, f := range wasiFuncs {
		fn, results := pick(f), letters(f.results())
		if fn == nil {
			fn = timed(answering(errnoNosys))
		}
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			errno := fn(callFrom(ctx), ctx, mod, stack)
			if len(results) > 0 {
				stack[0] = uint64(errno)
			}
		}), letters(f.params), results).Export(f.name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link %s: %w", toolabi.WASIModule, err)
	}
	return nil
}

// guestFunc is a function of WASI: it gets the parameters and returns an errno. Of a parameter of 32 bits only the lower half
// counts; what the upper half holds is not said.
type guestFunc func(c *call, ctx context.Context, mod api.Module, a []uint64) uint32

// timed looks first whether the call is over, which unwinds the guest. Clocks, and what else takes no time, do not: a guest whose
// time is over may still use them, and finish its reply.
func timed(fn guestFunc) guestFunc {
	return func(c *call, ctx context.Context, mod api.Module, a []uint64) uint32 {
		c.pause(ctx)
		return fn(c, ctx, mod, a)
	}
}

// answering does nothing and answers an errno.
func answering(errno uint32) guestFunc {
	return func(*call, context.Context, api.Module, []uint64) uint32 { return errno }
}

func ofStreams(fn func(s *streams, mod api.Module, a []uint64) uint32) guestFunc {
	return func(c *call, _ context.Context, mod api.Module, a []uint64) uint32 { return fn(&c.streams, mod, a) }
}

func ofProgram(fn func(p *program, ctx context.Context, mod api.Module, a []uint64) uint32) guestFunc {
	return timed(func(c *call, ctx context.Context, mod api.Module, a []uint64) uint32 {
		return fn(c.program, ctx, mod, a)
	})
}

// answer writes a result into the guest's memory.
func answer(mod api.Module, ptr uint64, b []byte) uint32 {
	if !writeTo(mod, uint32(ptr), b) {
		return errnoFault
	}
	return errnoSuccess
}

func answer32(mod api.Module, ptr uint64, v uint32) uint32 {
	b, ok := guestBytes(mod, uint32(ptr), 4)
	if !ok {
		return errnoFault
	}
	binary.LittleEndian.PutUint32(b, v)
	return errnoSuccess
}

func answer64(mod api.Module, ptr, v uint64) uint32 {
	b, ok := guestBytes(mod, uint32(ptr), 8)
	if !ok {
		return errnoFault
	}
	binary.LittleEndian.PutUint64(b, v)
	return errnoSuccess
}
