package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// entry is a line of "wrun log --json".
type entry struct {
	Seq                                    int
	Time                                   time.Time
	Kind, Step, Class, Outcome, Note, Hash string
}

func parse(lines []string) ([]entry, error) {
	log := make([]entry, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &log[i]); err != nil {
			return nil, fmt.Errorf("%w in %s", err, line)
		}
	}
	return log, nil
}

// doubts are the intents of effects that must not be repeated which have neither a result nor a void, nor were settled late.
func doubts(log []entry) (open []entry) {
	closed := map[string]bool{}
	for _, e := range log {
		if e.Kind == "result" || e.Kind == "void" || e.Kind == "late" {
			closed[e.Step] = true
		}
	}
	for _, e := range log {
		if e.Kind == "intent" && e.Class == "once" && !closed[e.Step] {
			open = append(open, e)
		}
	}
	return open
}

// The exit codes that the end knows.
const (
	exitWaiting   = 3
	exitUncertain = 4
	exitDenied    = 5
	exitMissing   = 10
	exitCancelled = 13
)

// end brings every run to its end, alone, and holds them against the ledger.
func (c *crowd) end(ctx context.Context) error {
	if err := c.server.Settle(ctx); err != nil {
		return err
	}
	if err := c.findRemoved(ctx); err != nil {
		return err
	}
	if err := c.each(func(r *run) error { return c.finish(ctx, r) }); err != nil {
		return err
	}
	logs, err := c.logs(ctx)
	if err != nil {
		return err
	}
	charged := map[string]int{}
	for _, charge := range c.ledger.Charges() {
		charged[charge.Reference]++
	}
	for _, r := range c.runs {
		if err := c.account(r, logs[r.id], charged); err != nil {
			return fmt.Errorf("run %s: %w", r.id, err)
		}
	}
	for ref, n := range charged {
		c.fault("%d charges for %s, which no run asked for", n, ref)
	}
	c.report.Runs, c.report.Charges = len(c.runs), len(c.ledger.Charges())
	return c.verify(ctx)
}

// findRemoved marks the runs that gc has removed.
func (c *crowd) findRemoved(ctx context.Context) error {
	if !c.verbs["gc"] {
		return nil
	}
	exit, err := c.quietly(ctx, "ls", "--removed")
	if err != nil || exit.Code != 0 {
		return errors.Join(err, fmt.Errorf("ls --removed: exit code %d\n%s", exit.Code, exit.Stderr))
	}
	removed := map[string]bool{}
	for line := range strings.Lines(exit.Stdout) {
		var l struct{ Run string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return fmt.Errorf("ls --removed: %w in %s", err, line)
		}
		removed[l.Run] = true
	}
	for _, r := range c.runs {
		r.removed = removed[r.id]
	}
	c.report.Removed = len(removed)
	return nil
}

// each calls f for every run, for some at once.
func (c *crowd) each(f func(*run) error) error {
	runs := make(chan *run)
	errs := make([]error, c.cfg.Processes)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for r := range runs {
				if err := f(r); err != nil {
					errs[i] = errors.Join(errs[i], fmt.Errorf("run %s: %w", r.id, err))
				}
			}
		})
	}
	for _, r := range c.runs {
		runs <- r
	}
	close(runs)
	wg.Wait()
	return errors.Join(errs...)
}

// logs are all logs as the journal has them, each entry as much as is held against something.
func (c *crowd) logs(ctx context.Context) (map[string][]entry, error) {
	j, err := boltdb.Open(ctx, c.wrun.Journal, boltdb.Options{})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	logs := map[string][]entry{}
	for s, err := range j.List(ctx, journal.Query{}) {
		if err != nil {
			return nil, err
		}
		for e, err := range j.Read(ctx, s.Run, 0) {
			if err != nil {
				return nil, err
			}
			class := ""
			if e.OnCut == journal.Doubt || e.Kind != journal.Intent && isOnce(logs[s.Run], string(e.Step)) {
				class = "once"
			}
			logs[s.Run] = append(logs[s.Run], entry{
				Seq: int(e.Seq), Kind: e.Kind.String(), Step: string(e.Step), Class: class, Outcome: outcome(e), Note: e.Note, Hash: e.Hash.String(),
			})
		}
	}
	return logs, nil
}

// isOnce says whether a log announces the step as one that must not be repeated.
func isOnce(log []entry, step string) bool {
	return step != "" && slices.ContainsFunc(log, func(e entry) bool { return e.Step == step && e.Kind == "intent" && e.Class == "once" })
}

func outcome(e journal.Entry) string {
	if e.Outcome == 0 {
		return ""
	}
	return e.Outcome.String()
}

// quietly runs wrun and kills nobody.
func (c *crowd) quietly(ctx context.Context, args ...string) (trials.Exit, error) {
	exit, err := c.wrun.Run(ctx, append([]string{"--json"}, args...)...)
	if err == nil {
		c.judge(args, exit)
	}
	return exit, err
}

