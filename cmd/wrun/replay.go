package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// replayFlags say what is replayed and what is shown of it.
type replayFlags struct {
	step    string
	tools   []string
	timeout time.Duration
	trace   bool
}

func newReplay(a *app) *cobra.Command {
	var flags replayFlags
	c := &cobra.Command{
		Use:   "replay RUN|FILE [--tool NEW.wasm ...]",
		Short: "Run the inside of recorded calls again, offline, and compare",
		Long: `Enter the modules of a run's calls once more, answer what they ask of the host from the log, and say of each
call whether it asked for the same and came to the same. Nothing is executed, sent or written; no grants are
needed; another process may drive the run meanwhile. FILE is one that "wrun export" wrote, with a / in its path
or .wrun at its end: it is replayed where it is.

With --tool another module is entered in the place of the run's one of that name: what would it have done
differently? It is named by its file, or by the name under which it was added. Each call that differs is shown
as a diff.

The exit code is 6 when something differs.`,
		Example: "  wrun replay invoice-7\n  wrun replay invoice-7 --tool ./payments-2.wasm\n  wrun replay invoice-7.wrun --step charge --trace",
		Args:    a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("step") {
				if err := journal.Step(flags.step).Validate(); err != nil {
					return usage(c, "--step: %v", err)
				}
			}
			if c.Flags().Changed("call-timeout") && flags.timeout < time.Millisecond {
				return usage(c, "--call-timeout: want a duration of 1ms or more")
			}
			cfg, err := entering()
			if err != nil {
				return err
			}
			return a.looking(c.Context(), first(args), cfg, func(h *wrun.Host, run string) error {
				opts, err := a.replayOptions(h, flags)
				if err != nil {
					return err
				}
				return a.replay(c.Context(), h, run, opts, flags)
			})
		},
	}
	c.Flags().StringVar(&flags.step, "step", "", "only this `STEP` and what is inside of it")
	c.Flags().StringArrayVar(&flags.tools, "tool", nil, "enter `NEW.wasm` in the place of the run's module of the same name; may be given again")
	c.Flags().BoolVar(&flags.trace, "trace", false, "show the host calls of each call, with times, fuel and bytes")
	c.Flags().DurationVar(&flags.timeout, "call-timeout", 0, "how long each call may compute at most (default what it may in a run)")
	return c
}

// replayOptions adds the modules that are entered instead.
func (a *app) replayOptions(h *wrun.Host, flags replayFlags) (runtime.ReplayOptions, error) {
	opts := runtime.ReplayOptions{Step: journal.Step(flags.step), Timeout: flags.timeout}
	for _, word := range flags.tools {
		found, err := a.findModule(word)
		if err != nil {
			return opts, err
		}
		m, err := h.AddInspected(found.info)
		if err != nil {
			return opts, named(err, word)
		}
		for _, other := range opts.Tools {
			if other.Name == m.Name {
				return opts, &codedError{codeUsage, fmt.Errorf("--tool: two modules are called %s", m.Name)}
			}
		}
		opts.Tools = append(opts.Tools, m)
	}
	return opts, nil
}

// replayed counts what came of a replay.
type replayed struct {
	run   string
	other bool // with other modules
	of    map[runtime.ReplayVerdict]int
	steps int
	first journal.Step // the first that differs
}

