package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newCost(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "cost RUN | --all",
		Short: "Say what a model's answers cost, and what the journal saved",
		Long: `Say what the answers of a model cost a run, or all runs together: what was paid, what was
served from the journal instead of being paid for again, what the provider sent again because
it knew the request, and which requests may have been paid twice because nobody knows what
became of the first one. Costs need prices in the agent's file; without them tokens are counted.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if all && len(args) == 1 || !all && len(args) == 0 && !a.canPick() {
				return usage(c, "say either RUN or --all")
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				if all {
					return a.costOfAll(c.Context(), h)
				}
				run, err := a.runOf(c.Context(), h, first(args), agents)
				if err != nil {
					return err
				}
				l, err := costOf(c.Context(), h, run)
				if err != nil {
					return &runError{run, err}
				}
				return a.printCost(run, l)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all runs of the journal together")
	return c
}

// errNoModel says that a run asks no model.
var errNoModel = errors.New("the run asks no model: it has no costs")

// costOf makes the ledger of a run.
func costOf(ctx context.Context, h *wrun.Host, run string) (*agent.Ledger, error) {
	state := &journal.State{Run: run}
	var books *agent.Bookkeeper
	for e, err := range h.Journal().Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if err := state.Apply(e); err != nil {
			return nil, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
		}
		if books == nil {
			if books, err = bookkeeper(ctx, h, run); err != nil {
				return nil, err
			}
		}
		if err := books.Add(ctx, e); err != nil {
			return nil, err
		}
	}
	if books == nil {
		return nil, fmt.Errorf("run %s: %w", run, journal.ErrNotFound)
	}
	return books.Close(h.Status(state) == journal.Running), nil
}

// bookkeeper begins the ledger of a run. Errors: errNoModel.
func bookkeeper(ctx context.Context, h *wrun.Host, run string) (*agent.Bookkeeper, error) {
	spec, err := h.Spec(ctx, run)
	if err != nil {
		return nil, err
	}
	return bookkeeperOf(h, run, spec)
}

func bookkeeperOf(h *wrun.Host, run string, spec *runtime.Spec) (*agent.Bookkeeper, error) {
	if spec.Driver != agent.Name {
		return nil, &codedError{codeNoModel, errNoModel}
	}
	pinned, err := agent.Unpin(spec.Plan)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	return agent.NewBookkeeper(run, pinned, h.Body), nil
}

// costOfAll adds up the ledgers of all runs. The list is not held while logs are read. A run that cannot be read is said and left
// out, and does not keep the others back.
func (a *app) costOfAll(ctx context.Context, h *wrun.Host) error {
	var runs []string
	for s, err := range h.Journal().List(ctx, journal.Query{}) {
		if err != nil {
			return err
		}
		if s.Driver == agent.Name {
			runs = append(runs, s.Run)
		}
	}
	sum := new(agent.Ledger)
	var failed error
	for _, run := range runs {
		l, err := costOf(ctx, h, run)
		switch {
		case errors.Is(err, journal.ErrNotFound) && !errors.Is(err, journal.ErrDamaged): // it is gone since it was listed
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			a.say("run %s is not counted: %s", run, toolabi.CleanLine(err.Error(), 2048))
			failed = &runError{run, err}
		default:
			sum.Add(l)
		}
	}
	if err := a.printCost("", sum); err != nil {
		return err
	}
	return failed
}

// printCost writes a ledger; run is "" for that of all runs.
func (a *app) printCost(run string, l *agent.Ledger) error {
	if a.json {
		line := costLine(l)
		if run != "" {
			line["run"] = run
		}
		return a.line(line)
	}
	var b strings.Builder
	const row = "%-37s %7v %10v %8v %12v\n"
	fmt.Fprintf(&b, row, "", "answers", "tokens in", "out", "cost")
	for _, r := range []struct {
		name string
		t    agent.Tally
	}{
		{"paid", l.Paid}, {"  of these unused", l.Unused}, {"  of these sent again by the provider", l.Replayed},
		{"served from the journal, so saved", l.Served},
	} {
		fmt.Fprintf(&b, row, r.name, r.t.Answers, tokensIn(r.t), r.t.Usage.Output, amount(l, r.t))
	}
	fmt.Fprintf(&b, "possibly paid twice: %d\n", len(l.Twice))
	for _, u := range l.Twice {
		where := string(u.Step)
		if run == "" {
			where = u.Run + " " + where
		}
		fmt.Fprintf(&b, "  %s  announced %s, key %s: %s\n", where, clock(u.At), toolabi.CleanLine(u.Key, 100), toolabi.CleanLine(u.Why, 300))
	}
	return a.printf("%s", b.String())
}

func tokensIn(t agent.Tally) int64 { return t.Usage.Input + t.Usage.CacheRead + t.Usage.CacheWrite }

// amount is what a tally cost, or a dash where nobody said what tokens cost.
func amount(l *agent.Ledger, t agent.Tally) string {
	if !l.Priced {
		return "-"
	}
	return agent.FormatAmount(t.Cost)
}

// costLine is a ledger as --json shows it.
func costLine(l *agent.Ledger) map[string]any {
	tally := func(t agent.Tally) map[string]any {
		line := map[string]any{
			"answers": t.Answers, "input_tokens": t.Usage.Input, "output_tokens": t.Usage.Output,
			"cache_read_tokens": t.Usage.CacheRead, "cache_write_tokens": t.Usage.CacheWrite,
		}
		if l.Priced {
			line["cost"] = agent.FormatAmount(t.Cost)
		}
		return line
	}
	twice := []map[string]any{}
	for _, u := range l.Twice {
		twice = append(twice, map[string]any{"run": u.Run, "step": u.Step, "key": u.Key, "announced": stamp(u.At), "why": u.Why})
	}
	return map[string]any{
		"paid": tally(l.Paid), "unused": tally(l.Unused), "replayed": tally(l.Replayed), "served": tally(l.Served), "possibly_paid_twice": twice,
	}
}

// saving says in a line what the journal saved a run.
func saving(l *agent.Ledger) string {
	words := fmt.Sprintf("answers paid %d, tokens %d", l.Paid.Answers, l.Paid.Usage.Total())
	if l.Priced {
		words += ", cost " + agent.FormatAmount(l.Paid.Cost)
	}
	words += fmt.Sprintf("; served from the journal %d", l.Served.Answers)
	if l.Served.Answers > 0 {
		words += fmt.Sprintf(", which saved %d tokens", l.Served.Usage.Total())
		if l.Priced {
			words += " and " + agent.FormatAmount(l.Served.Cost)
		}
	}
	if n := len(l.Twice); n > 0 {
		words += fmt.Sprintf("; possibly paid twice %d", n)
	}
	return words
}
