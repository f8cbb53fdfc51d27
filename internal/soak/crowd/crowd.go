package crowd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// Config says how large the crowd is, and for how long it stays.
type Config struct {
	// Wrun is the program, Tool the payments tool, Cache a directory for compiled modules, Dir an empty directory for everything else.
	Wrun, Tool, Cache, Dir string
	// Duration is how long processes are started. What they leave is brought to its end after that.
	Duration time.Duration
	// Processes is how many there are at once; 0 means 8.
	Processes int
	// Seed is what chance is drawn from.
	Seed uint64
	// MaxWait is how long a process may wait for another that is alive; 0 means 5 s, five times what is promised.
	MaxWait time.Duration
	// Progress is told how far it is; nil drops it.
	Progress io.Writer
}

// crowd is one use of the package.
type crowd struct {
	cfg    Config
	wrun   trials.Program
	ledger *ledger.Ledger
	server *trials.Server
	report *Report
	waits  string // the file to which the processes write their waits
	verbs  map[string]bool

	mu   sync.Mutex // guards what follows, and the report
	runs []*run
	tags int
	took map[string]time.Duration // by verb: how long processes last
	bags int                      // backups that were made
}

// run is a run of the crowd, with what was said of it. Its fields are guarded by crowd.mu.
type run struct {
	id      string
	asks    bool
	output  string          // what a process wrote to standard output when it had ended, "" for nobody did
	said    []said          // what was acknowledged
	seen    []string        // the longest log that was shown
	cancel  bool            // somebody tried to cancel it
	removed bool            // by gc
	doubts  map[string]bool // steps of which somebody said what became
}

// said is something that a command acknowledged: the log has one entry with its note.
type said struct{ verb, note string }

// Run lets the crowd loose. The report says what came of it; an error says that it could not be found out.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Processes == 0 {
		cfg.Processes = 8
	}
	if cfg.MaxWait == 0 {
		cfg.MaxWait = 5 * time.Second
	}
	c := &crowd{cfg: cfg, report: &Report{Config: cfg, Exits: map[string]map[int]int{}}, waits: filepath.Join(cfg.Dir, "waits"), took: map[string]time.Duration{}}
	c.wrun = trials.Program{
		Wrun: cfg.Wrun, Journal: filepath.Join(cfg.Dir, "journal.db"), Cache: cfg.Cache, Env: []string{"WRUN_LOCK_WAITS=" + c.waits},
	}
	if err := c.open(ctx); err != nil {
		return c.report, err
	}
	err := c.live(ctx)
	if err == nil {
		err = c.end(ctx)
	}
	err = errors.Join(err, c.server.Close(), c.ledger.Close())
	if err == nil {
		err = c.report.readWaits(c.waits)
	}
	return c.report, err
}

// open makes the journal, the ledger and the plans.
func (c *crowd) open(ctx context.Context) (err error) {
	for name, text := range plans {
		if err := os.WriteFile(filepath.Join(c.cfg.Dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	tool, err := os.ReadFile(c.cfg.Tool)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.cfg.Dir, "payments.wasm"), tool, 0o600); err != nil {
		return err
	}
	help, err := c.wrun.Run(ctx, "help")
	if err != nil {
		return err
	}
	c.verbs = map[string]bool{}
	for line := range strings.Lines(help.Stdout) {
		if word, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), " "); ok && strings.HasPrefix(line, "  ") {
			c.verbs[word] = true
		}
	}
	for _, v := range []string{"backup", "compact", "gc", "verify"} {
		if !c.verbs[v] {
			c.report.Missing = append(c.report.Missing, v)
		}
	}
	if c.ledger, err = ledger.New(ledger.Config{
		File: filepath.Join(c.cfg.Dir, "ledger"), Behaviour: ledger.Behaviour{DelayMS: 30}, // long enough to be killed in
	}); err != nil {
		return err
	}
	if c.server, err = trials.Serve(c.ledger); err != nil {
		return errors.Join(err, c.ledger.Close())
	}
	// The first run makes the journal and compiles the module, alone.
	r := c.newRun(false)
	exit, err := c.wrun.Run(ctx, c.starting(r)...)
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("the first run: exit code %d\n%s", exit.Code, exit.Stderr)
	}
	if err == nil {
		r.output = exit.Stdout
	}
	return err
}

// live keeps as many processes going as there should be.
func (c *crowd) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	until := time.Now().Add(c.cfg.Duration)
	errs := make([]error, c.cfg.Processes)
	var wg sync.WaitGroup
	for i := range c.cfg.Processes {
		rng := rand.New(rand.NewPCG(c.cfg.Seed, uint64(i)))
		wg.Go(func() {
			for time.Now().Before(until) && ctx.Err() == nil {
				if errs[i] = c.act(ctx, rng); errs[i] != nil {
					cancel()
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { defer close(done); wg.Wait() }()
	for {
		select {
		case <-done:
			return errors.Join(append(errs, context.Cause(ctx))...)
		case <-time.After(10 * time.Second):
			c.progress()
		}
	}
}

func (c *crowd) progress() {
	if c.cfg.Progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.cfg.Progress, "%d processes, %d killed, %d runs, %d charges, %d faults\n",
		c.report.Processes, c.report.Kills, len(c.runs), len(c.ledger.Charges()), len(c.report.Faults))
}

func (c *crowd) count(f func(*Report)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.report)
}

func (c *crowd) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Faults = append(c.report.Faults, fmt.Sprintf(format, args...))
}

func (c *crowd) newRun(asks bool) *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &run{id: fmt.Sprintf("run-%05d", len(c.runs)), asks: asks, doubts: map[string]bool{}}
	c.runs = append(c.runs, r)
	return r
}

// some is a run of chance, more likely one of the last.
func (c *crowd) some(rng *rand.Rand) *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.runs)
	if rng.IntN(4) > 0 {
		return c.runs[n-1-rng.IntN(min(n, 3*c.cfg.Processes))]
	}
	return c.runs[rng.IntN(n)]
}

// tagLen is the length of a tag.
const tagLen = len("note-000001-")

// tag is a note that nothing else has.
func (c *crowd) tag() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tags++
	return fmt.Sprintf("note-%06d-", c.tags)
}

// plans are what runs are made of: charges, and one that somebody has to agree to first.
var plans = map[string]string{
	"plain.yaml": planOf(""),
	"asks.yaml":  planOf("  - id: agreed\n    approve: \"Pay ${ .input.run }?\"\n"),
}

const charges = 3

func planOf(first string) string {
	var b strings.Builder
	b.WriteString("name: crowd\ntools: { payments: payments.wasm }\nsteps:\n" + first)
	for i := 1; i <= charges; i++ {
		fmt.Fprintf(&b, "  - id: c%02d\n    tool: payments.charge\n", i)
		fmt.Fprintf(&b, "    with: { ledger: \"${ .input.ledger }\", account: acme, amount_cents: %d, reference: \"${ .input.run }-%02d\" }\n", 100+i, i)
	}
	fmt.Fprintf(&b, "output: { first: \"${ .c01.id }\", last: \"${ .c%02d.id }\" }\n", charges)
	return b.String()
}

// starting are the arguments that start a run.
func (c *crowd) starting(r *run) []string {
	plan := "plain.yaml"
	if r.asks {
		plan = "asks.yaml"
	}
	return []string{
		"--json", "--lock-timeout", "30s", "run", filepath.Join(c.cfg.Dir, plan), "--id", r.id,
		"--input", fmt.Sprintf(`{"ledger":%q,"run":%q}`, c.server.URL, r.id), "--allow-http", c.server.URL,
	}
}
