package sandbox

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero/experimental"
)

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

// PoolsByDefault says whether there are pools in this build where nothing else is said.
const PoolsByDefault = defaultInstances != Fresh

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
