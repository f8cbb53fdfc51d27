package sandbox

import (
	"slices"
	"time"
)

// How the pools make room: for calls that have none, for the system, and for whatever else when nothing was called for a while.

// fits says whether there is room for n bytes, and makes it if there is where the pools give way. The caller holds mu.
func (b *budget) fits(n uint64) bool {
	if n > b.size-(b.used-b.pools.bytes) {
		return false
	}
	for n > b.size-b.used {
		b.evict()
	}
	return true
}

// evict drops the instance that was used the longest ago, or where there is none a snapshot. The caller holds mu, and there is
// something in the pools.
func (b *budget) evict() {
	var oldest, unused *pool
	for _, p := range b.pools.all {
		switch {
		case len(p.idle) > 0 && (oldest == nil || p.idle[0].turn < oldest.idle[0].turn):
			oldest = p
		case p.snapshot != nil && (unused == nil || p.used < unused.used):
			unused = p
		}
	}
	if oldest != nil {
		b.dropIdle(oldest, 1)
	} else {
		b.dropSnapshot(unused)
	}
}

// dropIdle drops the n instances of a pool that were used the longest ago. The caller holds mu.
func (b *budget) dropIdle(p *pool, n int) {
	for _, i := range p.idle[:n] {
		b.uncount(i.bytes)
		b.pools.dropped = append(b.pools.dropped, i.close)
	}
	p.idle = slices.Delete(p.idle, 0, n)
}

// dropSnapshot drops the snapshot of a pool without instances. Those that calls use are dropped after them. The caller holds mu.
func (b *budget) dropSnapshot(p *pool) {
	b.uncount(p.snapshot.image.Size())
	b.pools.dropped = append(b.pools.dropped, p.snapshot.image.Close)
	p.snapshot = nil
	b.pools.all = slices.DeleteFunc(b.pools.all, func(o *pool) bool { return o == p })
}

// tick drops what was not used for idleTicks.
func (b *budget) tick() {
	b.mu.Lock()
	defer b.unlock()
	if b.pools.closed {
		return
	}
	b.pools.ticking.Add(1)
	b.pools.ticks++
	b.dropUnused(idleTicks)
	b.pools.dropped = append(b.pools.dropped, b.pools.ticking.Done)
}

// dropUnused drops what was not used for so many ticks. The caller holds mu.
func (b *budget) dropUnused(ticks uint64) {
	for _, p := range slices.Clone(b.pools.all) {
		n := 0
		for n < len(p.idle) && p.idle[n].age+ticks <= b.pools.ticks {
			n++
		}
		b.dropIdle(p, n)
		if len(p.idle) == 0 && p.used+ticks <= b.pools.ticks {
			b.dropSnapshot(p)
		}
	}
	if b.pools.timer != nil {
		b.pools.timer.Stop()
		b.pools.timer = nil
	}
	if b.pools.bytes > 0 {
		b.pools.timer = time.AfterFunc(tick, b.tick)
	}
}

// spare drops everything that no call uses.
func (h *holding) spare() {
	if h.budget == nil {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.unlock()
	h.budget.dropUnused(0)
}

// closePools drops everything, and from then on whatever comes.
func (b *budget) closePools() {
	b.mu.Lock()
	b.pools.closed = true
	b.dropUnused(0)
	b.unlock()
	b.pools.ticking.Wait()
}

// unlock releases mu and then does what was left for it: freeing memory takes a while.
func (b *budget) unlock() {
	dropped := b.pools.dropped
	b.pools.dropped = nil
	b.mu.Unlock()
	for _, drop := range dropped {
		drop()
	}
}
