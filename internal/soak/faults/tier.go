package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// Config says what to do. Dir is mandatory.
type Config struct {
	// Tier is 1 or 2, which is the same with larger numbers.
	Tier int
	// Share is how much of everything is done; 0 means 1, all of it.
	Share float64
	// Only names the ways to be taken, by a part of what Fault says; "" means all, and where Share is 1 the controls too. "control"
	// and a tag are the controls of that tag, "control" alone is all of them.
	Only string
	// Seed decides what chance wants.
	Seed uint64
	// Dir is an empty directory on a disk. What is quicker in memory lies in Fast, "" for a directory in /dev/shm where there is one.
	Dir, Fast string
	// Workers is how many trials go on at once; 0 means one for each processor.
	Workers int
	// Programs are those to be used; the zero value has them built. Crash points and controls have builds of their own.
	Programs Programs
	// Tags are build tags of the programs.
	Tags string
	// Progress is told what is being done; nil for nobody.
	Progress io.Writer
}

// tier is a use of Run.
type tier struct {
	Config
	programs Programs
	cache    string
	report   *Report
}

// number scales a number of trials of tier 1.
func (t *tier) number(one, two int) int {
	n := one
	if t.Tier == 2 {
		n = two
	}
	return max(1, int(math.Ceil(float64(n)*t.Share)))
}

// Run makes the trials of a tier. The report is never nil, and its Err says whether everything held.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	t := &tier{Config: cfg, report: &Report{Seed: cfg.Seed}}
	if t.Share == 0 {
		t.Share = 1
	}
	if t.Workers == 0 {
		t.Workers = max(2, runtime.NumCPU())
	}
	if t.Fast == "" {
		t.Fast = filepath.Join(t.Dir, "fast")
		if dir, err := os.MkdirTemp("/dev/shm", "wrun-faults-"); err == nil {
			t.Fast = dir
			defer func() {
				if t.report.Err() == nil { // what disagrees names what is in it
					os.RemoveAll(dir)
				}
			}()
		}
	}
	t.cache = filepath.Join(t.Dir, "cache")
	began := time.Now()
	defer func() { t.report.Took = time.Since(began) }()
	var err error
	if t.programs = t.Programs; t.programs == (Programs{}) {
		t.say("building")
		if t.programs, err = MakePrograms(ctx, filepath.Join(t.Dir, "programs"), t.Tags); err != nil {
			return t.report, err
		}
	}
	for _, w := range ways {
		if err := t.way(ctx, w); err != nil {
			return t.report, fmt.Errorf("%s: %w", w.fault, err)
		}
	}
	if t.Only == "" && t.Share == 1 || strings.HasPrefix(t.Only, "control") {
		return t.report, t.controls(ctx)
	}
	return t.report, nil
}

func (t *tier) say(format string, args ...any) {
	if t.Progress != nil {
		fmt.Fprintf(t.Progress, format+"\n", args...)
	}
}

func (t *tier) wants(fault string) bool {
	return !strings.HasPrefix(t.Only, "control") && (t.Only == "" || strings.Contains(fault, t.Only))
}

// way is one way to make faults.
type way struct {
	fault, how string
	kind       Kind
	run        func(t *tier, ctx context.Context, row *Row) error
}

// ways are all of them, in the order of the report.
var ways = []way{
	{"process killed, every class", "SIGKILL at a random instant, a short plan of payments of every class", kindKill, (*tier).kills},
	{"process killed, long plans", "SIGKILL at a random instant or a moment of the provider's, by package trials, provider mixed", kindKill, (*tier).planKills},
	{"process killed, agents", "the same with agents and the bills of their models, by package agents", kindKill, (*tier).agentKills},
	{"crash points", "the process dies, fails, or hangs and is killed, at every named place in every class of steps", kindPoint, (*tier).crashPoints},
	{"crash images", "every image that a crash of a traced bare writer may leave: subsets of what was not synced, torn writes", kindImage, (*tier).crashImages},
	{"crash images, migration", "the same of a writer that brings a journal of schema 1 to the present one", kindImage, (*tier).migrationImages},
	{"system calls fail", "strace lets the nth of each kind fail in a run, once or from then on, or kills there", kindSyscall, (*tier).syscalls},
	{"full disk", "runs on a disk whose room is less by 4 KiB each time, and then there is room again", kindFull, (*tier).fullDisks},
	{"bit flipped", "one bit of a journal's file; a tenth, and half of what is found, is looked at with ls, show, log and resume too", kindDamage, damages(5000, 50_000, flipBit)},
	{"journal cut off", "a journal's file ends early", kindDamage, damages(2000, 20_000, cutOff)},
	{"pages spoiled", "a page is zeroed, overwritten with another, half of it too, or two are swapped", kindDamage, damages(1000, 10_000, spoilPage)},
	{"power cut, writer, ordered", "FS_IOC_SHUTDOWN of ext4, data=ordered, while a bare writer appends with blobs", kindBareCut, bareCuts("ext4", "data=ordered", 4000, 20_000)},
	{"power cut, writer, writeback", "the same with data=writeback", kindBareCut, bareCuts("ext4", "data=writeback", 3000, 15_000)},
	{"power cut, writer, journal", "the same with data=journal", kindBareCut, bareCuts("ext4", "data=journal", 1000, 5000)},
	{"power cut, writer, XFS", "the same on XFS", kindBareCut, bareCuts("xfs", "", 1000, 5000)},
	{"power cut, runs, ordered", "FS_IOC_SHUTDOWN of ext4, data=ordered, while three processes pay on one journal", kindCut, cuts("data=ordered", 600, 3000)},
	{"power cut, runs, writeback", "the same with data=writeback", kindCut, cuts("data=writeback", 400, 2000)},
	{"hostile bytes", "every fuzz target of the module, five minutes each, in tier 2", kindDamage, (*tier).fuzz},
}

