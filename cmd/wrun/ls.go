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

// listBlock is how many runs are lined up with each other, so that a long list does not wait for its end.
const listBlock = 1000

func newList(a *app) *cobra.Command {
	var unfinished, removed bool
	c := &cobra.Command{
		Use:   "ls [RUN]...",
		Short: "List the runs",
		Long: `List the runs by their ids: all of them, or the ones that are named.

Those that are named, and those that are not finished, are found without looking through the rest.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				if removed {
					return a.listRemoved(c.Context(), h, args)
				}
				named, err := a.runArgs(c.Context(), h, args)
				if err != nil {
					return err
				}
				rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
				head := func(n int) {
					if n == 0 && !a.json {
						fmt.Fprintln(rows, "RUN\tSTATUS\tDRIVER\tSTEPS\tBEGAN\tLAST ENTRY")
					}
				}
				n := 0
				for s, err := range listed(c.Context(), h.Journal(), named, unfinished) {
					if err == nil {
						head(n)
						err = a.listRun(h, rows, &s)
					}
					if n++; err == nil && n%listBlock == 0 {
						err = rows.Flush()
					}
					if err != nil {
						return errors.Join(err, rows.Flush())
					}
				}
				head(n)
				return rows.Flush()
			})
		},
	}
	c.Flags().BoolVar(&unfinished, "unfinished", false, "leave out the runs that are finished")
	c.Flags().BoolVar(&removed, "removed", false, "instead, list what is kept of the runs that were removed")
	c.MarkFlagsMutuallyExclusive("unfinished", "removed")
	return c
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

// listRun writes the line of a run: a row, or with --json an object.
func (a *app) listRun(h *wrun.Host, rows *tabwriter.Writer, s *journal.State) error {
	if a.json {
		return a.line(runLine(h, s))
	}
	status := string(h.Status(s))
	if s.Late > 0 && s.Finished {
		status += ", late" // an outcome came after the end
	}
	_, err := fmt.Fprintf(rows, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Run, status, s.Driver, s.Steps, clock(s.Began), clock(s.Time))
	return err
}

// listed yields the runs that are named, or all. One that is named and not there is journal.ErrNotFound.
func listed(ctx context.Context, j journal.Journal, named []string, unfinished bool) iter.Seq2[journal.State, error] {
	if len(named) == 0 {
		return j.List(ctx, journal.Query{Unfinished: unfinished})
	}
	return func(yield func(journal.State, error) bool) {
		for _, run := range named {
			found := false
			for s, err := range j.List(ctx, journal.Query{Run: run}) {
				found = true
				if (err != nil || !unfinished || !s.Finished) && !yield(s, err) {
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
