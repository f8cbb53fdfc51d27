package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// noteDirs says what of the directories that a run is granted is not what its modules ask for. What grants.yaml grants is for every
// run, and most have no use for it, so that only those of flags have to be asked for.
func (a *app) noteDirs(modules []runtime.Module, g, flags hostfuncs.Grants) {
	for _, d := range g.Dirs {
		asked := false
		for _, m := range modules {
			if m.Manifest.Command == nil {
				continue
			}
			for _, want := range m.Manifest.Command.Dirs {
				asked = asked || want.Name == d.Name
				if want.Name == d.Name && want.Write && !d.Write {
					a.say("%s wants to write to directory %s (%s) and may not; --dir %s lets it",
						m.Name, d.Name, toolabi.CleanLine(want.Reason, 200), quoted(d.Name+"="+d.Path+":rw"))
				}
			}
		}
		if _, typed := flags.Dir(d.Name); typed && !asked {
			a.say("no module of the run asks for directory %s", d.Name)
		}
	}
}

// limitFlags are the flags with which an operator bounds each call of a run.
type limitFlags struct{ fuel uint64 }

func (l *limitFlags) add(c *cobra.Command) {
	c.Flags().Uint64Var(&l.fuel, "fuel", 0, "let each call use at most so `MUCH` fuel, a unit of which pays for 16 instructions; \"wrun show\" says what calls used (default no limit beside its time)")
}

func (l *limitFlags) limits() toolabi.Limits { return toolabi.Limits{Fuel: l.fuel} }

// runID returns the id that was given, or a new one.
func runID(c *cobra.Command, given, driver string) (string, error) {
	if given == "" && !c.Flags().Changed("id") {
		return newID(driver), nil
	}
	if err := journal.ValidateRun(given); err != nil {
		return "", usage(c, "--id: %v", err)
	}
	return given, nil
}

// newID makes a run id that sorts by time.
func newID(driver string) string {
	var b [4]byte
	rand.Read(b[:]) // never fails, says its documentation
	return driver + "-" + time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

// begin starts a run, or attaches to it, and drives it to its output. flags are those of its grants that were typed.
func (a *app) begin(ctx context.Context, h *wrun.Host, id string, spec runtime.Spec, flags hostfuncs.Grants, opts runtime.DriveOptions, long time.Duration) error {
	a.noteDirs(spec.Modules, spec.Grants, flags)
	a.noteMissing(spec.Modules, spec.Grants)
	res, err := a.driven(ctx, h, id, long, func() (runtime.Result, error) { return h.Run(ctx, id, spec, opts) })
	if a.stats {
		a.usage(id, res)
	}
	return a.ended(id, res, err)
}

// ended says what came of driving a run, and writes its output to standard output.
func (a *app) ended(id string, res runtime.Result, err error) error {
	if res.Replayed {
		a.detail("run %s was finished already; nothing was executed", id)
	} else {
		a.detail("run %s: %d steps executed, %d served from the journal, modules entered %d times", id, res.Counts.Executed, res.Counts.Served, res.Counts.Entered)
	}
	if l := a.live(); l != nil && !a.verbose && !res.Replayed && res.Counts.Served > 0 {
		a.say("  %s served from the journal", number(uint64(res.Counts.Served), "step", "steps"))
	}
	if res.Late > 0 {
		a.say("run %s: %d outcomes of effects came after its end, see %s", id, res.Late, a.cmd("show "+id))
	}
	if err == nil {
		output, isText := a.readable(res)
		if f, ok := a.out.(*os.File); ok && isTerminal(f) { // elsewhere it is passed on byte for byte
			if isText {
				output = []byte(toolabi.CleanText(string(output), len(output)))
			} else {
				output = visible(output)
			}
		}
		if err = failpoint.Hit(failpoint.BeforeAck); err != nil {
			return &runError{id, err}
		}
		if a.json {
			err = a.document(compacted(output))
		} else {
			err = a.write(append(output[:len(output):len(output)], '\n'))
		}
	}
	if err != nil {
		return &runError{id, err}
	}
	return nil
}

// readable is the output of a run as it is written: what an agent answers is text, and everything else JSON.
func (a *app) readable(res runtime.Result) (output []byte, isText bool) {
	var text string
	if a.json || res.Driver != agent.Name || json.Unmarshal(res.Output, &text) != nil {
		return res.Output, false
	}
	return []byte(text), true
}

// usage writes what driving a run took, to standard error.
func (a *app) usage(id string, res runtime.Result) {
	u := res.Usage
	a.saying.Lock()
	defer a.saying.Unlock()
	if a.json {
		b, err := json.Marshal(map[string]any{
			"run": id, "fuel": u.Fuel, "live_ms": u.Live.Milliseconds(), "host_calls": u.HostCalls, "commits": u.Commits,
		})
		if err == nil {
			fmt.Fprintf(a.errOut, "%s\n", b)
		}
		return
	}
	if a.logJSON.Load() {
		a.logRecord(slog.LevelInfo, "what it took", slog.String("run", id), slog.Uint64("fuel", u.Fuel), slog.Int64("live_ms", u.Live.Milliseconds()),
			slog.Any("host_calls", u.HostCalls), slog.Any("commits", u.Commits))
		return
	}
	fmt.Fprintf(a.errOut, "fuel        %d\nlive time   %s\nhost calls  %d\ncommits     %d\n", u.Fuel, u.Live.Round(time.Millisecond/10), u.HostCalls, u.Commits)
}

// runError is an error in driving a run.
type runError struct {
	run string
	err error
}

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }
