package runtime_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

// clock runs by a millisecond with every look at it, and jumps once.
type clock struct {
	mu    sync.Mutex
	looks int
	at    int           // the look at which it jumps
	by    time.Duration // how far
	stop  bool          // from then on it stands still
}

var clockBegin = time.Date(2026, 3, 29, 1, 59, 0, 0, time.UTC)

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	n := c.looks
	if c.stop {
		n = min(n, c.at)
	}
	t := clockBegin.Add(time.Duration(n) * time.Millisecond)
	if c.looks >= c.at && !c.stop {
		t = t.Add(c.by)
	}
	return t
}

// A clock that jumps at whatever moment does not change what comes after what, and repeats no effect: with owners of which it can be
// told whether they live, and with leases.
func TestAClockThatJumpsChangesNothingThatCounts(t *testing.T) {
	kinds := map[string]*clock{
		"back an hour":  {by: -time.Hour},
		"forward a day": {by: 24 * time.Hour},
		"frozen":        {stop: true},
	}
	for name, kind := range kinds {
		for _, leases := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, leases %t", name, leases), func(t *testing.T) {
				last := 1
				for at := 1; at <= last+1; at++ {
					last = max(last, clockTrial(t, &clock{at: at, by: kind.by, stop: kind.stop}, leases))
				}
				if last < 10 {
					t.Errorf("the clock was looked at %d times: too few to show anything", last)
				}
			})
		}
	}
}

// clockTrial drives a run to its end, with processes that all have the same clock, and returns how often it was looked at.
func clockTrial(t *testing.T, c *clock, leases bool) int {
	t.Helper()
	m := newMachine(t, map[string]tool{"charge": one("a"), "keyed": one("b"), "idem": one("c"), "pay": one("d")})
	driver := steps("charge", "keyed", "idem", "pay")
	at, missed := c.at, false
	for try := range 12 {
		handle := m.mem.Handle()
		var store journal.Journal = handle
		if leases {
			store = noOwners{handle}
		}
		p := m.process(handle, func(cfg *runtime.Config) { cfg.Journal, cfg.Now = store, c.now })
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, try == 0); err != nil && !errors.Is(err, journal.ErrInvalid) {
			t.Fatalf("jump at look %d: start: %v", at, err)
		}
		_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}, TakeOver: true})
		var u *runtime.UncertainError
		if errors.As(err, &u) {
			say := runtime.Resolution{Happened: m.world.count(string(u.Intent.Body)) > 0, Reply: []byte("done " + string(u.Intent.Body)), Now: true, By: "test"}
			if rerr := p.Resolve(t.Context(), "r", u.Step, say); rerr != nil {
				t.Logf("jump at look %d: resolve: %v", at, rerr)
			}
		}
		handle.Close()
		if err == nil {
			break
		}
		var failed *runtime.FailedError
		if errors.As(err, &failed) && c.by > 0 && strings.Contains(err.Error(), "it was too late to send; nothing was sent") {
			missed = true // the time to send in was over, by that clock: known, and said
			break
		}
		if try == 11 {
			t.Errorf("jump at look %d: the run does not end: %v, log %v", at, err, m.log())
		}
	}
	if missed && m.world.count("a") <= 1 && m.world.count("d") <= 1 {
		return c.looks
	}
	if m.world.count("a") != 1 || m.world.count("d") != 1 || m.world.count("b") == 0 || m.world.count("c") == 0 || len(slices.Compact(m.world.keys["b"])) != 1 {
		t.Errorf("jump at look %d: effects %v, keys of b %v, want a and d once; log %v", at, m.world.effects, m.world.keys["b"], m.log())
	}
	before := int64(0)
	for e, err := range m.mem.Read(t.Context(), "r", 0) {
		if err != nil || e.Time < before {
			t.Errorf("jump at look %d: entry %d is of %d, after %d: %v", at, e.Seq, e.Time, before, err)
		}
		before = e.Time
	}
	journaltest.Check(t, m.mem)
	return c.looks
}