// finish drives a run until it is closed, agreeing to what it asks and settling what is in doubt.
func (c *crowd) finish(ctx context.Context, r *run) error {
	if r.removed {
		return nil
	}
	if r.output != "" && !strings.HasSuffix(r.id, "0") { // of those that have ended one in ten is asked what it returned
		return nil
	}
	for range 10 {
		exit, err := c.quietly(ctx, c.resuming(r)...)
		if err != nil {
			return err
		}
		switch exit.Code {
		case 0:
			c.ended(r, exit)
			return nil
		case exitDenied, exitCancelled:
			return nil
		case exitMissing:
			if len(r.said)+len(r.seen) > 0 || r.output != "" {
				c.fault("run %s is gone, after something was said of it", r.id)
			}
			c.count(func(rep *Report) { rep.Unborn++ })
			return nil
		case exitWaiting:
			exit, err = c.quietly(ctx, "approve", r.id, "agreed")
		case exitUncertain:
			err = c.settleAll(ctx, r)
			exit.Code = 0
		default:
			return fmt.Errorf("resume: exit code %d\n%s", exit.Code, exit.Stderr)
		}
		if err != nil || exit.Code != 0 {
			return errors.Join(err, fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr))
		}
	}
	return errors.New("it does not come to an end")
}

func (c *crowd) resuming(r *run) []string { return []string{"resume", r.id} }

// settleAll says what became of every effect in doubt. Nothing is on its way any more.
func (c *crowd) settleAll(ctx context.Context, r *run) error {
	exit, err := c.quietly(ctx, "log", r.id)
	if err != nil || exit.Code != 0 {
		return errors.Join(err, fmt.Errorf("log: exit code %d\n%s", exit.Code, exit.Stderr))
	}
	log, err := c.grown(r, exit.Stdout)
	if err != nil {
		return err
	}
	for _, d := range doubts(log) {
		c.count(func(rep *Report) { rep.Uncertain++ })
		args := append([]string{"resolve", r.id, d.Step}, c.verdict(r, d, d.Time.Add(2*arrived))...)
		if exit, err := c.quietly(ctx, args...); err != nil || exit.Code != 0 {
			return errors.Join(err, fmt.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), exit.Code, exit.Stderr))
		}
	}
	return nil
}

// account holds a run against the ledger, and against what was said of it; what it charged is taken out of charged.
func (c *crowd) account(r *run, log []entry, charged map[string]int) error {
	seen, err := parse(r.seen)
	if err != nil {
		return err
	}
	for i, e := range seen {
		if !r.removed && (i >= len(log) || log[i].Hash != e.Hash) {
			c.fault("run %s: entry %d was shown, and is not there any more as it was", r.id, i)
			break
		}
	}
	notes, steps, finished := map[string]int{}, map[string]string{}, ""
	for i, e := range log {
		if e.Seq != i {
			c.fault("run %s: entry %d has the number %d", r.id, i, e.Seq)
		}
		if len(e.Note) >= tagLen { // the program may say more behind it
			notes[e.Note[:tagLen]]++
		}
		if e.Kind == "finished" {
			finished = e.Outcome
		}
		if e.Class == "once" {
			ref := r.id + "-" + strings.TrimPrefix(strings.FieldsFunc(e.Step, func(r rune) bool { return r == '/' || r == '~' })[0], "c")
			switch e.Kind {
			case "intent":
				steps[ref] = "in doubt"
			case "result":
				steps[ref] = e.Outcome
			case "void":
				steps[ref] = ""
			}
		}
	}
	for _, s := range r.said {
		if !r.removed && notes[s.note] != 1 {
			c.fault("run %s: %q was acknowledged (%s), and is in the log %d times", r.id, s.note, s.verb, notes[s.note])
		}
	}
	if r.output != "" && !r.removed && finished != "ok" {
		c.fault("run %s returned %s, and its log ends as %q", r.id, strings.TrimSpace(r.output), finished)
	}
	for i := 1; i <= charges; i++ {
		ref := fmt.Sprintf("%s-%02d", r.id, i)
		n, how := charged[ref], steps[ref]
		delete(charged, ref)
		switch {
		case n > 1:
			c.fault("run %s charged %s %d times", r.id, ref, n)
		case r.removed && r.output != "" && n == 0:
			c.fault("run %s was removed, returned %s, and did not charge %s", r.id, strings.TrimSpace(r.output), ref)
		case r.removed:
		case n == 1 && how == "in doubt" && finished == "cancelled":
			c.report.Named++
		case n == 1 && how != "ok":
			c.fault("run %s charged %s, and its log has it as %q", r.id, ref, how)
		case n == 0 && (how == "ok" || finished == "ok"):
			c.fault("run %s did not charge %s, its log has it as %q and ends as %q", r.id, ref, how, finished)
		}
	}
	return nil
}

// verify reads all of the journal, with the program where it can and in any case by itself.
func (c *crowd) verify(ctx context.Context) error {
	if c.verbs["verify"] {
		exit, err := c.quietly(ctx, "verify")
		if err != nil {
			return err
		}
		if exit.Code != 0 {
			c.fault("wrun verify: exit code %d\n%s%s", exit.Code, exit.Stdout, exit.Stderr)
		}
	}
	j, err := boltdb.Open(ctx, c.wrun.Journal, boltdb.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	for err := range journal.Verify(ctx, j) {
		c.fault("the journal: %v", err)
	}
	return nil
}

// removeBackup removes a backup, and what a killed one left.
func removeBackup(path string) {
	files, _ := filepath.Glob(path + "*")
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"*"))
	for _, f := range append(files, hidden...) {
		_ = os.RemoveAll(f)
	}
}
