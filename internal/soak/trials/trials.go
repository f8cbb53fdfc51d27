package trials

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Config says what to do. Wrun, Tool and Dir are mandatory.
type Config struct {
	// Kills is how many processes to kill. A few more may be, which are being killed meanwhile.
	Kills int
	// Provider is one of Providers, "" the first of them.
	Provider string
	// Seed decides what chance wants; the instants at which a timer kills differ nevertheless from one time to the next.
	Seed uint64
	// Wrun is the program, Tool the payments module; Build makes both.
	Wrun, Tool string
	// Dir is a directory for the journal, the ledgers and the rest. It should be empty.
	Dir string
	// Cache is the directory of compiled modules; "" means one in Dir.
	Cache string
	// Workers is how many trials go on at once, on one journal. 0 means 2, and 6 where most of the time is spent waiting.
	Workers int
	// Seen is told how every process has ended, unless it is nil. It may be called concurrently.
	Seen func(Exit)
	// Progress is told how far it is, a line for every 25 trials; nil for nobody.
	Progress io.Writer
}

// patience bounds one trial.
const patience = 3 * time.Minute

// freshEvery: of so many trials one has a journal for itself, so that processes die while they make it.
const freshEvery = 8

// soak is a use of Run.
type soak struct {
	Config
	provider *provider
	program  Program
	whole    time.Duration
	report   *Report
	next     atomic.Int64 // the number of the next trial
}

// Run kills until enough were killed, or until the first trial that ends other than it should. The report is never nil;
// its Err says whether everything agreed. The error is for trials that could not be made at all.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	s := &soak{Config: cfg, report: &Report{Seed: cfg.Seed, Landed: map[Moment]int{}}}
	var err error
	if s.provider, err = providerByName(cfg.Provider); err != nil {
		return s.report, err
	}
	s.report.Provider = s.provider.name
	if s.Cache == "" {
		s.Cache = filepath.Join(s.Dir, "cache")
	}
	if s.Workers == 0 {
		s.Workers = 2
		if s.provider.late > 0 || s.provider.settle > 0 {
			s.Workers = 6
		}
	}
	s.program = Program{Wrun: s.Wrun, Journal: filepath.Join(s.Dir, "journal.db"), Cache: s.Cache, Seen: s.Seen}
	if err := s.prepare(); err != nil {
		return s.report, err
	}
	if err := s.measure(ctx); err != nil {
		return s.report, fmt.Errorf("a run that nobody disturbs: %w", err)
	}
	err = Work(ctx, s.Workers, s.work)
	s.verifyJournal(context.WithoutCancel(ctx), s.program.Journal)
	return s.report, err
}

func (s *soak) prepare() error {
	tool, err := os.ReadFile(s.Tool)
	if err != nil {
		return fmt.Errorf("prepare trials: %w", err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(s.Dir, "payments.wasm"), tool, 0o600),
		os.WriteFile(filepath.Join(s.Dir, "plan.yaml"), []byte(s.provider.planText()), 0o600))
	if err != nil {
		return fmt.Errorf("prepare trials: %w", err)
	}
	return nil
}

// measure lets two runs go on undisturbed: the first may have to compile the module, the second says how long one takes.
func (s *soak) measure(ctx context.Context) error {
	w, err := openWorld(filepath.Join(s.Dir, "ledger-calm.jsonl"), s.provider.base)
	if err != nil {
		return err
	}
	defer w.close()
	for _, run := range []string{"calm-1", "calm-2"} {
		t := s.trial(w, run, 0)
		exit, err := s.program.Run(ctx, "--json", "run", filepath.Join(s.Dir, "plan.yaml"), "--id", run, "--allow-http", w.url, "--input", planInput(w.url, run))
		switch {
		case err != nil:
			return err
		case exit.Code != 0:
			return fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr)
		}
		t.output, s.whole = exit.Stdout, exit.Took
		if err := errors.Join(t.readLog(ctx), t.verify(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// work makes trials until there were enough kills.
func (s *soak) work(ctx context.Context, worker int) error {
	w, err := openWorld(filepath.Join(s.Dir, fmt.Sprintf("ledger-%d.jsonl", worker)), s.provider.base)
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
	return nil
}

// one makes a trial. What disagrees is written into the report, with all that is needed to look at it.
func (s *soak) one(ctx context.Context, w *world, n int64) error {
	trialCtx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the trial takes more than %s", patience))
	defer cancel()
	t := s.trial(w, fmt.Sprintf("trial-%d", n), n)
	if n%freshEvery == 0 {
		t.fresh = filepath.Join(s.Dir, t.run)
		t.wrun.Journal = filepath.Join(t.fresh, "journal.db")
	}
	err := t.play(trialCtx)
	if err == nil {
		s.report.tell(func(r *Report) { r.Trials++ })
		s.progress(n)
		return s.discard(ctx, t)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = fmt.Errorf("%s (seed %d, ledger %s): %w", t.run, s.Seed, w.url, err)
	s.report.tell(func(r *Report) { r.Faults = append(r.Faults, err.Error()) })
	return ErrStopped
}

// discard checks a journal that a trial had for itself and removes it, unless something is wrong with it.
func (s *soak) discard(ctx context.Context, t *trial) error {
	if t.fresh == "" {
		return nil
	}
	if !s.verifyJournal(context.WithoutCancel(ctx), t.wrun.Journal) {
		return ErrStopped
	}
	return os.RemoveAll(t.fresh)
}

func (s *soak) trial(w *world, run string, n int64) *trial {
	return &trial{
		provider: s.provider, wrun: s.program, dir: s.Dir, world: w, rng: rand.New(rand.NewPCG(s.Seed, uint64(n))), run: run,
		whole: s.whole, report: s.report, enough: func() bool { return s.report.kills() >= s.Kills }, settled: map[string]bool{}, failed: -1,
	}
}

func (s *soak) progress(n int64) {
	if s.Progress != nil && n%25 == 0 {
		fmt.Fprintf(s.Progress, "%d trials, %d kills\n", n, s.report.kills())
	}
}

// verifyJournal checks a journal that all the dead have left.
func (s *soak) verifyJournal(ctx context.Context, path string) bool {
	faults := VerifyJournal(ctx, path)
	s.report.tell(func(r *Report) { r.Faults = append(r.Faults, faults...) })
	return len(faults) == 0
}

// VerifyJournal checks every hash, rule and blob of a journal and says what is wrong.
func VerifyJournal(ctx context.Context, path string) (faults []string) {
	j, err := boltdb.Open(ctx, path, boltdb.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	defer j.Close()
	for fault := range journal.Verify(ctx, j) {
		faults = append(faults, fmt.Sprintf("%s: %v", path, fault))
	}
	return faults
}
