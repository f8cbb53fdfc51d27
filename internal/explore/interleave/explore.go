package interleave

import (
	"cmp"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Config says what to explore.
type Config struct {
	// Seed is the first seed, Runs how many are explored: Seed, Seed+Step, Seed+2·Step and so on. Step 0 means 1.
	Seed, Step uint64
	Runs       int
	// Failures ends the exploration when so many interleavings have broken a promise; 0 means 3.
	Failures int
	// Tries is how many simpler interleavings are tried for one that fails; 0 means 2000.
	Tries int
	// Progress, when not nil, is told now and then how many were explored.
	Progress func(done int)
}

// Explore explores interleavings. It belongs into a program that has one thread for Go: with more of them a seed is not always
// the same interleaving.
func Explore(t *testing.T, cfg Config) *Report {
	rep := &Report{}
	start := time.Now()
	defer func() { rep.Elapsed = time.Since(start) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i := range cfg.Runs {
		seed := cfg.Seed + uint64(i)*max(cfg.Step, 1)
		tr := explore(t, fromSeed(seed), &rep.Counts, false, seed)
		rep.Runs++
		rep.Drives += tr.drives
		rep.Moves += tr.steps
		if tr.violation != nil {
			rep.Failures = append(rep.Failures, failure(t, seed, tr, cmp.Or(cfg.Tries, 2000)))
			if len(rep.Failures) == cmp.Or(cfg.Failures, 3) {
				return rep
			}
		}
		if cfg.Progress != nil && i%1000 == 999 {
			cfg.Progress(i + 1)
		}
	}
	return rep
}

// explore runs one interleaving.
func explore(t *testing.T, c *choices, counts *Counts, traced bool, seed uint64) (tr *trial) {
	stop := watch(seed)
	defer stop()
	synctest.Test(t, func(*testing.T) {
		tr = newTrial(c, counts)
		tr.traced = traced
		tr.run()
	})
	if counts != nil {
		counts.Logs.add(tr.logHash)
	}
	return tr
}

// patience is how long an interleaving may take before it counts as hanging: each takes milliseconds.
const patience = time.Minute

// watch ends the program when an interleaving hangs, which a goroutine that waits for a lock can do to the scheduler.
func watch(seed uint64) (stop func()) {
	t := time.AfterFunc(patience, func() { panic(fmt.Sprintf("explore: seed %d hangs", seed)) })
	return func() { t.Stop() }
}

// failure makes an interleaving that failed shorter, and tells it.
func failure(t *testing.T, seed uint64, tr *trial, tries int) Failure {
	draws := shrink(t, tr.c.drawn, tr.violation.Rule, tries)
	told := explore(t, repeating(draws), nil, true, seed)
	f := Failure{Seed: seed, Scenario: told.scenario.name, Violation: *tr.violation, Draws: draws, Trace: told.trace}
	if told.violation != nil {
		f.Violation = *told.violation
	}
	return f
}