func (a *app) replay(ctx context.Context, h *wrun.Host, run string, opts runtime.ReplayOptions, flags replayFlags) error {
	sum := &replayed{run: run, other: len(opts.Tools) > 0, of: map[runtime.ReplayVerdict]int{}}
	var text, diffs strings.Builder
	rows := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	var failed error
	for res, err := range h.Replay(ctx, run, opts) {
		if err != nil {
			failed = err
			break
		}
		sum.add(res)
		switch {
		case a.json:
			if err := a.line(replayLine(h, run, res, flags.trace)); err != nil {
				return err
			}
		case flags.trace:
			if err := a.printf("%s", replayTrace(res)); err != nil {
				return err
			}
			if err := a.printf("%s", replayDiff(h, res)); err != nil {
				return err
			}
		case res.Verdict == runtime.ReplaySame && sum.other && !a.verbose:
		default:
			fmt.Fprintf(rows, "%s\t%s\t%s\n", res.Step, toolabi.CleanLine(res.Tool, 100), replayWords(res))
			diffs.WriteString(replayDiff(h, res))
		}
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	if err := a.printf("%s%s", text.String(), diffs.String()); err != nil {
		return err
	}
	if a.json && (failed == nil || sum.steps > 0) {
		if err := a.line(sum.line()); err != nil {
			return err
		}
	}
	if failed != nil {
		return &runError{run, failed}
	}
	a.say("%s", sum.text())
	return sum.err()
}

func (r *replayed) add(res runtime.Replayed) {
	r.steps++
	r.of[res.Verdict]++
	if res.Verdict.Differs() && r.first == "" {
		r.first = res.Step
	}
}

// differ is how many differ, replayed how many were entered to some end.
func (r *replayed) differ() (differ, entered int) {
	for v, n := range r.of {
		if v.Differs() {
			differ += n
		}
		if v != runtime.ReplayNot && v != runtime.ReplayCannot {
			entered += n
		}
	}
	return differ, entered
}

// replayOrder is the order in which verdicts are counted out.
var replayOrder = []runtime.ReplayVerdict{
	runtime.ReplaySame, runtime.ReplayOpen, runtime.ReplayResult, runtime.ReplayRequest, runtime.ReplayMore, runtime.ReplayLess, runtime.ReplayRefused,
	runtime.ReplayNot, runtime.ReplayCannot,
}

func (r *replayed) text() string {
	var words []string
	for _, v := range replayOrder {
		if n := r.of[v]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(words) == 0 {
		return "run " + r.run + ": there is nothing to replay"
	}
	return "run " + r.run + ": " + strings.Join(words, ", ")
}

// err is what the exit code says.
func (r *replayed) err() error {
	differ, entered := r.differ()
	switch {
	case differ > 0:
		return &replayError{run: r.run, step: r.first, other: r.other, text: fmt.Sprintf("the replay differs from the log in %d of %s", differ, number(uint64(entered), "call", "calls"))}
	case r.of[runtime.ReplayCannot] > 0:
		return &codedError{codeReplayCannot, fmt.Errorf("run %s: %s could not be replayed", r.run, number(uint64(r.of[runtime.ReplayCannot]), "call", "calls"))}
	}
	return nil
}

// replayError says that a replay differs.
type replayError struct {
	run   string
	step  journal.Step
	other bool
	text  string
}

func (e *replayError) Error() string { return e.text }

// replayProblem knows how a replay ends.
func (a *app) replayProblem(e *replayError) problem {
	p := problem{code: codeReplayDiffers, where: e.run}
	if !a.bundled && e.other {
		p.next = a.cmd("show " + e.run)
	} else if !a.bundled {
		p.next = a.cmd(fmt.Sprintf("replay %s --step %s --trace", e.run, quoted(string(e.step))))
	}
	return p
}

// replayWords says in a line how a call compares.
func replayWords(res runtime.Replayed) string {
	words := string(res.Verdict)
	if res.At > 0 {
		words += fmt.Sprintf(" at host call %d", res.At)
		if res.Now != nil && res.Verdict != runtime.ReplayRequest {
			words += ", " + res.Now.Name
		}
	}
	switch {
	case res.Verdict == runtime.ReplayRequest && res.Was != nil && res.Now != nil && res.Was.Name != res.Now.Name:
		words += fmt.Sprintf(": %s, the log holds %s", res.Now.Name, res.Was.Name)
	case res.Verdict == runtime.ReplayRequest && res.Now != nil:
		words += ", " + res.Now.Name
	case res.Why != "":
		words += ": " + res.Why
	case res.Verdict == runtime.ReplayNot && res.Result != nil && res.Result.Err != nil:
		words += ": " + res.Result.Err.Error()
	}
	return toolabi.CleanLine(words, 400)
}
