package agents

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// maxRounds is how many processes a trial may take. More means that it does not end.
const maxRounds = 80

// trial is one run of the agent, from its first process to its end.
type trial struct {
	wrun   trials.Program
	dir    string // where agent and module lie
	world  *world
	rng    *rand.Rand
	run    string
	whole  time.Duration // how long a run takes that nobody disturbs
	report *Report
	enough func() bool // nobody needs to be killed any more
	knows  bool        // the provider knows the keys that it has answered

	log    []entry // as it was read last
	output string  // what the run returned
}

// begin makes the provider fail as the trial's own chance wants. Most providers ignore keys, some know them.
func (t *trial) begin(calm bool) error {
	t.knows = t.rng.IntN(4) == 0
	protocol, path := "openai", "/v1"
	if t.rng.IntN(2) == 0 {
		protocol, path = "anthropic", ""
	}
	t.wrun.Env = []string{
		"WRUN_MODEL=" + protocol + "/m-1", "WRUN_MODEL_BASE_URL=" + t.world.modelAt.URL + path, "WRUN_MODEL_KEY=",
	}
	b := fakemodel.Behaviour{HonourKeys: t.knows}
	if !calm {
		b.Random, b.Seed, b.DelayMS = 0.3, t.rng.Uint64(), t.rng.IntN(20)
		for _, f := range fakemodel.Faults {
			b.RandomFaults = append(b.RandomFaults, f.Fault)
		}
	}
	return t.world.model.SetBehaviour(b)
}

// play drives the run to its end, through as many deaths as chance wants.
func (t *trial) play(ctx context.Context) error {
	if err := t.begin(false); err != nil {
		return err
	}
	for range maxRounds {
		done, err := t.round(ctx)
		if err != nil {
			return err
		}
		if done {
			return t.verify(ctx)
		}
	}
	return fmt.Errorf("the run has not ended after %d processes", maxRounds)
}

// round lets one process go on with the run, and perhaps kills it.
func (t *trial) round(ctx context.Context) (done bool, err error) {
	exit, err := t.drive(ctx)
	if err != nil {
		return false, err
	}
	switch {
	case exit.Killed():
		t.report.landed(momentOf(t.log))
		return false, t.audit(ctx)
	case exit.Code == 0:
		t.output = exit.Stdout
		return true, nil
	case exit.Code == exitUncertain:
		return false, t.resolve(ctx)
	case exit.Code == exitSuspended && len(questions(t.log)) > 0:
		return false, t.approve(ctx)
	case exit.Code == exitSuspended: // the provider wants to be left alone for a while
		return false, trials.Pause(ctx, 100*time.Millisecond)
	case busy(exit):
		t.report.tell(func(r *Report) { r.Busy++ })
		return false, nil
	}
	return false, fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr)
}

// busy says whether a process gave up because others had the journal's file for too long, which a loaded machine can
// bring about. A run that is said to be driven, with nobody left to drive it, is something else.
func busy(e trials.Exit) bool { return e.Code == exitBusy && strings.Contains(e.Stderr, "W0304") }

// drive starts a process that goes on with the run, and returns how it ended, when all that it did has arrived.
func (t *trial) drive(ctx context.Context) (trials.Exit, error) {
	f := t.fate()
	args := []string{"--json", "resume", t.run}
	if len(t.log) == 0 {
		args = t.first()
	}
	return t.until(ctx, f, args)
}

// first begins the run.
func (t *trial) first() []string {
	return []string{
		"--json", "agent", filepath.Join(t.dir, "agent.yaml"), task(t.world.moneyAt.URL, t.run), "--id", t.run, "--allow-http", t.world.moneyAt.URL,
	}
}

// fate is what chance wants of a process: killed so long after its start, or at a request to one of the servers.
type fate struct {
	after          time.Duration
	money, thought *trap
}

func (t *trial) fate() (f fate) {
	n := t.rng.IntN(100)
	switch {
	case t.enough() || n < 5:
	case n < 35:
		f.after = 1 + time.Duration(t.rng.Int64N(int64(t.whole)))
	case n < 80:
		f.thought = newTrap(1+t.rng.IntN(3), spot(t.rng.IntN(int(allSpots))))
	default:
		f.money = newTrap(1+t.rng.IntN(3), spot(t.rng.IntN(int(allSpots))))
	}
	return f
}

// briefly is the fate of a process that does something small: killed after no more than a time, one in a few.
func (t *trial) briefly() (f fate) {
	if t.rng.IntN(5) == 0 && !t.enough() {
		f.after = 1 + time.Duration(t.rng.Int64N(int64(40*time.Millisecond)))
	}
	return f
}

// until lets a process run until its fate, waits until what it has sent has arrived, and reads the log.
func (t *trial) until(ctx context.Context, f fate, args []string) (trials.Exit, error) {
	t.report.tell(func(r *Report) { r.Processes++ })
	exit, err := t.toFate(ctx, f, args)
	if err == nil {
		err = t.world.settle(ctx)
	}
	if err == nil {
		err = t.readLog(ctx)
	}
	return exit, err
}

func (t *trial) toFate(ctx context.Context, f fate, args []string) (trials.Exit, error) {
	t.world.money.set(f.money)
	t.world.thought.set(f.thought)
	var sprung chan struct{}
	for _, trap := range []*trap{f.money, f.thought} {
		if trap != nil {
			sprung = trap.sprung
			defer close(trap.dead)
		}
	}
	proc, err := t.wrun.Start(args...)
	if err != nil {
		return trials.Exit{}, err
	}
	return proc.WaitOrKill(ctx, f.after, sprung)
}

// readLog reads the log and holds it against what it was.
func (t *trial) readLog(ctx context.Context) error {
	log, err := readLog(ctx, t.wrun, t.run)
	if err != nil {
		return err
	}
	if n := changed(t.log, log); n > 0 {
		t.report.tell(func(r *Report) { r.Lost += n })
		return fmt.Errorf("%d entries are not what they were", n)
	}
	t.log = log
	return nil
}
