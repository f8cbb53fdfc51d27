package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// Config says where modules come from and what bounds them.
type Config struct {
	// Source returns the bytes of a module by its digest, against which they are checked. It is asked when a module that was
	// not added is first used, under a context that does not end with the call. Mandatory; may be called concurrently.
	Source func(ctx context.Context, d toolabi.Digest) ([]byte, error)
	// CacheDir keeps compiled code between processes; "" keeps it for this process only. It is created with mode 0700, and
	// refused when it belongs to another user or others may enter it: what is in it is machine code. Code that is not as it
	// was written is not run, but compiled again.
	CacheDir string
	// Compiler is a command, with its arguments, that compiles a module in a process of its own: one that calls CompilerMain
	// with the arguments that come after these. It is started with an empty environment for code that is not in the cache.
	// Empty compiles in this process, where only Caps bound what that takes.
	Compiler []string
	// CompileTimeout and CompileMemory bound the command, for one module: how long it may take, and how many bytes of memory
	// it may use. Defaults 60 s and 2 GiB. A module that takes more is refused as CompileBudget. More than an hour is an
	// hour. The memory is looked at a hundred times a second; on Linux the system keeps the process within 256 MiB more.
	CompileTimeout time.Duration
	CompileMemory  uint64
	// Seed decides, together with a module's digest, the randomness that the module sees while it starts.
	Seed [32]byte
	// Limits are the defaults of what an Invocation leaves 0, and the most that one may ask for. Zero fields: 256 MiB of
	// memory, toolabi.MaxOutput. TimeoutMS is not used: see Invoke.
	Limits toolabi.Limits
	// MemoryBudget is how much all calls together may hold, in bytes: their memories, and for each a MiB and what is over
	// 256 KiB of its input, its output and what goes to and from a host function, and over 256 KiB of the instance's tables,
	// elements and globals, and twice what it uses of its native stack over 256 KiB. A call that does not fit waits. Instances
	// that wait for calls count too, and give way to any call. 0 means half of what the machine, or the container, has, and at
	// most 4 GiB.
	MemoryBudget uint64
	// Instances says how a call gets its clean instance: from a pool, by default.
	Instances Instances
	// Caps bound the parts of a module; zero fields take the defaults of wasm.Caps.
	Caps wasm.Caps
	// OnCompile is told when code that is not in the cache begins and ends to be compiled, which takes seconds for a large
	// module. May be nil; may be called concurrently.
	OnCompile func(CompileEvent)
}

// What the compilation of one module may take where Config says nothing, the memory in bytes.
const (
	DefaultCompileTimeout = time.Minute
	DefaultCompileMemory  = 2 << 30
)

const (
	defaultMemory     = 256 << 20
	maxCompileTimeout = time.Hour // a staging directory that is much older is a leftover
)

// ErrClosed is returned by Invoke after Close.
var ErrClosed = errors.New("sandbox is closed")

// Sandbox runs tools. Its methods may be called concurrently.
type Sandbox struct {
	cfg      Config
	compiler wazero.RuntimeConfig
	engine   *engine // for modules of ABI 1
	cache    *codeCache
	known    judgements
	budget   *budget
	calls    sync.Pool // of *call: states of calls that are over
	// loaded are the modules that are ready, for calls that begin with nothing to wait for. The map is not changed, but replaced under mu.
	loaded atomic.Pointer[map[toolabi.Digest]*module]

	mu       sync.Mutex // guards what follows
	programs *engine    // for programs, nil before there is one
	modules  map[toolabi.Digest]*module
	added    map[toolabi.Digest]*Module // not used yet
	busy     int                        // calls and compilations under way
	closed   bool
	idle     chan struct{} // closed once closed is set and busy is 0
}

// New returns a sandbox that loads modules as they are used.
func New(ctx context.Context, cfg Config) (*Sandbox, error) {
	if cfg.Source == nil {
		return nil, errors.New("sandbox: Config.Source is missing")
	}
	cfg.Limits = toolabi.Limits{MemoryBytes: maxMemory, OutputBytes: toolabi.MaxOutput}.Tighten(defaults(cfg.Limits))
	if cfg.Instances < Pooled || cfg.Instances > Fresh {
		return nil, fmt.Errorf("sandbox: Config.Instances is %d", cfg.Instances)
	}
	cfg.Instances = cmp.Or(cfg.Instances, defaultInstances)
	if cfg.MemoryBudget == 0 {
		cfg.MemoryBudget = defaultBudget(machineMemory())
	}
	s := &Sandbox{
		cfg: cfg, budget: newBudget(cfg.MemoryBudget), modules: map[toolabi.Digest]*module{}, added: map[toolabi.Digest]*Module{},
		idle: make(chan struct{}),
	}
	s.loaded.Store(&map[toolabi.Digest]*module{})
	s.calls.New = func() any { return new(call) }
	if cfg.CompileTimeout < 0 {
		return nil, fmt.Errorf("sandbox: Config.CompileTimeout is %v", cfg.CompileTimeout)
	}
	s.cfg.CompileTimeout = min(cmp.Or(cfg.CompileTimeout, DefaultCompileTimeout), maxCompileTimeout)
	s.cfg.CompileMemory = cmp.Or(cfg.CompileMemory, DefaultCompileMemory)
	s.compiler = wazero.NewRuntimeConfig()
	var err error
	if cfg.CacheDir != "" || len(cfg.Compiler) > 0 {
		if s.cache, err = openCache(cfg.CacheDir); err != nil {
			return nil, err
		}
		s.compiler = s.compiler.WithCompilationCache(s.cache.code)
		if !s.cache.private {
			s.known = judgementsIn(s.cache.root, cfg.Caps)
		}
	}
	if s.engine, err = newEngine(ctx, s.compiler, linkABI, linkWASI); err != nil {
		return nil, errors.Join(err, s.cache.close(ctx))
	}
	return s, nil
}

func defaults(l toolabi.Limits) toolabi.Limits {
	if l.MemoryBytes == 0 {
		l.MemoryBytes = defaultMemory
	}
	return l
}

// Close waits for the calls and compilations under way and frees everything. When ctx ends first, its error is returned,
// nothing is freed, and Close may be called again; no new call begins in any case.
func (s *Sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		s.settle()
	}
	s.mu.Unlock()
	select {
	case <-s.idle:
	case <-ctx.Done():
		return fmt.Errorf("close sandbox: calls are under way: %w", context.Cause(ctx))
	}
	s.budget.closePools()
	errs := []error{s.engine.runtime.Close(ctx)}
	if s.programs != nil { // nothing is under way any more that could make it
		errs = append(errs, s.programs.runtime.Close(ctx))
	}
	return errors.Join(append(errs, s.cache.close(ctx))...)
}

// engineFor returns the engine that links what a module imports.
func (s *Sandbox) engineFor(ctx context.Context, m *toolabi.Manifest) (*engine, error) {
	if m.Command == nil {
		return s.engine, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.programs == nil {
		s.programs, err = newEngine(ctx, s.compiler, linkProgramWASI)
	}
	return s.programs, err
}

// enter counts a call in, unless the sandbox is closed.
func (s *Sandbox) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.busy++
	return nil
}

func (s *Sandbox) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.settle()
}

// settle tells Close that nothing is under way any more. The caller holds mu.
func (s *Sandbox) settle() {
	if s.closed && s.busy == 0 {
		close(s.idle)
	}
}
