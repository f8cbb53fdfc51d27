package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// action is what a process of the crowd does.
type action struct {
	verb   string
	weight int
	do     func(c *crowd, ctx context.Context, rng *rand.Rand) error
}

// actions are those of which one is chosen, each as often as its weight says.
var actions = []action{
	{"run", 24, (*crowd).start},
	{"resume", 14, (*crowd).resume},
	{"resume --due", 2, (*crowd).resumeDue},
	{"approve", 9, func(c *crowd, ctx context.Context, rng *rand.Rand) error { return c.answer(ctx, rng, "approve") }},
	{"deny", 2, func(c *crowd, ctx context.Context, rng *rand.Rand) error { return c.answer(ctx, rng, "deny") }},
	{"cancel", 3, (*crowd).cancel},
	{"resolve", 12, (*crowd).settle},
	{"log", 10, (*crowd).readLog},
	{"show", 8, func(c *crowd, ctx context.Context, rng *rand.Rand) error {
		return c.look(ctx, rng, "show", c.some(rng).id)
	}},
	{"ls", 5, func(c *crowd, ctx context.Context, rng *rand.Rand) error { return c.look(ctx, rng, "ls") }},
	{"inbox", 3, func(c *crowd, ctx context.Context, rng *rand.Rand) error { return c.look(ctx, rng, "inbox") }},
	{"backup", 2, (*crowd).backup},
	{"compact", 1, func(c *crowd, ctx context.Context, rng *rand.Rand) error { return c.look(ctx, rng, "compact") }},
	{"gc", 1, (*crowd).collect},
	{"verify", 1, func(c *crowd, ctx context.Context, rng *rand.Rand) error { return c.look(ctx, rng, "verify") }},
}

// act does one thing.
func (c *crowd) act(ctx context.Context, rng *rand.Rand) error {
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	n := rng.IntN(sum)
	for _, a := range actions {
		if n -= a.weight; n >= 0 {
			continue
		}
		if verb, _, _ := strings.Cut(a.verb, " "); !c.verbs[verb] {
			return nil
		}
		return a.do(c, ctx, rng)
	}
	return nil
}

// process starts wrun with these arguments and waits for it, or kills it at a moment of chance.
func (c *crowd) process(ctx context.Context, rng *rand.Rand, args ...string) (trials.Exit, error) {
	after := time.Duration(0)
	if rng.IntN(5) < 2 {
		after = 1 + time.Duration(rng.Int64N(int64(c.lasts(args[0], 0))))
	}
	p, err := c.wrun.Start(append([]string{"--json", "--lock-timeout", "30s"}, args...)...)
	if err != nil {
		return trials.Exit{}, err
	}
	exit, err := p.WaitOrKill(ctx, after, nil)
	if err != nil {
		return exit, err
	}
	c.judge(args, exit)
	if !exit.Killed() {
		c.lasts(args[0], exit.Took)
	}
	return exit, nil
}

// lasts is how long a process with this verb may last, by those that have ended by themselves: the instants at which processes are
// killed are spread over that, on a fast machine and on a slow one. took adds one, unless it is 0.
func (c *crowd) lasts(verb string, took time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.took[verb] == 0 {
		c.took[verb] = 200 * time.Millisecond
	}
	if took > 0 {
		c.took[verb] += (took - c.took[verb]) / 8
	}
	return max(c.took[verb]*5/4, time.Millisecond)
}

// judge counts how a process ended, and says where no process may end so.
func (c *crowd) judge(args []string, exit trials.Exit) {
	c.mu.Lock()
	c.report.Processes++
	if exit.Killed() {
		c.report.Kills++
	}
	if c.report.Exits[args[0]] == nil {
		c.report.Exits[args[0]] = map[int]int{}
	}
	c.report.Exits[args[0]][exit.Code]++
	c.mu.Unlock()
	for _, word := range []string{"panic:", "goroutine ", "fatal error:", "W0304", "W0305", "W0308", "W0417", "W0501"} {
		if strings.Contains(exit.Stderr, word) {
			c.fault("wrun %s: exit code %d\n%s", strings.Join(args, " "), exit.Code, exit.Stderr)
			return
		}
	}
}

func (c *crowd) start(ctx context.Context, rng *rand.Rand) error {
	r := c.newRun(rng.IntN(3) == 0)
	exit, err := c.process(ctx, rng, c.starting(r)[3:]...)
	c.ended(r, exit)
	return err
}

func (c *crowd) resume(ctx context.Context, rng *rand.Rand) error {
	r := c.some(rng)
	exit, err := c.process(ctx, rng, "resume", r.id)
	c.ended(r, exit)
	return err
}

