package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// Hollowed is the version of wazero that is shown hollow modules, and CompilerVersion the one that is there.
const Hollowed = hollowed

// CompilerVersion returns the version of wazero.
func CompilerVersion() string { return compilerVersion() }

// ShowWhole makes a sandbox one whose compiler is not known to take hollow modules. Nothing was loaded yet.
func (s *Sandbox) ShowWhole() { s.cache.hollow = false }

// Judge writes into a cache what is to be known of a module, true or not.
func Judge(t testing.TB, cache string, module, code toolabi.Digest, facts wasm.Facts, caps wasm.Caps) {
	t.Helper()
	if err := judgementsIn(cache, caps).keep(module, judgement{code, facts}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// JudgementFile returns the path of a judgement under the default caps that says this of a module.
func JudgementFile(cache string, module toolabi.Digest, content []byte) string {
	j := judgementsIn(cache, wasm.Caps{})
	return filepath.Join(j.dir, module.String(), j.rules+"-"+j.sum(module, content))
}

// Kept compiles modules into a cache and takes them from there as the process after that does: from an outline.
type Kept struct {
	// Runtime is where the modules can be instantiated.
	Runtime wazero.Runtime

	cache  *codeCache
	engine *engine
}

// OpenKept makes a cache in a directory, for runtimes of this configuration.
func OpenKept(t testing.TB, dir string, cfg wazero.RuntimeConfig) *Kept {
	c, err := openCache(filepath.Join(dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	e := newCompiler(t.Context(), cfg.WithCompilationCache(c.code))
	t.Cleanup(func() {
		_ = e.runtime.Close(context.Background())
		_ = c.close(context.Background())
	})
	return &Kept{e.runtime, c, e}
}

// Compile returns a module, which was parsed under these caps, from the cache, where it puts it first.
func (k *Kept) Compile(ctx context.Context, m *wasm.Module, caps wasm.Caps) (wazero.CompiledModule, error) {
	f, err := newForm(m, true)
	if err != nil {
		return nil, err
	}
	dir, err := k.cache.staging()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made, err := compileInto(ctx, dir, f)
	if err != nil {
		return nil, err
	}
	file, err := k.cache.adopt(f.digest, dir, made)
	if err != nil {
		return nil, err
	}
	said, err := json.Marshal(m.Facts())
	if err != nil {
		return nil, err
	}
	var facts wasm.Facts
	if err := json.Unmarshal(said, &facts); err != nil {
		return nil, err
	}
	outline, err := wasm.ParseOutline(m.Bytes(), caps, facts)
	if err != nil {
		return nil, err
	}
	if f, err = outlined(outline, f.digest); err != nil {
		return nil, err
	}
	return k.cache.take(ctx, k.engine, f, file)
}

// MemoryInUse returns what all calls hold of the budget, in bytes, and how many wait.
func (s *Sandbox) MemoryInUse() (used uint64, waiting int) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.budget.used - s.budget.pools.bytes, len(s.budget.begun) + len(s.budget.fresh)
}

// onlyMemory is the user of a memory that belongs to no call: it is told why the guest is unwound.
type onlyMemory func(error)

func (onlyMemory) more(uint64) error { return nil }

func (onlyMemory) spare() {}

func (o onlyMemory) end(err error) {
	o(err)
	panic(errUnwind)
}

// WithMemory returns a context under which the next instance has a memory as in a call, with the maximum that its module names, in
// pages, 0 for none.
func WithMemory(ctx context.Context, t testing.TB, most uint32) context.Context {
	l := &linear{room: 1 << 32, own: uint64(most) * pageSize}
	l.serve(onlyMemory(func(err error) { t.Error(err) }), 1<<32, 1<<32)
	t.Cleanup(l.release)
	return experimental.WithMemoryAllocator(ctx, l)
}

// InPool returns how many instances and snapshots wait in the pools, and the bytes that they count.
func (s *Sandbox) InPool() (instances, snapshots int, bytes uint64) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	for _, p := range s.budget.pools.all {
		instances += len(p.idle)
		if p.snapshot != nil {
			snapshots++
		}
	}
	return instances, snapshots, s.budget.pools.bytes
}

// Audit adds up what the budget has given, and says where that is not what it counts.
func (s *Sandbox) Audit() error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	var idle, held uint64
	for _, p := range b.pools.all {
		if p.snapshot == nil {
			return fmt.Errorf("a pool has %d instances and no snapshot", len(p.idle))
		}
		idle += p.snapshot.image.Size()
		for _, i := range p.idle {
			if i.snapshot != p.snapshot {
				return errors.New("an instance is in the pool of another snapshot")
			}
			idle += i.bytes
		}
	}
	for _, h := range b.calls {
		held += h.bytes
	}
	if idle != b.pools.bytes || idle+held != b.used || b.used > b.size {
		return fmt.Errorf("%d bytes in pools count as %d, and with %d of calls as %d of %d", idle, b.pools.bytes, held, b.used, b.size)
	}
	return nil
}

// PoolsByDefault says whether there are pools in this build where nothing else is said.
const PoolsByDefault = defaultInstances != Fresh

// InHeapByDefault says whether memories lie in Go's heap then, whose limits end the process.
const InHeapByDefault = defaultInstances == PooledPortably

// IdleTime is how long what is in a pool stays there unused, at most.
const IdleTime = tick * (idleTicks + 1)

// WASIParams returns the types of the parameters of a function of WASI.
func WASIParams(t testing.TB, name string) []byte {
	f, ok := wasiByName(name)
	if !ok {
		t.Fatalf("no function %s in WASI", name)
	}
	return letters(f.params)
}
