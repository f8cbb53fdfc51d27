package mixed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// The endings of calls that are not codes of errors.
const (
	endOutput = "output"
	endKilled = "killed"
	endNoRoom = "no room"
	endRun    = "run"
)

// counter counts calls by their ending, and knows what those came to that are always the same. Its methods may be called
// concurrently.
type counter struct {
	mu    sync.Mutex
	ends  map[string]int64   // guarded by mu
	first map[string]outcome // guarded by mu: of calls that are always the same
}

type outcome struct {
	output string
	fuel   uint64
}

func (c *counter) add(ending string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[string]int64{}
	}
	c.ends[ending]++
}

// all returns a copy of the counts.
func (c *counter) all() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.ends)
}

// compare holds a call against the first of its name.
func (c *counter) compare(name string, now outcome) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, ok := c.first[name]
	switch {
	case !ok && c.first == nil:
		c.first = map[string]outcome{}
		fallthrough
	case !ok:
		c.first[name] = now
	case first != now:
		return fmt.Errorf("it came to %.200s with %d fuel, and the same call before it to %.200s with %d", now.output, now.fuel, first.output, first.fuel)
	}
	return nil
}

// caller makes calls in one sandbox. One goroutine uses it.
type caller struct {
	s     *soak
	box   *sandbox.Sandbox
	r     *rand.Rand
	kinds []kind // each as often as it is to be drawn
	// newcomer chooses the module of a kind that has none.
	newcomer func(r *rand.Rand) *toolabi.Digest
	// tight says that there may be no room for a call.
	tight bool
	cycle int
}

// drawn returns the kinds of a temper, each as often as it is to be drawn, without those that have another one.
func drawn(kinds []kind, with, without temper) (all []kind) {
	for _, k := range kinds {
		if k.temper&with != 0 && k.temper&without == 0 {
			all = append(all, slices.Repeat([]kind{k}, k.often)...)
		}
	}
	return all
}

// work makes calls until the time is over, and at least one. Between them it sleeps for as long as the load wants it to.
func (c *caller) work(ctx context.Context, until time.Time) error {
	for {
		k := c.kinds[c.r.IntN(len(c.kinds))]
		began := time.Now()
		if err := c.call(ctx, k); err != nil {
			return fmt.Errorf("a call of the kind %q: %w", k.name, err)
		}
		c.s.each(c.cycle)
		if err := c.s.breathe(ctx, time.Since(began)); err != nil {
			return err
		}
		if !time.Now().Before(until) {
			return nil
		}
	}
}

// breathe sleeps so that what took so long is as much of the time as the load says.
func (s *soak) breathe(ctx context.Context, took time.Duration) error {
	if s.Load < 1 {
		select {
		case <-time.After(time.Duration(float64(took) * (1 - s.Load) / s.Load)):
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// call makes one call and holds what it came to.
func (c *caller) call(ctx context.Context, k kind) error {
	req := k.make(c.r)
	req.Limits = k.limits
	if k.module != nil {
		req.Module = *k.module
	} else {
		req.Module = *c.newcomer(c.r)
	}
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	if k.killed != 0 {
		defer time.AfterFunc(time.Duration(c.r.Int64N(int64(k.killed))), func() { kill(errKilled) }).Stop()
	}
	if k.time != 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, k.time, toolabi.NewError(toolabi.LimitTime, "its time is over"))
		defer stop()
	}
	out, err := c.box.Invoke(ctx, req.Invocation, func(context.Context, string, []byte) (toolabi.Answer, error) {
		return toolabi.Answer{Reply: req.answer}, nil
	})
	ending, err := c.judge(k, req, out, err)
	c.s.count.add(ending)
	return err
}

// judge names the ending of a call and says what is wrong with it.
func (c *caller) judge(k kind, req request, out toolabi.Outcome, err error) (ending string, wrong error) {
	var room *sandbox.MemoryError
	switch {
	case err == errKilled && k.killed != 0:
		return endKilled, nil
	case c.tight && (errors.As(err, &room) || k.time != 0 && errors.Is(err, req.says)): // also when its time was over before it began
		return endNoRoom, nil
	case err != nil:
		return "", err
	case out.Err != nil && out.Err.Code != req.says, out.Err == nil && req.says != 0:
		return "", fmt.Errorf("it came to %.200q, error %v, and not to %v", out.Output, out.Err, req.says)
	case out.Err != nil:
		if !strings.Contains(out.Err.Message, req.alsoSays) {
			return "", fmt.Errorf("its error says %q, and not %q", out.Err.Message, req.alsoSays)
		}
		return out.Err.Code.String(), nil
	case req.want != nil && !bytes.Equal(out.Output, req.want):
		return "", fmt.Errorf("its output is %.200q of %d bytes, and not %.200q of %d", out.Output, len(out.Output), req.want, len(req.want))
	case !bytes.HasSuffix(out.Stderr, req.tail):
		return "", fmt.Errorf("what it printed ends otherwise than with %.200q", req.tail)
	}
	if req.same != "" {
		wrong = c.s.count.compare(req.same, outcome{string(out.Output), out.Fuel})
	}
	return endOutput, wrong
}
