package mixed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// Config says how long, and how hard. The zero value of every field but Duration works.
type Config struct {
	// Duration is how long the load lasts, all cycles together; getting ready comes before it. Mandatory.
	Duration time.Duration
	// Seed decides which calls are made with which inputs. How many there are in a phase is the machine's to say.
	Seed uint64
	// Load is the share of the machine that is used: between calls each goroutine sleeps for the rest. 0 means 1, all of it.
	Load float64
	// Every is how often a line is printed. 0 means 10 s.
	Every time.Duration
	// Cycles is how often all phases are gone through, at least 4. 0 means once in three minutes, and at least 8 times. Each
	// opens a host and some sandboxes, so that many cycles of a short time take longer.
	Cycles int
	// Progress is told what happens; nil for nobody.
	Progress io.Writer

	// each is told of every call that was made and in which cycle, for tests; nil for nothing. It is called concurrently.
	each func(cycle int)
}

const (
	leastCycles = 4
	usualCycles = 8
	perCycle    = 3 * time.Minute
)

func (c *Config) complete() error {
	if c.Duration <= 0 || c.Load < 0 || c.Load > 1 || c.Cycles < 0 || c.Cycles > 0 && c.Cycles < leastCycles {
		return fmt.Errorf("a soak of %v with the load %v in %d cycles; it takes a time, a load up to 1 and at least %d cycles", c.Duration, c.Load, c.Cycles, leastCycles)
	}
	c.Load = cmp.Or(c.Load, 1)
	c.Every = cmp.Or(c.Every, 10*time.Second)
	c.Cycles = cmp.Or(c.Cycles, max(usualCycles, int(c.Duration/perCycle)))
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	if c.each == nil {
		c.each = func(int) {}
	}
	return nil
}

// soak is one use of Run.
type soak struct {
	Config
	began time.Time
	dir   string // for what is made meanwhile
	shelf *shelf
	kinds []kind
	count counter
	marks []mark // what was measured, in order

	told      time.Time // when a line was printed, at first when it began
	toldCalls int64     // how many calls there were by then
}

// mark is one measurement.
type mark struct {
	cycle int
	phase string
	sample
}

// Run puts this process under load and says whether anything grew. The error is for a call that came to something else than
// it has to, and for what could not be done at all; the Report's Err is for growth. The report is not nil when the error is.
//
// It builds guests, so it has to run below the root of the module.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s := &soak{Config: cfg}
	var err error
	if s.dir, err = os.MkdirTemp("", "wrun-mixed-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.dir)
	fmt.Fprintf(s.Progress, "seed %d: %v in %d cycles on %d processors, load %v\n", s.Seed, s.Duration, s.Cycles, runtime.GOMAXPROCS(0), s.Load)
	if s.shelf, err = newShelf(s.dir); err != nil {
		return nil, err
	}
	if s.kinds, err = makeKinds(s.shelf); err != nil {
		return nil, err
	}
	report, err := s.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("seed %d, after %v: %w", s.Seed, time.Since(s.began).Round(time.Second), err)
	}
	return report, nil
}

// run opens the two sandboxes that stay, goes through the cycles and closes them.
func (s *soak) run(ctx context.Context) (*Report, error) {
	before := rest()
	w, err := s.openWorld(ctx)
	if err != nil {
		return nil, err
	}
	s.began = time.Now()
	s.told = s.began
	report := &Report{Seed: s.Seed, Cycles: s.Cycles, start: rest()}
	for c := range s.Cycles {
		if err := s.cycle(ctx, w, c); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	report.Took, report.marks, report.Calls = time.Since(s.began), s.marks, s.count.all()
	report.newcomers, report.idle = w.newcomers(), s.idleTime()
	if err := w.close(); err != nil {
		return nil, err
	}
	report.left(before, rest())
	return report, nil
}
