package tooltest

import (
	"sync"
	"time"
)

// clock stands still until somebody moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// Now is what it shows.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// pass lets it show t, which is not before what it shows.
func (c *clock) pass(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}
