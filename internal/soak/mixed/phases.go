package mixed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// phase is a part of every cycle.
type phase struct {
	name  string
	share int // of a cycle, in hundredths
	run   func(ctx context.Context, s *soak, w *world, n turn) error
}

// turn is one phase of one cycle.
type turn struct {
	cycle int
	phase int
	until time.Time
}

// phaseRest is the moment at the end of idle, with all garbage gone.
const phaseRest = "rest"

const idle = "idle"

// phases returns those of a cycle. The last one is idle.
func phases() []phase {
	return []phase{
		{"one", 8, calls(1, honest, 0)},
		{"four", 10, calls(4, honest, 0)},
		{"sixteen", 18, calls(16, honest, 0)},
		{"storm", 12, calls(16, nasty, 0)},
		{"tight", 10, calls(8, honest|nasty, large)},
		{"runs", 11, runs},
		{"visits", 11, visits},
		{idle, 20, nothing},
	}
}

func (s *soak) idleTime() time.Duration { return s.length(20) }

// length is how long a phase with this share is.
func (s *soak) length(share int) time.Duration {
	return s.Duration / time.Duration(s.Cycles) * time.Duration(share) / 100
}

// cycle goes through all phases once.
func (s *soak) cycle(ctx context.Context, w *world, n int) error {
	if n == s.Cycles/4 {
		w.settle()
	}
	for i, p := range phases() {
		length := s.length(p.share)
		t := turn{cycle: n, phase: i, until: time.Now().Add(length)}
		err := s.watch(t, p.name, length, func() error { return p.run(ctx, s, w, t) })
		if err != nil {
			return fmt.Errorf("phase %s of cycle %d: %w", p.name, n, err)
		}
	}
	s.marks = append(s.marks, mark{n, phaseRest, rest()})
	return nil
}

// watch measures while something is done.
func (s *soak) watch(t turn, phase string, length time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(min(max(length/10, 20*time.Millisecond), 2*time.Second))
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			m := mark{t.cycle, phase, measure()}
			s.marks = append(s.marks, m)
			s.tell(m)
		}
	}
}

// chance is where a goroutine of a phase draws from.
func (s *soak) chance(t turn, worker int) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, uint64(t.cycle)<<32|uint64(t.phase)<<16|uint64(worker)))
}

// calls is a phase in which so many goroutines call tools of a temper.
func calls(workers int, with, without temper) func(context.Context, *soak, *world, turn) error {
	return func(ctx context.Context, s *soak, w *world, t turn) error {
		box, newcomer, tight := w.roomy, w.newcomer, without&large != 0
		if tight {
			box, newcomer = w.tight, w.known
		}
		kinds := drawn(s.kinds, with, without)
		return together(workers, func(worker int) error {
			c := &caller{s: s, box: box, r: s.chance(t, worker), kinds: kinds, newcomer: newcomer, tight: tight, cycle: t.cycle}
			return c.work(ctx, t.until)
		})
	}
}

// together does something so many times at once.
func together(n int, do func(worker int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// nothing is a phase in which nothing is called.
func nothing(ctx context.Context, _ *soak, _ *world, t turn) error {
	select {
	case <-time.After(time.Until(t.until)):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// visits is a phase in which sandboxes are opened, called in, and closed while calls are under way.
func visits(ctx context.Context, s *soak, _ *world, t turn) error {
	r := s.chance(t, 0)
	for n := 0; ; n++ {
		if err := s.visit(ctx, r, n); err != nil {
			return fmt.Errorf("visit %d: %w", n, err)
		}
		if !time.Now().Before(t.until) {
			return nil
		}
	}
}

// visitors is how many modules of its own a sandbox gets that is soon closed.
const visitors = 8

func (s *soak) visit(ctx context.Context, r *rand.Rand, n int) error {
	cfg := sandbox.Config{Source: s.shelf.source, Seed: [32]byte{2}, MemoryBudget: uint64(tightBudget) << r.IntN(4)}
	if n%2 == 1 {
		dir, done, err := s.place("cache")
		if err != nil {
			return err
		}
		defer done()
		cfg.CacheDir = dir
	}
	box, err := sandbox.New(ctx, cfg)
	if err != nil {
		return err
	}
	var own []toolabi.Digest
	for range visitors {
		own = append(own, *s.shelf.add(newcomer(int(r.Uint32() | 1<<31))))
	}
	defer s.shelf.remove(own...)
	err = together(4, func(worker int) error {
		c := &caller{s: s, box: box, r: rand.New(rand.NewPCG(r.Uint64(), uint64(worker))), tight: true, newcomer: func(r *rand.Rand) *toolabi.Digest { return &own[r.IntN(visitors)] }}
		for range visitors {
			if err := c.call(ctx, kind{make: echoed(100, 100_000)}); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, s.closeBusy(ctx, box, own[0]))
}

// closeBusy closes a sandbox while a call is under way in it.
func (s *soak) closeBusy(ctx context.Context, box *sandbox.Sandbox, module toolabi.Digest) error {
	loop := s.shelf.add(spins())
	inside, kill := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := box.Invoke(inside, toolabi.Invocation{Module: *loop, Tool: toolName, Input: []byte("0")}, nil)
		ended <- err
	}()
	timer := time.AfterFunc(2*time.Millisecond, func() { kill(errKilled) })
	defer timer.Stop()
	if err := box.Close(ctx); err != nil {
		return err
	}
	if err := <-ended; err != errKilled && !errors.Is(err, sandbox.ErrClosed) {
		return fmt.Errorf("a call in a sandbox that was closed came to %w", err)
	}
	if _, err := box.Invoke(ctx, toolabi.Invocation{Module: module, Tool: toolName}, nil); !errors.Is(err, sandbox.ErrClosed) {
		return fmt.Errorf("a call in a closed sandbox came to %w", err)
	}
	return nil
}
