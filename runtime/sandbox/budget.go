package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/toolabi"
)

// budget bounds the memory of all calls of a Sandbox together, in bytes. A call holds what it was given until it ends, and
// waits for more when there is none; no guest ever sees that.
//
// Those that have begun come first, in the order in which they asked, but one that does not fit lets those behind it pass:
// nothing new begins meanwhile, so it has its turn. A call that a waiting one is inside of has begun too. New calls begin
// in the order in which they came, none passes another.
type budget struct {
	size uint64

	mu    sync.Mutex // released by unlock
	used  uint64     // guarded by mu: by calls and by what is in the pools
	calls []*holding // guarded by mu: that have begun
	begun []*wish    // guarded by mu: of calls that have begun, and of those that they called
	fresh []*wish    // guarded by mu: of calls that have not
	pools pools      // guarded by mu
}

// holding is what one call holds of a budget. One without a budget holds nothing and is given everything.
type holding struct {
	budget *budget
	parent *holding      // the call that this one is inside of; nil when there is none, or none under way
	pause  func() func() // as toolabi.Invocation.Pause
	bytes  uint64        // guarded by budget.mu
	inside int           // guarded by budget.mu: calls inside of this one, waiting to begin included
	waits  bool          // guarded by budget.mu
	begun  bool          // guarded by budget.mu: it stands in budget.calls
	at     int           // guarded by budget.mu: where
}

// wish is a call that waits.
type wish struct {
	h    *holding
	n    uint64
	done chan struct{} // closed when it was decided
	err  error         // set before done is closed
}

func newBudget(size uint64) *budget { return &budget{size: size} }

// enter begins a call with n bytes, once there is room. It is called with mu held, and returns without it. Errors:
// *MemoryError when there cannot be room, and as wait.
func (b *budget) enter(ctx context.Context, h *holding, n uint64) error {
	if h.parent != nil && h.parent.budget == b && h.parent.begun {
		h.parent.inside++
	} else {
		h.parent = nil
	}
	if err := b.take(ctx, h, n); err != nil {
		h.leave()
		return err
	}
	return nil
}

// more gives the call n bytes more, once there is room. Errors: as enter.
func (h *holding) more(ctx context.Context, n uint64) error {
	if h.budget == nil || n == 0 {
		return nil
	}
	h.budget.mu.Lock()
	return h.budget.take(ctx, h, n)
}

// leave ends the call and gives back what it holds. Calls inside of it have ended.
func (h *holding) leave() { h.leaveTo(nil, nil) }

// leaveTo is leave for a call whose instance can be used again: it goes into a pool, with the bytes that it takes.
func (h *holding) leaveTo(p *pool, i *instance) {
	b := h.budget
	b.mu.Lock()
	defer b.unlock()
	b.used -= h.bytes
	h.bytes = 0
	b.forget(h)
	if h.parent != nil {
		h.parent.inside--
		h.parent = nil
	}
	b.settle()
	if i != nil {
		b.putIdle(p, i)
	}
}

// take is called with mu held, and returns without it.
func (b *budget) take(ctx context.Context, h *holding, n uint64) error {
	if own := h.own(); n > b.size-min(own, b.size) {
		defer b.unlock()
		e := b.refusal(h, n)
		e.Never, e.anew = true, 0
		return e
	}
	queue := &b.fresh
	if h.begun || h.parent != nil {
		queue = &b.begun
	}
	if len(b.begun)+len(b.fresh) == 0 && b.fits(n) { // nothing is made for a wish that is granted at once
		b.grant(h, n)
		b.unlock()
		return nil
	}
	w := &wish{h: h, n: n, done: make(chan struct{})}
	*queue = append(*queue, w)
	h.waits = true
	b.settle()
	decided := !h.waits
	b.unlock()
	if decided {
		return w.err
	}
	return b.wait(ctx, w)
}

// own is what the call and those that it is inside of hold: it has to fit beside that. The caller holds mu.
func (h *holding) own() (n uint64) {
	for ; h != nil; h = h.parent {
		n += h.bytes
	}
	return n
}

