package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// CompileEvent tells of a compilation, for a line of progress.
type CompileEvent struct {
	// Module is the module's digest, Name its manifest's name and Size its length in bytes.
	Module toolabi.Digest
	Name   string
	Size   int
	// Done is false when it begins and true when it ended.
	Done bool
	// Took is how long it was, once Done.
	Took time.Duration
	// Err is why it failed.
	Err error
}

// module is a module in use. Only ready may be looked at before it is closed.
type module struct {
	ready    chan struct{}
	info     *Module
	engine   *engine
	compiled wazero.CompiledModule
	err      error
	usual    atomic.Uint64 // bytes of memory that the last call ended with
}

// Prepare returns when a module can be entered at once: loaded, judged and compiled. Errors: as Invoke for a module that
// cannot be run.
func (s *Sandbox) Prepare(ctx context.Context, d toolabi.Digest) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	_, err := s.load(ctx, d)
	return err
}

// load returns the module with this digest, compiled. However many calls want one at the same time, it is compiled once,
// and the others are not held up. When ctx ends first, its cause is returned and the compilation goes on for the next call.
func (s *Sandbox) load(ctx context.Context, d toolabi.Digest) (*module, error) {
	s.mu.Lock()
	m, ok := s.modules[d]
	if !ok {
		m = &module{ready: make(chan struct{})}
		s.modules[d] = m
		s.busy++
		go s.fill(context.WithoutCancel(ctx), m, d)
	}
	s.mu.Unlock()
	select {
	case <-m.ready:
		return m, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fill loads and compiles a module. What failed is forgotten, so that the next call tries again.
func (s *Sandbox) fill(ctx context.Context, m *module, d toolabi.Digest) {
	defer s.leave()
	defer close(m.ready)
	if m.err = s.prepare(ctx, m, d); m.err != nil {
		s.mu.Lock()
		delete(s.modules, d)
		s.mu.Unlock()
	}
}

func (s *Sandbox) prepare(ctx context.Context, m *module, d toolabi.Digest) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("load module %s: %v", d.Short(), r)
		}
	}()
	bytes, err := s.cfg.Source(ctx, d)
	if err != nil {
		return fmt.Errorf("load module %s: %w", d.Short(), err)
	}
	if got := toolabi.DigestOf(bytes); got != d {
		return named(refuse(WrongDigest, "its source gave bytes with the digest %s", got.Short()), d.Short())
	}
	var b *wasm.Module
	if b, m.info, err = inspect(bytes, s.cfg.Caps); err != nil {
		return named(err, d.Short())
	}
	if m.engine, err = s.engineFor(ctx, m.info.Manifest); err != nil {
		return err
	}
	m.compiled, err = s.compile(ctx, m.engine, b, m.info)
	return named(err, d.Short())
}

// compile tells OnCompile about it, unless the code comes from the cache.
func (s *Sandbox) compile(ctx context.Context, e *engine, b *wasm.Module, info *Module) (wazero.CompiledModule, error) {
	ctx = experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), 4))
	if s.cfg.OnCompile == nil || s.cache.has(info.Digest) {
		return s.compileCached(ctx, e, b, info)
	}
	event := CompileEvent{Module: info.Digest, Name: info.Manifest.Name, Size: info.Size}
	s.cfg.OnCompile(event)
	began := time.Now()
	compiled, err := s.compileCached(ctx, e, b, info)
	event.Done, event.Took, event.Err = true, time.Since(began), err
	s.cfg.OnCompile(event)
	return compiled, err
}

// compileCached gets around a cache that is damaged, by emptying it, and around one that cannot be written: then the code
// is in memory by the second attempt.
func (s *Sandbox) compileCached(ctx context.Context, e *engine, b *wasm.Module, info *Module) (wazero.CompiledModule, error) {
	compiled, err := e.compile(ctx, b)
	if errors.Is(err, errCacheDamaged) {
		s.cache.empty()
	}
	if errors.Is(err, errCache) {
		compiled, err = e.compile(ctx, b)
	}
	if err == nil {
		s.cache.add(info.Digest)
	}
	return compiled, err
}
