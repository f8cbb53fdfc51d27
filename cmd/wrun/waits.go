package main

import (
	"fmt"
	"os"
	"time"
)

// envWaits names a file to which every wait for the journal is appended as it ends: a line with the process, and how long it waited
// in nanoseconds. It is for those who measure; docs/operating.md says so.
const envWaits = "WRUN_LOCK_WAITS"

// waits are how long the command waited for other processes to let go of the journal.
type waits struct {
	n            int
	sum, longest time.Duration
}

func (a *app) waited(d time.Duration) {
	a.saying.Lock()
	a.waits.n++
	a.waits.sum += d
	a.waits.longest = max(a.waits.longest, d)
	a.saying.Unlock()
	if a.telemetry != nil {
		a.telemetry.Waited(d)
	}
	path := os.Getenv(envWaits)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		a.say("%s: %v", envWaits, err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%d %d\n", os.Getpid(), d.Nanoseconds()) // one write, so that lines of several processes stay whole
}

// sayWaits says under -v how long it was.
func (a *app) sayWaits() {
	a.saying.Lock()
	w := a.waits
	a.saying.Unlock()
	if w.n > 0 {
		a.detail("waited for other processes to let go of the journal %s, %s in all, %s at most",
			number(uint64(w.n), "time", "times"), w.sum.Round(time.Microsecond), w.longest.Round(time.Microsecond))
	}
}
