package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// benchModule is a tool in 300 bytes that answers with its input; benchmodule_test.go has its source.
//
//go:embed bench.wasm
var benchModule []byte

const (
	// benchTime is how long each measurement takes, if nobody says otherwise.
	benchTime = time.Second
	// benchWriters is how many runs append at once.
	benchWriters = 8
)

// measured is what this machine does.
type measured struct {
	median, p99    time.Duration // of writing a page to the disk
	alone, several float64       // commits a second, by one run and by benchWriters
	calls          float64       // a second
}

func newBench(a *app) *cobra.Command {
	each := patience(benchTime)
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure what this machine's disk and processor mean for runs",
		Long: `Measure how long the disk that the journal is on takes to keep what is written, how many commits a second that
makes for one run and for eight at once, and how many calls a second the sandbox does, each in a clean
instance. Each takes about a second, in a directory beside the journal that is removed again; the
journal is not touched. docs/performance.md says what was measured elsewhere.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.benchmark(c.Context(), time.Duration(each)) },
	}
	c.Flags().Var(&each, "time", "how long each measurement takes, a `DURATION`")
	return c
}

func (a *app) benchmark(ctx context.Context, each time.Duration) (err error) {
	_, p, err := a.place()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(p.Dir, ".wrun-bench-")
	if err != nil {
		return fileError(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := a.measure(ctx, dir, each)
	if err != nil {
		return err
	}
	if a.json {
		return a.line(map[string]any{
			"dir": p.Dir, "sync_median_us": m.median.Microseconds(), "sync_p99_us": m.p99.Microseconds(), "commits": int64(m.alone),
			"commits_parallel": int64(m.several), "writers": benchWriters, "calls": int64(m.calls), "judgement": m.judgement(),
		})
	}
	return a.printf("sync      %s in the middle, %s at the 99th of 100, in %s\ncommits   %.0f a second by one run, %.0f by %d at once\ncalls     %.0f a second, each in a clean instance\n\n%s\n",
		m.median.Round(time.Microsecond), m.p99.Round(time.Microsecond), toolabi.CleanLine(p.Dir, 500), m.alone, m.several, benchWriters, m.calls, m.judgement())
}

// measure takes the measurements one after the other.
func (a *app) measure(ctx context.Context, dir string, each time.Duration) (m measured, err error) {
	a.say("measuring the disk")
	if m.median, m.p99, err = syncLatency(ctx, filepath.Join(dir, "page"), each); err != nil {
		return m, err
	}
	a.say("measuring commits")
	if m.alone, err = commitRate(ctx, filepath.Join(dir, "alone.db"), 1, each); err != nil {
		return m, err
	}
	if m.several, err = commitRate(ctx, filepath.Join(dir, "several.db"), benchWriters, each); err != nil {
		return m, err
	}
	a.say("measuring calls")
	m.calls, err = callRate(ctx, each)
	return m, err
}

// judgement says in a line what it means.
func (m measured) judgement() string {
	step := time.Duration(float64(time.Second) / max(m.alone, 1)).Round(10 * time.Microsecond)
	switch {
	case m.median < 20*time.Microsecond:
		return "The disk answers sooner than a disk can: it is memory, or it does not wait until what is written is safe. After a power cut runs may lack what was acknowledged."
	case step > 20*time.Millisecond:
		return fmt.Sprintf("The disk is slow: every step that must not be lost waits %s for it. Put the journal on another one (--journal), or let several runs share commits.", step)
	case m.calls < m.alone:
		return fmt.Sprintf("The processor decides: a step waits %s for the disk, and a call of the smallest tool takes longer than that.", step)
	}
	return fmt.Sprintf("A step that must not be lost waits %s for the disk; a call of a small tool takes %.0f times less, so that runs are as fast as the disk is.", step, m.calls/max(m.alone, 1))
}

// syncLatency writes a page and waits until it is safe, again and again.
func syncLatency(ctx context.Context, path string, each time.Duration) (median, p99 time.Duration, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return 0, 0, fileError(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var took []time.Duration
	page := make([]byte, 4096)
	for end := time.Now().Add(each); len(took) == 0 || time.Now().Before(end); {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		page[0]++
		began := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			return 0, 0, fileError(err)
		}
		if err := f.Sync(); err != nil {
			return 0, 0, fileError(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], nil
}

// commitRate has so many runs append to a journal of their own, and returns how many appends a second were acknowledged.
func commitRate(ctx context.Context, path string, writers int, each time.Duration) (rate float64, err error) {
	j, err := boltdb.Create(ctx, path, boltdb.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	var n atomic.Int64
	failed := make([]error, writers)
	began := time.Now()
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			run := fmt.Sprintf("bench-%d", i)
			e := journal.Entry{Kind: journal.Created, Name: "bench", Time: began.UnixNano(), Body: []byte("{}")}
			for at := uint64(0); at == 0 || time.Since(began) < each; at++ {
				if failed[i] = j.Append(ctx, run, at, e); failed[i] != nil {
					return
				}
				n.Add(1)
				e = journal.Entry{Kind: journal.Record, Name: "bench", Time: time.Now().UnixNano(), Body: []byte("{}")}
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return float64(n.Load()) / time.Since(began).Seconds(), errors.Join(failed...)
}

// callRate calls the module one time after the other, on one processor, and returns how many calls a second that were.
func callRate(ctx context.Context, each time.Duration) (rate float64, err error) {
	m, err := sandbox.Inspect(benchModule)
	if err != nil {
		return 0, err
	}
	s, err := sandbox.New(ctx, sandbox.Config{Source: func(context.Context, toolabi.Digest) ([]byte, error) { return benchModule, nil }})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	s.Add(m)
	if err := s.Prepare(ctx, m.Digest); err != nil {
		return 0, err
	}
	inv := toolabi.Invocation{Module: m.Digest, Tool: "echo", Input: []byte(`{"text":"something to answer with"}`)}
	host := func(context.Context, string, []byte) (toolabi.Answer, error) {
		return toolabi.Answer{}, errors.New("the module of bench asks for something")
	}
	n, began := 0, time.Now()
	for ; n == 0 || time.Since(began) < each; n++ {
		out, err := s.Invoke(ctx, inv, host)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil:
			return 0, err
		case out.Err != nil || string(out.Output) != string(inv.Input):
			return 0, fmt.Errorf("the module of bench answers %q, %v", out.Output, out.Err)
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