// ended holds what a run returned against what it returned before.
func (c *crowd) ended(r *run, exit trials.Exit) {
	if exit.Code != 0 {
		return
	}
	c.mu.Lock()
	before := r.output
	if before == "" {
		r.output = exit.Stdout
	}
	c.mu.Unlock()
	if before != "" && before != exit.Stdout {
		c.fault("run %s returned %q and later %q", r.id, before, exit.Stdout)
	}
}

func (c *crowd) resumeDue(ctx context.Context, rng *rand.Rand) error {
	_, err := c.process(ctx, rng, "resume", "--due")
	return err
}

func (c *crowd) look(ctx context.Context, rng *rand.Rand, args ...string) error {
	_, err := c.process(ctx, rng, args...)
	return err
}

// collect removes what no run names, and half of the time runs that have ended some seconds ago as well.
func (c *crowd) collect(ctx context.Context, rng *rand.Rand) error {
	if rng.IntN(2) == 0 {
		return c.look(ctx, rng, "gc")
	}
	return c.look(ctx, rng, "gc", "--keep", "done=5s", "--keep", "failed=5s", "--keep", "cancelled=5s")
}

func (c *crowd) backup(ctx context.Context, rng *rand.Rand) error {
	c.mu.Lock()
	c.bags++
	name := fmt.Sprintf("backup-%05d", c.bags)
	c.mu.Unlock()
	path := filepath.Join(c.cfg.Dir, name)
	_, err := c.process(ctx, rng, "backup", path)
	removeBackup(path)
	return err
}

// say runs a command that leaves an entry with a note, and remembers that it said so.
func (c *crowd) say(ctx context.Context, rng *rand.Rand, r *run, args ...string) (trials.Exit, error) {
	note := c.tag()
	exit, err := c.process(ctx, rng, append(args, "--note", note)...)
	if err == nil && exit.Code == 0 {
		c.mu.Lock()
		r.said = append(r.said, said{args[0], note})
		c.mu.Unlock()
	}
	return exit, err
}

func (c *crowd) answer(ctx context.Context, rng *rand.Rand, verb string) error {
	r := c.some(rng)
	if !r.asks {
		return nil
	}
	_, err := c.say(ctx, rng, r, verb, r.id, "agreed")
	return err
}

func (c *crowd) cancel(ctx context.Context, rng *rand.Rand) error {
	r := c.some(rng)
	c.mu.Lock()
	r.cancel = true
	c.mu.Unlock()
	_, err := c.say(ctx, rng, r, "cancel", r.id)
	return err
}

// settle says what became of an effect in doubt, as far as the ledger can tell: what it has did happen, and what it does not have
// some seconds after the intent did not, since whoever sent it has died by then, or the run would not be let go of.
func (c *crowd) settle(ctx context.Context, rng *rand.Rand) error {
	r := c.some(rng)
	log, err := c.log(ctx, rng, r)
	if err != nil || log == nil {
		return err
	}
	for _, d := range doubts(log) {
		args := c.verdict(r, d, time.Now())
		if args == nil {
			continue
		}
		if _, err := c.say(ctx, rng, r, append([]string{"resolve", r.id, d.Step}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// arrived is how long after its intent a request of a dead process has reached the ledger, in the same machine.
const arrived = 5 * time.Second

// verdict are the arguments that say what became of an effect; none where that cannot be said yet.
func (c *crowd) verdict(r *run, d entry, now time.Time) []string {
	ref := r.id + "-" + strings.TrimPrefix(strings.Split(d.Step, "/")[0], "c")
	ref, _, _ = strings.Cut(ref, "~")
	for _, charge := range c.ledger.Charges() {
		if charge.Reference == ref {
			reply, err := json.Marshal(map[string]any{"status": 201, "body": charge})
			if err != nil {
				return nil
			}
			return []string{"--happened", string(reply)}
		}
	}
	if now.Sub(d.Time) < arrived {
		return nil
	}
	return []string{"--did-not-happen", "--now"}
}

func (c *crowd) readLog(ctx context.Context, rng *rand.Rand) error {
	_, err := c.log(ctx, rng, c.some(rng))
	return err
}

// log reads a run's log, and holds it against what was read before: a log only grows.
func (c *crowd) log(ctx context.Context, rng *rand.Rand, r *run) ([]entry, error) {
	exit, err := c.process(ctx, rng, "log", r.id)
	if err != nil || exit.Code != 0 {
		return nil, err
	}
	return c.grown(r, exit.Stdout)
}

// grown holds a log that was shown against the longest that was shown before.
func (c *crowd) grown(r *run, text string) ([]entry, error) {
	lines := slices.Collect(strings.Lines(text))
	c.mu.Lock()
	before := r.seen
	if len(lines) > len(before) {
		r.seen = lines
	}
	c.mu.Unlock()
	for i := range min(len(lines), len(before)) {
		if lines[i] != before[i] {
			c.fault("run %s: entry %d was %s and is %s", r.id, i, before[i], lines[i])
			break
		}
	}
	return parse(lines)
}
