package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wrun-dev/wrun/toolabi"
)

// linkWASI links WASI preview 1. Most of what is listed is wazero's, fed with the call's own clock, randomness and streams;
// leaving and waiting are ours, and so is everything that is not listed, which does nothing.
func linkWASI(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(toolabi.WASIModule)
	wasi.NewFunctionExporter().ExportFunctions(b)
	for _, f := range wasiFuncs {
		if !f.listed {
			link(b, f, func(*call, api.Module, []uint64) uint32 { return errnoNosys })
		}
	}
	exit, _ := wasiByName("proc_exit")
	link(b, exit, func(c *call, _ api.Module, p []uint64) uint32 {
		c.leave(uint32(p[0]))
		return 0
	})
	poll, _ := wasiByName("poll_oneoff")
	link(b, poll, (*call).pollOneoff)
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link %s: %w", toolabi.WASIModule, err)
	}
	return nil
}

func link(b wazero.HostModuleBuilder, f wasiFunc, fn func(c *call, mod api.Module, p []uint64) uint32) {
	results := letters(f.results())
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		c := callFrom(ctx)
		c.pause(ctx)
		errno := fn(c, mod, stack)
		if len(results) > 0 {
			stack[0] = uint64(errno)
		}
	}), letters(f.params), results).Export(f.name)
}
