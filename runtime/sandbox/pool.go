package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox/memory"
)

// Instances says how a call gets the clean instance of its module that it runs in. What a call sees and comes to is the same
// in every way.
type Instances int

const (
	// Pooled uses instances again: after a call one is put back to what the module's _initialize left, by copying back the
	// memory that was written. Programs, modules whose code can change tables or drop segments, those with more than 64 MiB of memory
	// after _initialize, and calls with limits that it would not keep have an instance of their own; one whose call did not return is
	// thrown away.
	Pooled Instances = iota
	// PooledPortably is Pooled without what only some systems can do: all of the memory is compared, and lies in Go's heap.
	PooledPortably
	// Fresh makes an instance for each call.
	Fresh
)

func (i Instances) kind() memory.Kind {
	if i == PooledPortably {
		return memory.Portable
	}
	return memory.Native
}

// pool are the instances of one module that no call uses, with what they are put back to. Instances and snapshot count
// against the budget, and give way to any call that needs the room.
type pool struct {
	globals []string // the names of the module's own mutable globals

	idle     []*instance // guarded by budget.mu: the last used is last
	snapshot *snapshot   // guarded by budget.mu: nil when there is none
	used     uint64      // guarded by budget.mu: the tick in which the pool was last used
}

const (
	// tick is how often the pools are looked through, and idleTicks how many of them what is not used is kept.
	tick      = 10 * time.Second
	idleTicks = 3
)

// pools are all pools of a budget.
type pools struct {
	all     []*pool
	bytes   uint64      // what is in them
	turn    uint64      // counts the instances that came in
	ticks   uint64      // counts the times that they were looked through
	timer   *time.Timer // nil when nothing is in them
	closed  bool
	dropped []func()       // to be done when the lock is released
	ticking sync.WaitGroup // the tick under way
}

// wants is what a call wants in order to begin.
type wants struct {
	bytes  uint64
	over   uint64 // how many of them are over what an instance in the pool counts
	pool   *pool  // nil when the call has an instance of its own
	memory uint64 // the call's limits
	fuel   uint64
}

// begin begins a call with what it wants or more, once there is room. The call has the instance that it comes with, or is to
// make one: from the snapshot, which it closes, where there is one. Errors: *MemoryError when there cannot be room, and as wait.
func (b *budget) begin(ctx context.Context, h *holding, w wants) (*instance, *snapshot, error) {
	b.mu.Lock()
	var i *instance
	if len(b.begun)+len(b.fresh) == 0 { // else those come first
		i = b.takeIdle(w)
	}
	if i != nil && !b.fits(max(w.bytes, i.bytes+w.over)) {
		b.pools.dropped = append(b.pools.dropped, i.close)
		i = nil
	}
	if i != nil {
		w.bytes = max(w.bytes, i.bytes+w.over)
	}
	if err := b.enter(ctx, h, w.bytes); err != nil {
		if i != nil {
			i.close()
		}
		return nil, nil, err
	}
	if i != nil || w.pool == nil {
		return i, nil, nil
	}
	b.mu.Lock()
	defer b.unlock()
	if i = b.takeIdle(w); i != nil {
		more := max(h.bytes, i.bytes+w.over) - h.bytes // no more than it counted as idle
		h.bytes += more
		b.used += more
		return i, nil, nil
	}
	if s := w.pool.snapshot; s != nil && s.serves(w.memory, w.fuel) {
		s.image.Retain()
		return nil, s, nil
	}
	return nil, nil, nil
}

// takeIdle returns an instance of a pool that serves the call, nil when there is none. The caller holds mu.
func (b *budget) takeIdle(w wants) *instance {
	p := w.pool
	if p == nil || len(p.idle) == 0 || !p.snapshot.serves(w.memory, w.fuel) {
		return nil
	}
	i := p.idle[len(p.idle)-1]
	p.idle[len(p.idle)-1] = nil
	p.idle = p.idle[:len(p.idle)-1]
	b.uncount(i.bytes)
	return i
}

// putIdle takes an instance into its pool when no call waits for room, and it can still be put back to the snapshot that others
// have. What was used before it gives way. The caller holds mu.
func (b *budget) putIdle(p *pool, i *instance) {
	room := !b.pools.closed && len(b.begun)+len(b.fresh) == 0 && b.fits(i.bytes)
	if !room || i.snapshot != p.snapshot { // which may have been what gave way
		b.pools.dropped = append(b.pools.dropped, i.close)
		return
	}
	b.count(i.bytes)
	b.pools.turn++
	i.turn, i.age, p.used = b.pools.turn, b.pools.ticks, b.pools.ticks
	p.idle = append(p.idle, i)
}

// reserve makes room for a snapshot that a call is about to take, of n bytes, which are the call's until share. It returns false
// where none is to be taken: there is no room, or the pool has one, which is returned and whose image the caller closes.
func (b *budget) reserve(p *pool, h *holding, n uint64) (*snapshot, bool) {
	b.mu.Lock()
	defer b.unlock()
	if p.snapshot != nil {
		p.snapshot.image.Retain()
		return p.snapshot, false
	}
	if len(b.begun)+len(b.fresh) > 0 || !b.fits(n) {
		return nil, false
	}
	b.grant(h, n)
	return nil, true
}

// share takes what reserve gave for a snapshot of n bytes, which is nil when it was not taken after all, and makes it the one of
// its pool, unless another call was faster. It returns the one that there is then, if any: the caller closes its image.
func (b *budget) share(p *pool, h *holding, n uint64, s *snapshot) *snapshot {
	b.mu.Lock()
	defer b.unlock()
	h.bytes -= n
	b.used -= n
	switch {
	case s == nil:
	case p.snapshot != nil:
		b.pools.dropped = append(b.pools.dropped, s.image.Close)
	default:
		p.snapshot, p.used = s, b.pools.ticks
		b.pools.all = append(b.pools.all, p)
		b.count(n)
	}
	b.settle() // a call may have begun to wait meanwhile
	if p.snapshot != nil {
		p.snapshot.image.Retain()
	}
	return p.snapshot
}

// count adds to what is in the pools. The caller holds mu.
func (b *budget) count(n uint64) {
	b.used += n
	b.pools.bytes += n
	if b.pools.timer == nil {
		b.pools.timer = time.AfterFunc(tick, b.tick)
	}
}

func (b *budget) uncount(n uint64) {
	b.used -= n
	b.pools.bytes -= n
}
