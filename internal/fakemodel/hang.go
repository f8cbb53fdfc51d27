package fakemodel

import "context"

// Hanging returns how many requests and replies are held now.
func (f *Fake) Hanging() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hanging
}

// WaitHanging returns nil once at least n requests and replies are held, or the error of ctx.
func (f *Fake) WaitHanging(ctx context.Context, n int) error {
	for {
		f.mu.Lock()
		now, changed := f.hanging, f.changed
		f.mu.Unlock()
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
func (f *Fake) Release() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.hanging
	close(f.release)
	f.release = make(chan struct{})
	f.setHanging(0)
	return held
}

// hang counts one more that is held, until what is returned is closed. It wants mu held.
func (f *Fake) hang() <-chan struct{} {
	f.setHanging(f.hanging + 1)
	return f.release
}

// hold waits until Release, and says whether the client is still there then.
func (f *Fake) hold(ctx context.Context, release <-chan struct{}) bool {
	select {
	case <-release:
		return true
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-release: // Release counted this one already
	default:
		f.setHanging(f.hanging - 1)
	}
	return false
}

// setHanging wants mu held.
func (f *Fake) setHanging(n int) {
	f.hanging = n
	close(f.changed)
	f.changed = make(chan struct{})
}
