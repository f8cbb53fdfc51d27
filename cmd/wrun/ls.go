package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

func newList(a *app) *cobra.Command {
	var flags filterFlags
	var order string
	var n int
	var removed bool
	c := &cobra.Command{
		Use:   "ls [RUN]...",
		Short: "List the runs",
		Long: `List the runs by their ids: all of them, the ones that are named, or the ones that the flags select.

Those that are named, and those that are not finished, are found without looking through the rest.
With --sort began or --sort last the latest run comes first; then all that is shown is held in memory,
which -n bounds.`,
		Example: "  wrun ls --state person\n  wrun ls --state failed,uncertain --since 2d\n  wrun ls --label customer=acme --tool http_send --sort last -n 20",
		RunE: func(c *cobra.Command, args []string) error {
			filter, err := flags.filter(c)
			if err != nil {
				return err
			}
			if _, ok := runOrders[order]; !ok {
				return usage(c, "--sort: want id, began or last, not %.40q", order)
			}
			if n < 1 && c.Flags().Changed("number") {
				return usage(c, "-n: want 1 or more")
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				if removed {
					return a.listRemoved(c.Context(), h, args)
				}
				named, err := a.runArgs(c.Context(), h, args)
				if err != nil {
					return err
				}
				if err := a.list(c.Context(), h, named, filter, order, n); err != nil {
					return err
				}
				return a.hintAtPerson(c.Context(), h, len(args) == 0)
			})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&order, "sort", "id", "the `ORDER`: id, began or last")
	c.Flags().IntVarP(&n, "number", "n", 0, "at most so many `RUNS` (default all)")
	c.Flags().BoolVar(&removed, "removed", false, "instead, list what is kept of the runs that were removed")
	for _, name := range []string{"unfinished", "state", "driver", "tool", "since", "label", "sort", "number"} {
		c.MarkFlagsMutuallyExclusive(name, "removed")
	}
	return c
}

// runOrders are what --sort knows. By their ids runs come out of the journal.
var runOrders = map[string]func(s, other *journal.State) int{"id": nil, "began": beganLast, "last": lastFirst}

// list lists the runs that a filter selects, at most n of them where n is not 0. With an error those before it are listed too.
func (a *app) list(ctx context.Context, h *wrun.Host, named []string, f runFilter, order string, n int) error {
	rows := &runTable{a: a, h: h}
	kept := firstRuns{n: n, order: runOrders[order]}
	shown, err := 0, error(nil)
	for s, listErr := range runsOf(ctx, h.Journal(), named, f.query()) {
		var ok bool
		if err = listErr; err == nil {
			ok, err = f.matches(ctx, h, &s)
		}
		if err != nil {
			break
		}
		switch {
		case !ok:
			continue
		case kept.order != nil:
			kept.add(&s)
			continue
		}
		if err = rows.add(&s); err != nil {
			break
		}
		if shown++; shown == n {
			break
		}
	}
	if kept.order != nil {
		for _, s := range kept.sorted() {
			err = errors.Join(err, rows.add(s))
		}
	}
	return errors.Join(err, rows.end(err == nil))
}

// hintAtPerson says on a terminal how many runs wait for a person, behind a list of whatever runs.
func (a *app) hintAtPerson(ctx context.Context, h *wrun.Host, wanted bool) error {
	if !wanted || a.json || a.quiet || !a.shows() {
		return nil
	}
	n := uint64(0)
	for s, err := range h.Journal().List(ctx, journal.Query{Unsettled: true}) {
		if err != nil {
			return err
		}
		if h.WaitsForPerson(&s) {
			n++
		}
	}
	if n > 0 {
		a.say("%s for a person: %s", number(n, "run waits", "runs wait"), a.cmd("inbox"))
	}
	return nil
}

// listRemoved lists what is kept of removed runs: of all, or of those that are named.
func (a *app) listRemoved(ctx context.Context, h *wrun.Host, named []string) error {
	removed := h.Removed(ctx, "")
	if len(named) > 0 {
		removed = removedRuns(ctx, h.Journal(), named)
	}
	rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	if !a.json {
		fmt.Fprintln(rows, "RUN\tENDED AS\tENTRIES\tLAST ENTRY\tREMOVED")
	}
	for r, err := range removed {
		if err != nil {
			return errors.Join(err, rows.Flush())
		}
		as := r.Outcome.String()
		if r.Lost {
			as = "lost to damage"
		}
		if a.json {
			if err := a.line(map[string]any{"run": r.Run, "outcome": r.Outcome.String(), "lost": r.Lost, "entries": r.Len, "ended": stamp(r.Ended), "removed": stamp(r.At), "head": r.Head.String()}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(rows, "%s\t%s\t%d\t%s\t%s\n", r.Run, as, r.Len, clock(r.Ended), clock(r.At))
	}
	return rows.Flush()
}

// removedRuns yields what is kept of removed runs. One that was not removed is journal.ErrNotFound.
func removedRuns(ctx context.Context, j journal.Journal, named []string) iter.Seq2[journal.Removed, error] {
	return func(yield func(journal.Removed, error) bool) {
		for _, run := range named {
			err := absent(ctx, j, run)
			var r journal.Removed
			if gone := (*journal.Removed)(nil); errors.As(err, &gone) {
				r, err = *gone, nil
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// runsOf yields the runs that are named, or all that a query selects. One that is named and not there is journal.ErrNotFound.
func runsOf(ctx context.Context, j journal.Journal, named []string, q journal.Query) iter.Seq2[journal.State, error] {
	if len(named) == 0 {
		return j.List(ctx, q)
	}
	return func(yield func(journal.State, error) bool) {
		for _, run := range named {
			found := false
			for s, err := range j.List(ctx, journal.Query{Run: run}) {
				if found = true; !yield(s, err) {
					return
				}
			}
			if !found && !yield(journal.State{}, absent(ctx, j, run)) {
				return
			}
		}
	}
}

// absent is why a run is not there: it never was, or was removed.
func absent(ctx context.Context, j journal.Journal, run string) error {
	for _, err := range j.Read(ctx, run, 0) {
		if errors.Is(err, journal.ErrRemoved) {
			return err
		}
		break
	}
	return fmt.Errorf("run %s: %w", run, journal.ErrNotFound)
}

// runLine is a run as --json shows it.
func runLine(h *wrun.Host, s *journal.State) map[string]any {
	line := map[string]any{
		"run": s.Run, "status": h.Status(s), "driver": s.Driver, "steps": s.Steps, "entries": s.Len,
		"began": stamp(s.Began), "last": stamp(s.Time), "in_doubt": orEmpty(s.InDoubt()), "late": s.Late,
	}
	if len(s.Labels) > 0 {
		line["labels"] = s.Labels
	}
	if s.Crashes > 0 {
		line["crashes"] = s.Crashes
	}
	return line
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// stamp is a time as --json shows it: RFC 3339 in UTC with nanoseconds.
func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
