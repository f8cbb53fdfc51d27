package big

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

const (
	// perRun is how many entries a run has that only fills the journal: created, claimed, an intent and a result for each of its
	// steps, finished.
	perRun = 3 + 2*(perStep)
	// perStep is how many steps it has.
	perStep = 198
	// writers is how many runs are written at once, so that they share commits.
	writers = 64
)

// grow fills the journal with finished runs until it has so many entries.
func (b *big) grow(ctx context.Context, entries int) (err error) {
	j, err := boltdb.Create(ctx, b.program.Journal, boltdb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	more := max(0, (entries-b.entries+perRun-1)/perRun)
	numbers := make(chan int)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex // guards first
		first error
	)
	for range writers {
		wg.Go(func() {
			for n := range numbers {
				if err := j.Append(ctx, fmt.Sprintf("filler-%08d", n), 0, filler()...); err != nil {
					mu.Lock()
					first = errors.Join(first, err)
					mu.Unlock()
				}
			}
		})
	}
	for range more {
		if ctx.Err() != nil {
			break
		}
		numbers <- b.runs
		b.runs, b.entries = b.runs+1, b.entries+perRun
		if b.runs%5000 == 0 {
			b.say("%d entries", b.entries)
		}
	}
	close(numbers)
	wg.Wait()
	return errors.Join(first, ctx.Err())
}

// filler is a run of calls, all of which have ended.
func filler() []journal.Entry {
	const owner = "filler"
	es := []journal.Entry{{Kind: journal.Created, Name: "call", Time: 1}, {Kind: journal.Claimed, Owner: owner, Time: 1}}
	for n := range perStep {
		step := journal.Step(fmt.Sprintf("step%d", n))
		request := fmt.Appendf(nil, `{"text":"what step %d is asked to do"}`, n)
		es = append(es,
			journal.Entry{Kind: journal.Intent, Step: step, Name: "text.upper", Owner: owner, OnCut: journal.Redo, Request: journal.DigestOf(request), Body: request, Time: 2},
			journal.Entry{Kind: journal.Result, Step: step, Name: "text.upper", Owner: owner, Outcome: journal.OK, Body: request, Time: 2})
	}
	return append(es, journal.Entry{Kind: journal.Finished, Owner: owner, Outcome: journal.OK, Time: 3})
}

// same holds every run of one journal against those of another, which is a copy of it: the copy may lack what came later.
func (b *big) same(ctx context.Context, path, copied string) (err error) {
	heads := func(path string) (map[string]journal.Digest, error) {
		j, err := boltdb.Open(ctx, path, boltdb.Options{})
		if err != nil {
			return nil, err
		}
		defer j.Close()
		all := map[string]journal.Digest{}
		for s, err := range j.List(ctx, journal.Query{}) {
			if err != nil {
				return nil, err
			}
			all[s.Run] = s.Head
		}
		return all, nil
	}
	one, err := heads(path)
	if err != nil {
		return err
	}
	other, err := heads(copied)
	if err != nil {
		return err
	}
	if len(one) != b.runs+b.probes || len(other) != len(one) {
		return fmt.Errorf("%d runs were made, the journal has %d, its copy %d", b.runs+b.probes, len(one), len(other))
	}
	for run, head := range one {
		if other[run] != head {
			return fmt.Errorf("run %s ends with %s, in the copy with %s", run, head.Short(), other[run].Short())
		}
	}
	return nil
}
