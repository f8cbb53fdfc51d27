package big

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// Config says what to do. All but Progress are mandatory.
type Config struct {
	// Entries is how many entries the journal has in the end.
	Entries int
	// Wrun is the program, Tool a module with the tool upper, Dir an empty directory.
	Wrun, Tool, Dir string
	// Progress is told how far it is; nil for nobody.
	Progress io.Writer
}

// shares are the sizes at which something is measured, as parts of the whole.
var shares = []float64{0.0001, 0.01, 0.1, 1}

// tries is how often each command is measured at each size.
const tries = 5

// Run makes the journal and measures. The report says what came of it as far as it came.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	b := &big{Config: cfg, report: new(Report), program: trials.Program{
		Wrun: cfg.Wrun, Journal: filepath.Join(cfg.Dir, "journal.db"), Cache: filepath.Join(cfg.Dir, "cache"),
	}}
	tool, err := os.ReadFile(cfg.Tool)
	if err != nil {
		return b.report, err
	}
	b.plan = filepath.Join(cfg.Dir, "probe.yaml")
	err = errors.Join(os.WriteFile(b.plan, []byte(probe()), 0o600), os.WriteFile(filepath.Join(cfg.Dir, "text.wasm"), tool, 0o600))
	if err != nil {
		return b.report, err
	}
	for _, share := range shares {
		if err := b.grow(ctx, int(share*float64(cfg.Entries))); err != nil {
			return b.report, err
		}
		if err := b.measure(ctx); err != nil {
			return b.report, err
		}
	}
	return b.report, b.copies(ctx)
}

type big struct {
	Config
	program trials.Program
	plan    string
	entries int // in the journal, without those of the probes
	runs    int
	probes  int
	report  *Report
}

func (b *big) say(format string, args ...any) {
	if b.Progress != nil {
		fmt.Fprintf(b.Progress, format+"\n", args...)
	}
}

// probe is a plan of some steps that waits for a person in the middle.
func probe() string {
	var s strings.Builder
	s.WriteString("tools: {text: ./text.wasm}\nsteps:\n")
	for i := range 20 {
		if i == 10 {
			s.WriteString("  - {id: ask, approve: enough}\n")
		}
		fmt.Fprintf(&s, "  - {id: s%d, tool: text.upper, with: {text: step %d}}\n", i, i)
	}
	return s.String()
}

// measure measures what one run costs in the journal as it is.
func (b *big) measure(ctx context.Context) error {
	size := Size{Entries: b.entries, Runs: b.runs}
	info, err := os.Stat(b.program.Journal)
	if err != nil {
		return err
	}
	size.Bytes = info.Size()
	took := map[string][]time.Duration{}
	for range tries {
		b.probes++
		run := fmt.Sprintf("probe-%d", b.probes)
		for _, c := range []struct {
			name string
			exit int
			args []string
		}{
			{"run", 3, []string{"run", b.plan, "--id", run}},
			{"ls RUN", 0, []string{"ls", run}},
			{"ls --unfinished", 0, []string{"ls", "--unfinished"}},
			{"inbox", 0, []string{"inbox"}},
			{"show RUN", 0, []string{"show", run}},
			{"log RUN", 0, []string{"log", run}},
			{"approve RUN", 0, []string{"approve", run, "ask"}},
			{"resume RUN", 0, []string{"resume", run}},
		} {
			exit, err := b.program.Run(ctx, c.args...)
			if err == nil && exit.Code != c.exit {
				err = fmt.Errorf("exit code %d\n%s", exit.Code, exit.Stderr)
			}
			if err != nil {
				return fmt.Errorf("%s with %d entries: %w", c.name, b.entries, err)
			}
			if !slices.Contains(b.report.Commands, c.name) {
				b.report.Commands = append(b.report.Commands, c.name)
			}
			took[c.name] = append(took[c.name], exit.Took)
		}
	}
	size.Took = map[string]time.Duration{}
	for name, t := range took {
		slices.Sort(t)
		size.Took[name] = t[len(t)/2]
	}
	b.report.Sizes = append(b.report.Sizes, size)
	b.say("%d entries, %d MB: resume RUN %v", size.Entries, size.Bytes>>20, size.Took["resume RUN"])
	return nil
}

// copies makes a backup, restores it elsewhere, and compares what is there.
func (b *big) copies(ctx context.Context) error {
	bundle := filepath.Join(b.Dir, "backup")
	b.say("making a backup")
	backup, err := b.watched(ctx, b.program, "backup", bundle)
	if err != nil {
		return err
	}
	b.report.Backup = backup
	if info, err := os.Stat(bundle); err == nil {
		b.report.BundleBytes = info.Size()
	}
	elsewhere := b.program
	elsewhere.Journal = filepath.Join(b.Dir, "elsewhere", "journal.db")
	b.say("restoring it")
	if b.report.Restore, err = b.watched(ctx, elsewhere, "restore", bundle); err != nil {
		return err
	}
	b.say("compacting")
	if b.report.Compact, err = b.watched(ctx, b.program, "compact"); err != nil {
		return err
	}
	return errors.Join(b.same(ctx, b.program.Journal, elsewhere.Journal), ctx.Err())
}
