package agents

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// Config says what to do. Wrun, Tool and Dir are mandatory.
type Config struct {
	// Kills is how many processes to kill. A few more may be, which are being killed meanwhile.
	Kills int
	// Seed decides what chance wants; the instants at which a timer kills differ nevertheless from one time to the next.
	Seed uint64
	// Wrun is the program, Tool the payments module; trials.Build makes both.
	Wrun, Tool string
	// Dir is a directory for the journal, what the servers keep and the rest. It should be empty.
	Dir string
	// Cache is the directory of compiled modules; "" means one in Dir.
	Cache string
	// Workers is how many trials go on at once, on one journal; 0 means 4, since processes wait for a provider that hangs.
	Workers int
	// Seen is told how every process has ended, unless it is nil. It may be called concurrently.
	Seen func(trials.Exit)
	// Progress is told how far it is, a line for every 25 trials; nil for nobody.
	Progress io.Writer
}

// patience bounds one trial.
const patience = 3 * time.Minute

// soak is a use of Run.
type soak struct {
	Config
	says    *script.Script
	program trials.Program
	whole   time.Duration
	report  *Report
	next    atomic.Int64 // the number of the next trial
}

// Run kills until enough were killed, or until the first trial that ends other than it should. The report is never nil;
// its Err says whether everything agreed. The error is for trials that could not be made at all.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	s := &soak{Config: cfg, report: &Report{Seed: cfg.Seed, Landed: map[Moment]int{}}}
	if s.Cache == "" {
		s.Cache = filepath.Join(s.Dir, "cache")
	}
	if s.Workers == 0 {
		s.Workers = 4
	}
	s.program = trials.Program{Wrun: s.Wrun, Journal: filepath.Join(s.Dir, "journal.db"), Cache: s.Cache, Seen: s.Seen}
	var err error
	if s.says, err = prepare(s.Dir, s.Tool); err != nil {
		return s.report, err
	}
	if err := s.measure(ctx); err != nil {
		return s.report, fmt.Errorf("a run that nobody disturbs: %w", err)
	}
	err = trials.Work(ctx, s.Workers, s.work)
	s.report.tell(func(r *Report) {
		r.Faults = append(r.Faults, trials.VerifyJournal(context.WithoutCancel(ctx), s.program.Journal)...)
	})
	return s.report, err
}

// measure lets two runs go on undisturbed: the first may have to compile the module, the second says how long one takes.
func (s *soak) measure(ctx context.Context) error {
	w, err := openWorld(filepath.Join(s.Dir, "calm"), s.says)
	if err != nil {
		return err
	}
	defer w.close()
	for n, run := range []string{"calm-1", "calm-2"} {
		t := s.trial(w, run, int64(-n))
		t.enough, t.report = func() bool { return true }, &Report{} // it counts for nothing
		if err := t.begin(true); err != nil {
			return err
		}
		began := time.Now()
		for done := false; !done; {
			if done, err = t.round(ctx); err != nil {
				return err
			}
		}
		s.whole = time.Since(began) / 3 // an agent, an approve and a resume
		if err := t.verify(ctx); err != nil {
			return err
		}
	}
	return nil
}

// work makes trials until there were enough kills, and holds all bills against those of the trials.
func (s *soak) work(ctx context.Context, worker int) error {
	w, err := openWorld(filepath.Join(s.Dir, fmt.Sprintf("worker-%d", worker)), s.says)
	if err != nil {
		return err
	}
	defer w.close()
	for s.report.kills() < s.Kills && ctx.Err() == nil {
		n := s.next.Add(1)
		if n > 10+3*int64(s.Kills) {
			return fmt.Errorf("%d trials have brought %d kills only", n, s.report.kills())
		}
		if err := s.one(ctx, w, n); err != nil {
			return err
		}
	}
	c := w.model.Count()
	s.report.tell(func(r *Report) { r.Requests, r.Replayed = r.Requests+c.Requests, r.Replayed+c.Replayed })
	return nil
}

// one makes a trial. What disagrees is written into the report, with all that is needed to look at it.
func (s *soak) one(ctx context.Context, w *world, n int64) error {
	trialCtx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the trial takes more than %s", patience))
	defer cancel()
	t := s.trial(w, fmt.Sprintf("trial-%d", n), n)
	before := len(w.model.Bills())
	err := t.play(trialCtx)
	if err == nil {
		err = t.ownBills(len(w.model.Bills()) - before)
	}
	if err == nil {
		s.report.tell(func(r *Report) { r.Trials++ })
		if s.Progress != nil && n%25 == 0 {
			fmt.Fprintf(s.Progress, "%d trials, %d kills\n", n, s.report.kills())
		}
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = fmt.Errorf("%s (seed %d, bills %s): %w", t.run, s.Seed, w.bills, err)
	s.report.tell(func(r *Report) { r.Faults = append(r.Faults, err.Error()) })
	return trials.ErrStopped
}

// ownBills wants every bill of a trial under a key of its log: what was never announced must not have been sent.
func (t *trial) ownBills(made int) error {
	bills, err := t.world.billed()
	if err != nil {
		return err
	}
	own, seen := 0, map[string]bool{}
	for _, e := range t.log {
		if e.thinks() && e.Kind == "intent" && !seen[e.Key] {
			own, seen[e.Key] = own+bills[e.Key], true
		}
	}
	if own != made {
		t.report.tell(func(r *Report) { r.Hidden += made - own })
		return fmt.Errorf("%d requests were billed, %d under keys of the log", made, own)
	}
	return nil
}

func (s *soak) trial(w *world, run string, n int64) *trial {
	return &trial{
		wrun: s.program, dir: s.Dir, world: w, rng: rand.New(rand.NewPCG(s.Seed, uint64(n))), run: run,
		whole: s.whole, report: s.report, enough: func() bool { return s.report.kills() >= s.Kills },
	}
}
