package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

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
	pool     *pool         // nil when each call has an instance of its own
	beside   uint64        // bytes that an instance takes beside its memory
	usual    atomic.Uint64 // bytes of memory that the last call ended with

	waiting int    // guarded by Sandbox.mu: the calls that want it and do not have it yet
	abandon func() // ends a compilation by a command
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
// and the others are not held up. When ctx ends first, its cause is returned, and the compilation goes on for the next call;
// one by a command ends with the last call that wants it.
func (s *Sandbox) load(ctx context.Context, d toolabi.Digest) (*module, error) {
	if m := (*s.loaded.Load())[d]; m != nil {
		return m, nil
	}
	for {
		m := s.want(ctx, d)
		select {
		case <-m.ready:
		case <-ctx.Done():
			s.leaveTo(m)
			return nil, context.Cause(ctx)
		}
		if !errors.Is(m.err, errAbandoned) {
			return m, m.err
		}
	}
}

// errAbandoned is what a compilation comes to that no call wants any more.
var errAbandoned = errors.New("compilation given up: nothing waits for it")

// want returns a module that is there or on its way, and counts the caller among those that wait.
func (s *Sandbox) want(ctx context.Context, d toolabi.Digest) *module {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.modules[d]
	if !ok {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		m = &module{ready: make(chan struct{}), abandon: func() { cancel(errAbandoned) }}
		s.modules[d] = m
		s.busy++
		go s.fill(ctx, m, d)
	}
	m.waiting++
	return m
}

func (s *Sandbox) leaveTo(m *module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.waiting--; m.waiting == 0 {
		m.abandon()
	}
}

// fill loads and compiles a module. What failed is forgotten, so that the next call tries again.
func (s *Sandbox) fill(ctx context.Context, m *module, d toolabi.Digest) {
	defer s.leave()
	defer m.abandon() // frees the context
	defer close(m.ready)
	if m.err = s.prepare(ctx, m, d); m.err != nil {
		s.mu.Lock()
		delete(s.modules, d)
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	loaded := maps.Clone(*s.loaded.Load())
	loaded[d] = m
	s.loaded.Store(&loaded)
}

func (s *Sandbox) prepare(ctx context.Context, m *module, d toolabi.Digest) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("load module %s: %v", d.Short(), r)
		}
	}()
	info, err := s.judged(ctx, d)
	if err != nil {
		return err
	}
	if m.engine, err = s.engineFor(ctx, info.Manifest); err != nil {
		return err
	}
	if m.compiled, err = s.compile(ctx, m.engine, info); err != nil {
		return named(err, d.Short())
	}
	b := info.read.parsed
	m.beside = b.InstanceBytes()
	globals, plain := b.MutableGlobals()
	if s.cfg.Instances != Fresh && info.Manifest.Command == nil && plain && !b.ChangesTables() {
		m.pool = &pool{globals: globals}
	}
	used := *info
	used.read = nil // the bytes are not needed any more
	m.info = &used
	return nil
}

// judged returns a module that was added, or is had from its source, read and judged.
func (s *Sandbox) judged(ctx context.Context, d toolabi.Digest) (*Module, error) {
	if m := s.addedModule(d); m != nil {
		return m, nil
	}
	wasm, err := s.cfg.Source(context.WithoutCancel(ctx), d)
	if err != nil {
		return nil, fmt.Errorf("load module %s: %w", d.Short(), err)
	}
	if got := toolabi.DigestOf(wasm); got != d {
		return nil, named(refuse(WrongDigest, "its source gave bytes with the digest %s", got.Short()), d.Short())
	}
	m, err := inspect(wasm, d, s.cfg.Caps, s.known)
	return m, named(err, d.Short())
}

// compile returns the code of a module, from the cache where it is there as it was written. Else it is compiled, and
// OnCompile is told.
func (s *Sandbox) compile(ctx context.Context, e *engine, m *Module) (wazero.CompiledModule, error) {
	compiled, tried := s.compiledBefore(ctx, e, m)
	if compiled != nil {
		return compiled, nil
	}
	b, err := m.read.whole()
	if err != nil {
		return nil, err
	}
	f, err := newForm(b, s.cache.hollows())
	if err != nil {
		return nil, err
	}
	same := bytes.Equal(f.shown(), tried.shown())
	if !same {
		compiled = s.cached(ctx, e, f)
	}
	if compiled == nil {
		if compiled, err = s.compileTold(ctx, e, m, f); err != nil {
			return nil, err
		}
	}
	if !same {
		s.keep(m.Digest, judgement{f.digest, b.Facts()})
	}
	return compiled, nil
}

// compiledBefore returns the code of a module whose code was not read, nil if it is not there, and what it asked for.
func (s *Sandbox) compiledBefore(ctx context.Context, e *engine, m *Module) (compiled wazero.CompiledModule, tried form) {
	known := m.read.known
	if known == nil || !s.cache.hollows() {
		return nil, form{}
	}
	tried, err := outlined(m.read.parsed, known.code)
	if err != nil {
		return nil, form{}
	}
	return s.cached(ctx, e, tried), tried
}

// compileTold compiles a module and tells OnCompile.
func (s *Sandbox) compileTold(ctx context.Context, e *engine, m *Module, f form) (wazero.CompiledModule, error) {
	if s.cfg.OnCompile == nil {
		return s.compileNew(ctx, e, f)
	}
	event := CompileEvent{Module: m.Digest, Name: m.Manifest.Name, Size: m.Size}
	s.cfg.OnCompile(event)
	began := time.Now()
	compiled, err := s.compileNew(ctx, e, f)
	event.Done, event.Took, event.Err = true, time.Since(began), err
	s.cfg.OnCompile(event)
	return compiled, err
}

// keep remembers what was read of a module whose code is in the cache, in the place of what was known. Where that cannot be
// written, it is read another time.
func (s *Sandbox) keep(module toolabi.Digest, j judgement) {
	if s.known.dir == "" || len(s.cache.files(j.code)) == 0 {
		return
	}
	dir, err := s.cache.staging()
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	_ = s.known.keep(module, j, dir)
}

// cached returns code of the cache, nil if there is none that this process takes. What was altered is removed.
func (s *Sandbox) cached(ctx context.Context, e *engine, f form) wazero.CompiledModule {
	for _, file := range s.cache.files(f.digest) {
		compiled, err := s.cache.take(ctx, e, f, file)
		if err == nil {
			return compiled
		}
		if errors.Is(err, errAltered) || errors.Is(err, errCacheDamaged) {
			s.cache.drop(file)
		}
	}
	return nil
}
