package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The exit codes of wrun that a trial may see.
const (
	exitFailed    = 1
	exitSuspended = 3
	exitUncertain = 4
	exitMissing   = 10
	exitBusy      = 11
)

// maxRounds is how many processes a trial may take. More means that it does not end.
const maxRounds = 60

// trial is one run of the plan, from its first process to its end.
type trial struct {
	provider *provider
	wrun     Program
	dir      string // where plan and module lie
	fresh    string // the directory of the trial's own journal, "" where it shares one
	world    *world
	rng      *rand.Rand
	run      string
	whole    time.Duration // how long a run takes that nobody disturbs
	report   *Report
	enough   func() bool     // nobody needs to be killed any more
	settled  map[string]bool // the attempts that were resolved

	log    []entry // as it was read last
	output string  // what the run returned
	wait   bool    // the next process waits where the run has to
	failed int     // the charge with which the run failed, -1 for none
	detail string  // how it failed
}

// play drives the run to its end, through as many deaths as chance wants.
func (t *trial) play(ctx context.Context) error {
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
	if len(inDoubt(t.log)) > 0 {
		switch n := t.rng.IntN(4); {
		case t.provider.settle > 0 && n == 0:
			return false, t.reconcile(ctx)
		case t.provider.settle == 0 && n < 2:
			return false, t.resolve(ctx) // what a person may do at once, without asking wrun first
		}
	}
	before := t.log
	exit, err := t.drive(ctx)
	if err != nil {
		return false, err
	}
	if err := t.readLog(ctx); err != nil {
		return false, err
	}
	switch {
	case exit.Killed():
		t.report.landed(momentOf(before, t.log))
		return false, nil
	case exit.Code == 0:
		t.output = exit.Stdout
		return true, nil
	case exit.Code == exitUncertain && t.provider.alone:
		return false, fmt.Errorf("a person is asked, and nothing here needs one\n%s", exit.Stderr)
	case exit.Code == exitUncertain:
		if err := t.reportedRightly(ctx); err != nil {
			return false, err
		}
		return false, t.resolve(ctx)
	case exit.Code == exitSuspended && t.provider.settle > 0:
		return false, t.notYet(ctx)
	case exit.Code == exitSuspended:
		return false, Pause(ctx, 250*time.Millisecond) // what it waits for comes by itself
	case exit.Code == exitFailed && t.provider.refuses && has(t.log, "finished"):
		t.output = exit.Stdout
		return true, t.readFailure()
	case busy(exit):
		t.report.tell(func(r *Report) { r.Busy++ })
		return false, nil
	}
	return false, fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr)
}

// busy says whether a process gave up because others had the journal's file for too long, which a loaded machine can
// bring about. A run that is said to be driven, with nobody left to drive it, is something else.
func busy(e Exit) bool { return e.Code == exitBusy && strings.Contains(e.Stderr, "W0304") }

// fate is what chance wants of a process.
type fate struct {
	after time.Duration // killed so long after its start
	trap  *trap         // killed, or left without a reply, at a charge
}

func (t *trial) fate() fate {
	left := len(t.provider.planCharges(t.run)) - countEffects(t.log, "result")
	if left == 0 {
		left = 1
	}
	n := t.rng.IntN(100)
	if len(t.log) > 0 && n >= 90 || t.enough() {
		return fate{}
	}
	switch {
	case t.provider.settle > 0 && len(inDoubt(t.log)) > 0 && n < 40:
		return fate{trap: t.lookupTrap()}
	case n < 5, n < 60 && t.fresh != "" && len(t.log) == 0: // while it starts, and makes the journal
		return fate{after: 1 + time.Duration(t.rng.Int64N(int64(t.whole/5)))}
	case n < 40:
		whole := t.whole/5 + t.whole*time.Duration(left)/time.Duration(t.provider.calls)
		return fate{after: 1 + time.Duration(t.rng.Int64N(int64(whole)))}
	}
	spots := t.provider.spots
	f := fate{trap: &trap{
		at: 1 + t.rng.IntN(min(left, 12)), spot: spots[t.rng.IntN(len(spots))],
		sprung: make(chan struct{}), dead: make(chan struct{}),
	}}
	if late := t.provider.late; late > 0 {
		f.trap.late = late/8 + time.Duration(t.rng.Int64N(int64(late*7/8)))
	}
	return f
}

func countEffects(log []entry, kind string) (n int) {
	for _, e := range log {
		if e.effect() && e.Kind == kind {
			n++
		}
	}
	return n
}

// drive starts a process that goes on with the run, and returns how it ended and when all that it did has arrived.
func (t *trial) drive(ctx context.Context) (Exit, error) {
	f := t.fate()
	t.world.set(f.trap)
	args := []string{"--json", "resume", t.run}
	if t.wait {
		args = append(args, "--wait")
	}
	if len(t.log) == 0 {
		args = []string{"--json", "run", filepath.Join(t.dir, "plan.yaml"), "--id", t.run, "--allow-http", t.world.url, "--input", planInput(t.world.url, t.run)}
	}
	t.report.tell(func(r *Report) {
		r.Processes++
		if len(t.log) > 0 {
			r.Resumes++
		}
	})
	exit, err := t.until(ctx, f, args)
	if err != nil {
		return exit, err
	}
	if f.trap != nil && !f.trap.spot.kills() && exit.Code == exitUncertain && len(inDoubt(t.log)) == 0 {
		t.report.tell(func(r *Report) { r.Dropped++ })
	}
	if t.provider.hurries {
		return exit, nil
	}
	return exit, t.world.settle(ctx)
}

// until lets a process run until its fate.
func (t *trial) until(ctx context.Context, f fate, args []string) (Exit, error) {
	var sprung chan struct{}
	if f.trap != nil {
		sprung = f.trap.sprung
		defer close(f.trap.dead)
	}
	proc, err := t.wrun.Start(args...)
	if err != nil {
		return Exit{}, err
	}
	return proc.WaitOrKill(ctx, f.after, sprung)
}

// readLog reads the log and holds it against what it was.
func (t *trial) readLog(ctx context.Context) error {
	log, err := t.wrun.readLog(ctx, t.run)
	if err != nil {
		return err
	}
	if lost := changed(t.log, log); len(lost) > 0 {
		t.report.tell(func(r *Report) { r.Lost += len(lost) })
		return fmt.Errorf("%d entries are not what they were, the first was %s", len(lost), lost[0].line)
	}
	t.log = log
	return nil
}

// reportedRightly holds what a process called uncertain against the log: one intent without a result.
func (t *trial) reportedRightly(ctx context.Context) error {
	exit, err := t.wrun.Run(ctx, "--json", "show", t.run)
	if err != nil {
		return err
	}
	var shown struct {
		Status  string
		InDoubt []string `json:"in_doubt"`
	}
	if err := json.Unmarshal([]byte(exit.Stdout), &shown); err != nil {
		return fmt.Errorf("show: %w, exit code %d\n%s", err, exit.Code, exit.Stderr)
	}
	doubts := inDoubt(t.log)
	if len(doubts) != 1 || shown.Status != "uncertain" || !slices.Equal(shown.InDoubt, []string{doubts[0].Step}) {
		return fmt.Errorf("wrun shows %s as %q, and the log has %d intents of effects without a result", shown.InDoubt, shown.Status, len(doubts))
	}
	return nil
}
