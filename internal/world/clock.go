package world

import (
	"sync"
	"time"
)

// Clock is the clock of a process: it stands still but for jumps. It may be used concurrently. Everybody who looks at a run's times
// has to look at it, so that what waits for days really took days, and lasts a moment.
type Clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// NewClock returns a clock that stands at a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Jump goes to a time, or stays where that has passed.
func (c *Clock) Jump(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.After(c.now) {
		c.now = to
	}
}
