package standin

import (
	"context"
	"sync"
)

// Holds keeps requests and replies back until they are released. It may be used concurrently.
type Holds struct {
	mu      sync.Mutex
	held    int           // guarded by mu
	changed chan struct{} // guarded by mu; closed and replaced whenever held changes
	release chan struct{} // guarded by mu; closed and replaced by Release
}

// NewHolds returns one that holds nothing.
func NewHolds() *Holds { return &Holds{changed: make(chan struct{}), release: make(chan struct{})} }

// Hanging returns how much is held now.
func (h *Holds) Hanging() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// WaitHanging returns nil once at least so much is held, or the error of ctx.
func (h *Holds) WaitHanging(ctx context.Context, n int) error {
	for {
		h.mu.Lock()
		now, changed := h.held, h.changed
		h.mu.Unlock()
		if now >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Release lets everything go that is held, and returns how much that was.
func (h *Holds) Release() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.held
	close(h.release)
	h.release = make(chan struct{})
	h.set(0)
	return held
}

// Hold counts one more that is held from now on. Whoever called it waits.
func (h *Holds) Hold() *Held {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set(h.held + 1)
	return &Held{h, h.release}
}

// set wants mu held.
func (h *Holds) set(n int) {
	h.held = n
	close(h.changed)
	h.changed = make(chan struct{})
}

// Held is one request or reply that is held back.
type Held struct {
	of      *Holds
	release <-chan struct{}
}

// Wait returns once it is released, or ctx has ended, which is when its client is gone. It says whether it was released. A nil one
// is not held.
func (h *Held) Wait(ctx context.Context) bool {
	if h == nil {
		return true
	}
	select {
	case <-h.release:
		return true
	case <-ctx.Done():
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	select {
	case <-h.release: // Release counted this one already
	default:
		h.of.set(h.of.held - 1)
	}
	return false
}