// errSkip skips a way.
type errSkip string

func (e errSkip) Error() string { return string(e) }

// way takes one way.
func (t *tier) way(ctx context.Context, w way) error {
	if !t.wants(w.fault) {
		return nil
	}
	t.say("%s: %s", w.fault, w.how)
	row := &Row{Fault: w.fault, How: w.how, Kind: w.kind}
	t.report.Rows = append(t.report.Rows, row)
	began, before := time.Now(), openDescriptors()
	err := w.run(t, ctx, row)
	row.Took = time.Since(began)
	var skip errSkip
	if errors.As(err, &skip) {
		row.Skipped, err = string(skip), nil
		t.say("SKIPPED: %s: %s", w.fault, skip)
	}
	if now := openDescriptors(); now > before+2 { // the runtime of Go may have taken one for itself
		row.Found = append(row.Found, fmt.Sprintf("I12: %d descriptors were open, and %d are", before, now))
	}
	t.say("  %d trials, %d landed, %d found, %s", row.Trials, row.Landed, len(row.Found), row.Took.Round(time.Millisecond))
	for i, f := range row.Found {
		if i < maxFound {
			t.say("  %.2000s", f)
		}
	}
	return err
}

// part scales a number that is not one of tier 1 or 2 but all there is.
func (t *tier) part(all int) int { return max(1, int(math.Ceil(float64(all)*min(1, t.Share)))) }

// each lets every worker make trials on a bench of its own until there are enough. one returns an error for a trial that could not
// come to its end, which counts as found.
func (t *tier) each(ctx context.Context, row *Row, enough func(i int) bool, one func(ctx context.Context, b *bench, i int, r *rand.Rand) error) error {
	var next atomic.Int64
	dir, err := os.MkdirTemp(t.Fast, "way-")
	if err != nil {
		return err
	}
	began := time.Now()
	err = trials.Work(ctx, t.Workers, func(ctx context.Context, worker int) (err error) {
		b, err := openBench(t.programs, filepath.Join(dir, fmt.Sprint("worker-", worker)), t.cache)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		if err := b.measure(ctx); err != nil {
			return fmt.Errorf("%w: %w", errCalm, err)
		}
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if enough(i) || row.enough(math.MaxInt) {
				break
			}
			trialCtx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the trial takes more than %s", patience))
			err := one(trialCtx, b, i, rand.New(rand.NewPCG(t.Seed, uint64(i))))
			cancel()
			if err != nil && ctx.Err() == nil {
				row.fail(fmt.Sprintf("trial %d of seed %d", i, t.Seed), err)
			}
			if i%500 == 499 {
				t.say("  %d trials, %.1f a second", i+1, float64(i+1)/time.Since(began).Seconds())
			}
		}
		return context.Cause(ctx)
	})
	if len(row.Found) > 0 {
		t.say("  what was left is in %s", dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// errCalm is what disagrees although there was no fault.
var errCalm = errors.New("a run that nobody disturbs")

// measure lets runs go on undisturbed: the first may have to compile the modules, the last says how long one takes.
func (b *bench) measure(ctx context.Context) error {
	journal := filepath.Join(b.dir, "calm", "journal.db")
	for i := range 3 {
		t := b.trial(kindKill, journal, "mixed", fmt.Sprint("calm-", i))
		exit, err := t.do(ctx, 0, nil, t.next()...)
		if err != nil {
			return err
		}
		if exit.Code != exitOK {
			return fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr)
		}
		b.whole = exit.Took
		if err := t.finish(ctx); err != nil {
			return err
		}
		if found := check(kindKill, &t.left); len(found) > 0 {
			return fmt.Errorf("%s", found)
		}
	}
	return nil
}

// done ends a trial: it drives the run to its end and holds everything against the invariants.
func (t *trial) done(ctx context.Context, row *Row, name string, landed int) error {
	if err := t.finish(ctx); err != nil {
		return err
	}
	row.add(name, landed, t.requests, check(t.kind, &t.left))
	return nil
}
