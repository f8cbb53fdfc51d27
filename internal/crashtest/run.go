package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/offer"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
)

// Config says what to do. Child, World and Dir are mandatory.
type Config struct {
	// Child starts processes.
	Child Child
	// World is the world of each trial.
	World *world.World
	// Script is what a model says; nil for a run that asks none.
	Script *script.Script
	// Mail is the server that the run is granted for mail; the zero value takes one of the world's own where the world has mail.
	Mail hostfuncs.MailGrant
	// Dir is an empty directory; each trial has one in it. Those of trials with nothing wrong are removed.
	Dir string
	// Places is how many places are visited, by chance where that are not all; 0 visits all.
	Places int
	// Second is how many trials have a second death, in the process that goes on after the first.
	Second int
	// Seed decides what chance wants.
	Seed uint64
	// Only makes the one trial of this number; 0 makes all.
	Only int
	// Workers is how many trials go on at once; 0 means one.
	Workers int
	// Progress is told how many trials are done of how many; nil for nobody. It is not called concurrently.
	Progress func(done, of int)
}

// ErrUndisturbed is why a run cannot be tested: it does not come to its end even when nobody disturbs it.
var ErrUndisturbed = errors.New("the run does not come to its end when nobody disturbs it")

// ErrNoTrial: there is no trial of the number in Config.Only.
var ErrNoTrial = errors.New("there is no such trial")

// run is one use of Test.
type run struct {
	cfg   Config
	offer offer.Offer
	base  struct {
		*Trial
		came came
	}
	loose map[string]bool // routes whose requests are not compared
	free  []string        // paths of the outcome that are not compared

	mu   sync.Mutex
	done int // guarded by mu
}

// Test kills the run everywhere. The report is not nil unless there is an error: ErrUndisturbed, ErrNoTrial, what keeps trials from being
// made, and the end of ctx.
func Test(ctx context.Context, cfg Config) (*Report, error) {
	r := &run{cfg: cfg, offer: offerOf(cfg.World, cfg.Mail)}
	if err := r.undisturbed(ctx); err != nil {
		return nil, err
	}
	r.base.Log = r.base.end.Log
	firsts := r.firsts()
	rep := &Report{Base: r.base.Trial, Places: len(r.base.end.Trace.Places()), Seed: cfg.Seed, Visited: len(firsts)}
	seconds := r.seconds(firsts)
	second := len(seconds)
	if cfg.Only > len(firsts)+second {
		return nil, fmt.Errorf("%w: %d; they are 1 to %d", ErrNoTrial, cfg.Only, len(firsts)+second)
	}
	of := len(firsts) + second
	if cfg.Only > 0 {
		of = 1
	}
	trials := make([]*Trial, len(firsts))
	err := r.each(ctx, len(firsts), func(ctx context.Context, i int) (err error) {
		if cfg.Only == 0 || cfg.Only == i+1 {
			trials[i], err = r.trial(ctx, i+1, []Place{firsts[i]}, of)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	again := make([]*Trial, second)
	err = r.each(ctx, second, func(ctx context.Context, i int) error {
		n := len(firsts) + i + 1
		if cfg.Only != 0 && cfg.Only != n {
			return nil
		}
		first := trials[seconds[i]]
		if first == nil {
			var err error
			if first, err = r.play(ctx, seconds[i]+1, fmt.Sprintf("trial-%d-before", n), []Place{firsts[seconds[i]]}); err != nil {
				return err
			}
			defer os.RemoveAll(first.dir)
		}
		places := first.end.Trace.Places()
		if first.Missed || len(places) == 0 {
			return nil
		}
		place := places[rand.New(rand.NewPCG(cfg.Seed, uint64(n))).IntN(len(places))]
		var err error
		again[i], err = r.trial(ctx, n, []Place{firsts[seconds[i]], place}, of)
		return err
	})
	rep.Trials = slices.DeleteFunc(append(trials, again...), func(t *Trial) bool { return t == nil })
	return rep, err
}

// undisturbed makes the run twice with nobody disturbing it. What differs between the two is not compared.
func (r *run) undisturbed(ctx context.Context) error {
	first, err := r.play(ctx, 0, "undisturbed-1", nil)
	if err != nil {
		return err
	}
	second, err := r.play(ctx, 0, "undisturbed-2", nil)
	if err != nil {
		return err
	}
	for _, t := range []*Trial{first, second} {
		if t.end.Stopped != "" {
			t.find("%s", t.end.Stopped)
		}
		if t.Failed() {
			return fmt.Errorf("%w: %s", ErrUndisturbed, t.Findings[0])
		}
	}
	r.loose = looseIn(first.Seen, second.Seen)
	a, b := cameOf(first.end, first.Seen, r.loose), cameOf(second.end, second.Seen, r.loose)
	r.free = differences(a.outcome, b.outcome, "")
	r.base.Trial, r.base.came = first, a
	first.count()
	return errors.Join(os.RemoveAll(first.dir), os.RemoveAll(second.dir))
}

// firsts are the places of the first deaths, in order.
func (r *run) firsts() []Place {
	all := r.base.end.Trace.Places()
	if r.cfg.Places == 0 || r.cfg.Places >= len(all) {
		return all
	}
	chosen := rand.New(rand.NewPCG(r.cfg.Seed, 1)).Perm(len(all))[:r.cfg.Places]
	slices.Sort(chosen)
	some := make([]Place, 0, len(chosen))
	for _, i := range chosen {
		some = append(some, all[i])
	}
	return some
}

// seconds are the places among the first ones after which another process is killed too. Behind the end there is nothing left to do.
func (r *run) seconds(firsts []Place) (chosen []int) {
	for _, i := range rand.New(rand.NewPCG(r.cfg.Seed, 2)).Perm(len(firsts)) {
		if len(chosen) < r.cfg.Second && !(firsts[i].Kind == journal.Finished.String() && firsts[i].When == After) {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// trial makes one trial and judges it. Where nothing is wrong, nothing is left of it.
func (r *run) trial(ctx context.Context, n int, kills []Place, of int) (*Trial, error) {
	t, err := r.play(ctx, n, fmt.Sprintf("trial-%d", n), kills)
	if err != nil {
		return nil, fmt.Errorf("trial %d, killed %s: %w", n, where(kills), err)
	}
	t.Where = where(kills)
	r.judge(t)
	if !t.Failed() {
		t.Seen = nil
		err = os.RemoveAll(t.dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.done, of)
	}
	return t, err
}

// where says where the processes of a trial died.
func where(kills []Place) string {
	s := kills[0].String()
	for _, k := range kills[1:] {
		s += ", then " + k.String()
	}
	return s
}

// each calls f for 0 to n-1, in order, as many at once as there are workers. The first error ends the others.
func (r *run) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	next := make(chan int)
	for range max(1, r.cfg.Workers) {
		wg.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