// wait returns when it was decided, or with the cause of the context's end. That is never an error for the tool, which has
// done nothing: one that is a *toolabi.Error is wrapped.
func (b *budget) wait(ctx context.Context, w *wish) error {
	if w.h.pause != nil {
		defer w.h.pause()()
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.unlock()
	if !w.h.waits {
		return w.err
	}
	b.drop(w)
	b.settle()
	cause := context.Cause(ctx)
	if _, ok := cause.(*toolabi.Error); ok {
		return fmt.Errorf("wait for %d bytes of memory: %w", w.n, cause)
	}
	return cause
}

// settle gives what there is to those that wait, and breaks a standstill. The caller holds mu.
func (b *budget) settle() {
	for _, w := range slices.Clone(b.begun) {
		if b.fits(w.n) {
			b.give(w)
		}
	}
	for len(b.begun) == 0 && len(b.fresh) > 0 && b.fits(b.fresh[0].n) {
		b.give(b.fresh[0])
	}
	if len(b.begun) > 0 && b.standstill() {
		w := b.begun[len(b.begun)-1]
		b.drop(w)
		w.err = b.refusal(w.h, w.n)
		close(w.done)
	}
}

// standstill says whether nobody who holds memory can go on: everyone waits, or waits for a call inside of it. The caller
// holds mu.
func (b *budget) standstill() bool {
	for _, h := range b.calls {
		if h.inside == 0 && !h.waits {
			return false
		}
	}
	return true
}

// give decides for a wish. The caller holds mu.
func (b *budget) give(w *wish) {
	b.drop(w)
	b.grant(w.h, w.n)
	close(w.done)
}

// grant is called with mu held.
func (b *budget) grant(h *holding, n uint64) {
	b.used += n
	h.bytes += n
	if !h.begun {
		h.begun, h.at = true, len(b.calls)
		b.calls = append(b.calls, h)
	}
}

// forget takes a call out of those that have begun. The caller holds mu.
func (b *budget) forget(h *holding) {
	if !h.begun {
		return
	}
	last := len(b.calls) - 1
	b.calls[h.at] = b.calls[last]
	b.calls[h.at].at = h.at
	b.calls[last] = nil
	b.calls = b.calls[:last]
	h.begun = false
}

// drop takes a wish out of its queue. The caller holds mu.
func (b *budget) drop(w *wish) {
	is := func(o *wish) bool { return o == w }
	b.begun = slices.DeleteFunc(b.begun, is)
	b.fresh = slices.DeleteFunc(b.fresh, is)
	w.h.waits = false
}

// refusal is the error of a call that is not given n bytes. The caller holds mu.
func (b *budget) refusal(h *holding, n uint64) *MemoryError {
	e := &MemoryError{Wanted: n, Held: h.own(), InUse: b.used - b.pools.bytes, Budget: b.size, Calls: len(b.calls)}
	if h.parent == nil {
		e.anew = h.bytes + n
	}
	return e
}

// MemoryError says that the host did not have the memory that a call wanted, and that the call was left without an outcome:
// nothing is recorded of it but what its host functions did, and it can be entered again.
type MemoryError struct {
	// Wanted is what the call wanted more, and Held what it held already together with the calls that it is inside of, in
	// bytes.
	Wanted, Held uint64
	// InUse is what all calls held at that moment, Calls how many they were, and Budget is what they may hold together.
	InUse, Budget uint64
	Calls         int
	// Never says that the call cannot be run under this budget, even by itself.
	Never bool
	// Err is what the operating system said when it was the one that had no memory; then only Wanted and Held are set.
	Err error

	anew uint64 // with how many bytes the call could be begun anew; 0 for not
}

// Unwrap returns Err.
func (e *MemoryError) Unwrap() error { return e.Err }

// Error gives the numbers and what to do.
func (e *MemoryError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("a call holds %d bytes of memory, and the operating system does not give it %d more: %v; run fewer at a time", e.Held, e.Wanted, e.Err)
	}
	if e.Never {
		return fmt.Sprintf("a call holds %d bytes of memory and wants %d more, and all calls together may have %d: raise the memory budget", e.Held, e.Wanted, e.Budget)
	}
	return fmt.Sprintf("a call holds %d bytes of memory and wants %d more, and the budget of %d bytes is used up: %d calls hold %d bytes and wait for each other; run fewer at a time, or raise the memory budget",
		e.Held, e.Wanted, e.Budget, e.Calls, e.InUse)
}
