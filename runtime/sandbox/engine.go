package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// engine is a wazero runtime with everything linked that a module may import.
type engine struct{ runtime wazero.Runtime }

// newEngine takes a configuration that says how code is compiled and where it is cached, and what to link beside what every
// rewritten module imports.
func newEngine(ctx context.Context, cfg wazero.RuntimeConfig, links ...func(context.Context, wazero.Runtime) error) (*engine, error) {
	e := newCompiler(ctx, cfg)
	for _, link := range append([]func(context.Context, wazero.Runtime) error{linkHost}, links...) {
		if err := link(ctx, e.runtime); err != nil {
			_ = e.runtime.Close(ctx)
			return nil, err
		}
	}
	return e, nil
}

// newCompiler makes an engine that compiles and runs nothing. Code that one compiles is what the other takes from a cache,
// because this is the one place that says how.
func newCompiler(ctx context.Context, cfg wazero.RuntimeConfig) *engine {
	cfg = cfg.WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
	return &engine{wazero.NewRuntimeWithConfig(ctx, cfg)}
}

// bounded returns a module as the compiler gets it, with its bounds built in. The error is a *LoadError.
func bounded(b *wasm.Module) ([]byte, error) {
	code, err := b.Rewrite(wasm.Bounds{})
	var tooBig *wasm.CapError
	switch {
	case errors.As(err, &tooBig):
		return nil, refuse(TooBig, "%w", err)
	case err != nil:
		return nil, refuse(ABI, "%w", err)
	}
	return code, nil
}

// compile validates and compiles a module, as the compiler gets it. The error is a *LoadError, unless it is one of the cache
// or the end of ctx.
func (e *engine) compile(ctx context.Context, code []byte) (wazero.CompiledModule, error) {
	compiled, err := e.runtime.CompileModule(ctx, code)
	var path *fs.PathError
	switch {
	case err == nil:
		return compiled, nil
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return nil, err
	case strings.Contains(err.Error(), "compilationcache"):
		return nil, fmt.Errorf("%w: %w", errCacheDamaged, err)
	case errors.As(err, &path):
		return nil, fmt.Errorf("%w: %w", ErrCache, err)
	}
	return nil, refuse(Malformed, "malformed WebAssembly: %s", firstLine(err))
}

// ErrCache says that Config.CacheDir cannot be used: it cannot be read or written, or is not the user's alone.
var ErrCache = errors.New("use the cache of compiled code")

var errCacheDamaged = fmt.Errorf("%w: it is damaged", ErrCache)

// instance is one module in one memory, for one call.
type instance struct {
	mod   api.Module
	entry api.Function
	gauge api.MutableGlobal
}

// instantiate makes a clean instance whose entry is an exported function without or with one parameter. Nothing of the
// module runs yet.
func (e *engine) instantiate(ctx context.Context, compiled wazero.CompiledModule, c *call, entry string) (*instance, error) {
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithArgs(c.program.argv()...).
		WithStdout(&c.stdio).WithStderr(&c.stdio).
		WithRandSource(&c.random).
		WithWalltime(func() (int64, int32) { return c.clock.wall / 1e9, int32(c.clock.wall % 1e9) }, sys.ClockResolution(1)).
		WithNanotime(func() int64 { return c.clock.mono }, sys.ClockResolution(1)).
		WithNanosleep(c.clock.advance)
	mod, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, &c.memory), compiled, cfg)
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	gauge, ok := mod.ExportedGlobal(wasm.GaugeExport).(api.MutableGlobal)
	if !ok {
		return nil, errors.Join(errors.New("instantiate: the module has no gauge"), mod.Close(ctx))
	}
	c.stack.full = wasm.Gauge(gauge.Get()).StackBytes()
	return &instance{mod, mod.ExportedFunction(entry), gauge}, nil
}

// initialize runs the module's _initialize, if it has one.
func (i *instance) initialize(ctx context.Context) error {
	f := i.mod.ExportedFunction(toolabi.ExportInitialize)
	if f == nil {
		return nil
	}
	_, err := f.Call(ctx)
	return err
}

// close frees the instance, after its last call returned.
func (i *instance) close(ctx context.Context) { _ = i.mod.Close(ctx) }
