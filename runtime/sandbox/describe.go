package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// Describe asks a freshly built module for its manifest: it starts the module and calls its wrun_describe. It is for building
// tools only: it runs code that nobody has judged yet, within the default limit of memory, for as long as ctx lasts, and
// without any host function.
func Describe(ctx context.Context, module []byte) (*toolabi.Manifest, error) {
	b, err := parse(module, wasm.Caps{})
	if err != nil {
		return nil, err
	}
	if err := checkABI(b); err != nil {
		return nil, err
	}
	if err := checkImports(b); err != nil {
		return nil, err
	}
	if _, ok := b.Export(toolabi.ExportDescribe); !ok {
		return nil, refuse(ABI, "it does not export %s: only modules of an SDK describe themselves; write a tool.toml, and attach it with: wrun tool wrap", toolabi.ExportDescribe)
	}
	c := &call{seen: seen{clock: newClock()}, memoryMax: defaultMemory, outputMax: toolabi.MaxManifest}
	c.memory = &linear{room: c.memoryMax, own: uint64(b.Memories[0].Max) * pageSize}
	c.memory.serve(c, c.memoryMax, c.memoryMax)
	defer c.memory.release()
	if uint64(b.Memories[0].Min)*pageSize > c.memoryMax {
		return nil, refuse(TooBig, "it begins with %d pages of memory", b.Memories[0].Min)
	}
	c.random.reseed(initSeed([32]byte{}, toolabi.DigestOf(module)))
	status, err := describe(c.under(ctx), b, c)
	if err == nil && status != 0 {
		err = fmt.Errorf("it returned %d", int32(status))
	}
	if err != nil {
		return nil, c.describeError(ctx, err)
	}
	m, err := toolabi.ParseManifest(c.output)
	if err != nil {
		return nil, refuse(BadManifest, "%w", err)
	}
	return m, nil
}

// describe interprets the module: it runs once and briefly, so that compiling it would take longer.
func describe(ctx context.Context, b *wasm.Module, c *call) (status uint32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	e, err := newEngine(ctx, wazero.NewRuntimeConfigInterpreter(), linkABI, linkWASI)
	if err != nil {
		return 0, err
	}
	defer e.runtime.Close(ctx)
	code, err := bounded(b)
	if err != nil {
		return 0, err
	}
	compiled, err := e.compile(ctx, code)
	if err != nil {
		return 0, err
	}
	i, err := e.instantiate(ctx, compiled, c.memory, toolabi.ExportDescribe)
	if err != nil {
		return 0, err
	}
	defer i.close()
	c.stack.full = wasm.Gauge(i.gauge.Get()).StackBytes()
	if err := i.initialize(ctx); err != nil {
		return 0, err
	}
	c.phase = running
	stack := make([]uint64, 1)
	err = i.entry.CallWithStack(ctx, stack)
	return uint32(stack[0]), err
}

func (c *call) describeError(ctx context.Context, err error) error {
	if _, ok := err.(*LoadError); ok {
		return err
	}
	if out, judged := c.judge(ctx, 0, err); judged != nil {
		err = judged
	} else if out.Err != nil {
		err = out.Err
	}
	return fmt.Errorf("ask the module for its manifest: %w", err)
}
