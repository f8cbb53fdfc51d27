package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
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

// coreFeatures are what the compiler takes, and bounds what it gets built in.
const coreFeatures = api.CoreFeaturesV2

var bounds wasm.Bounds

// newCompiler makes an engine that compiles and runs nothing. Code that one compiles is what the other takes from a cache,
// because this is the one place that says how.
func newCompiler(ctx context.Context, cfg wazero.RuntimeConfig) *engine {
	cfg = cfg.WithCoreFeatures(coreFeatures).WithDebugInfoEnabled(false)
	return &engine{wazero.NewRuntimeWithConfig(ctx, cfg)}
}

// bounded returns a module as the compiler gets it, with its bounds built in. The error is a *LoadError.
func bounded(b *wasm.Module) ([]byte, error) {
	code, err := b.Rewrite(bounds)
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
