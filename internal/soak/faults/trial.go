package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// The exit codes that trials tell apart.
const (
	exitOK        = 0
	exitFailed    = 1
	exitWaits     = 3
	exitUncertain = 4
	exitMissing   = 10
	exitBusy      = 11
	exitDamaged   = 12
)

// patience bounds one trial.
const patience = 2 * time.Minute

// said is what one process of a trial did.
type said struct {
	verb   string
	exit   trials.Exit
	doubts []journal.Step // what was in doubt before it, by our own look at the journal
}

// trial is one run of a plan, from its first process to its end.
type trial struct {
	*bench
	kind   Kind
	plan   string   // the plan's name
	prefix []string // what wrun is started under, such as strace
	more   []string // more of its environment, such as what is to fail

	left
}

func (b *bench) trial(kind Kind, journal, plan, run string) *trial {
	t := &trial{bench: b, kind: kind, plan: plan}
	t.left = left{journal: journal, run: run, classes: plans[plan]}
	t.before = t.temporary()
	return t
}

// begin are the arguments that begin the run.
func (t *trial) begin() []string {
	return []string{
		"--json", "run", t.bench.plan(t.plan), "--id", t.run, "--input", fmt.Sprintf(`{"run":%q}`, t.run), "--allow-http", t.oracle.url,
		"--allow-artifacts", "--secret", canaryName + "=env:WRUN_CANARY@" + t.oracle.url,
	}
}

// next are the arguments that go on with the run, or begin it.
func (t *trial) next() []string {
	if len(t.log) == 0 {
		return t.begin()
	}
	return []string{"--json", "-v", "resume", t.run}
}

// start starts wrun.
func (t *trial) start(args ...string) (*trials.Process, error) {
	p := t.program(t.journal)
	p.Prefix = t.prefix
	p.Env = slices.Concat(p.Env, t.more)
	return p.Start(args...)
}

// do lets wrun run to its end, or until it is killed, and looks at what it left.
func (t *trial) do(ctx context.Context, after time.Duration, when <-chan struct{}, args ...string) (trials.Exit, error) {
	p, err := t.start(args...)
	if err != nil {
		return trials.Exit{}, err
	}
	exit, err := p.WaitOrKill(ctx, after, when)
	if err != nil {
		return exit, err
	}
	t.note(args, exit)
	return exit, t.look(ctx)
}

// note keeps what a process said.
func (t *trial) note(args []string, exit trials.Exit) {
	t.exits = append(t.exits, said{verb: verbOf(args), exit: exit, doubts: t.doubts})
	if exit.Killed() {
		t.killed++
	}
}

func verbOf(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

// look reads the log, and what is in doubt by the log alone.
func (t *trial) look(ctx context.Context) error {
	before := t.log
	t.log, t.doubts = nil, nil
	j, err := boltdb.Open(ctx, t.journal, boltdb.Options{BusyTimeout: 20 * time.Second})
	if errors.Is(err, journal.ErrNoJournal) && len(before) == 0 {
		return nil
	}
	if err != nil {
		t.refused = err
		return fmt.Errorf("look at the journal: %w", err)
	}
	defer j.Close()
	for s, err := range j.List(ctx, journal.Query{Run: t.run}) {
		if err != nil {
			return err
		}
		t.doubts = s.InDoubt()
		for e, err := range j.Read(ctx, t.run, 0) {
			if err != nil {
				return err
			}
			t.log = append(t.log, e)
		}
	}
	for i, e := range before {
		if i >= len(t.log) || t.log[i].Hash != e.Hash {
			t.gone = append(t.gone, fmt.Sprintf("entry %d, %s of %s", i, e.Kind, e.Step))
		}
	}
	return nil
}

// maxProcesses is how many processes a run may take once no fault disturbs it.
const maxProcesses = 20

// finish drives the run to its end without any fault, settles what is in doubt as the oracle knows it, and resumes the finished
// run twice more. What it has left is then ready to be checked.
func (t *trial) finish(ctx context.Context) error {
	for range maxProcesses {
		exit, err := t.do(ctx, 0, nil, t.next()...)
		if err != nil {
			return err
		}
		switch exit.Code {
		case exitOK, exitFailed:
			if t.finished() {
				return t.end(ctx)
			}
			return fmt.Errorf("exit code %d, and the log has no end\n%s", exit.Code, exit.Stderr)
		case exitUncertain:
			if err := t.settle(ctx); err != nil {
				return err
			}
		case exitBusy, exitMissing:
		case exitWaits:
			if err := trials.Pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		default:
			return fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr)
		}
	}
	last := t.exits[len(t.exits)-1]
	return fmt.Errorf("the run has not ended after %d processes; the last was %s, exit code %d\n%s", maxProcesses, last.verb, last.exit.Code, last.exit.Stderr)
}

func (t *trial) finished() bool {
	return len(t.log) > 0 && t.log[len(t.log)-1].Kind == journal.Finished
}

// settle says of each effect that is in doubt what the oracle knows of it.
func (t *trial) settle(ctx context.Context) error {
	requests, err := t.oracle.effects(ctx, t.run)
	if err != nil {
		return err
	}
	if len(t.doubts) == 0 {
		return errors.New("wrun says that something is in doubt, and by the log nothing is")
	}
	for _, step := range slices.Clone(t.doubts) {
		args := []string{"--json", "resolve", t.run, string(step), "--did-not-happen", "--now", "--note", "the oracle does not have it"}
		reference := t.reference(step)
		if slices.ContainsFunc(requests, func(q ledger.Request) bool { return q.Reference == reference && q.Status == 201 }) {
			reply, err := t.reply(ctx, reference)
			if err != nil {
				return err
			}
			args = []string{"--json", "resolve", t.run, string(step), "--happened", reply, "--note", "the oracle has it"}
		}
		exit, err := t.do(ctx, 0, nil, args...)
		if err != nil {
			return err
		}
		if exit.Code != exitOK && exit.Code != exitBusy {
			return fmt.Errorf("resolve %s: exit code %d\n%s", step, exit.Code, exit.Stderr)
		}
	}
	return nil
}

// reply is what the oracle replied to a charge.
func (t *trial) reply(ctx context.Context, reference string) (string, error) {
	var charges []ledger.Charge
	if err := t.oracle.ask(ctx, "GET", "/charges?reference="+reference, "", &charges); err != nil {
		return "", err
	}
	if len(charges) == 0 {
		return "", fmt.Errorf("the oracle accepted %s and does not have it", reference)
	}
	reply, err := json.Marshal(map[string]any{"status": 201, "body": charges[0]})
	return string(reply), err
}

// end resumes the finished run twice more and gathers what is needed to judge all of it.
func (t *trial) end(ctx context.Context) (err error) {
	if t.requests, err = t.oracle.effects(ctx, t.run); err != nil {
		return err
	}
	t.asked, t.length, t.last = len(t.requests), len(t.log), t.exits[len(t.exits)-1].exit
	for range 2 {
		if _, err := t.do(ctx, 0, nil, t.next()...); err != nil {
			return err
		}
	}
	t.ended = true
	if t.requests, err = t.oracle.effects(ctx, t.run); err != nil {
		return err
	}
	t.faults = trials.VerifyJournal(ctx, t.journal)
	return nil
}
