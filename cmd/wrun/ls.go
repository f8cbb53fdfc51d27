package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

func newList(a *app) *cobra.Command {
	var unfinished bool
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the runs",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
				if !a.json {
					fmt.Fprintln(rows, "RUN\tSTATUS\tDRIVER\tSTEPS\tBEGAN\tLAST ENTRY")
				}
				for s, err := range h.Journal().List(c.Context(), journal.Query{Unfinished: unfinished}) {
					if err != nil {
						return err
					}
					if a.json {
						if err := a.line(runLine(h, &s)); err != nil {
							return err
						}
						continue
					}
					status := string(h.Status(&s))
					if s.Late > 0 && s.Finished {
						status += ", late" // an outcome came after the end
					}
					fmt.Fprintf(rows, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Run, status, s.Driver, s.Steps, clock(s.Began), clock(s.Time))
				}
				return rows.Flush()
			})
		},
	}
	c.Flags().BoolVar(&unfinished, "unfinished", false, "leave out the runs that are finished")
	return c
}

// runLine is a run as --json shows it.
func runLine(h *wrun.Host, s *journal.State) map[string]any {
	line := map[string]any{
		"run": s.Run, "status": h.Status(s), "driver": s.Driver, "steps": s.Steps, "entries": s.Len,
		"began": stamp(s.Began), "last": stamp(s.Time), "in_doubt": orEmpty(s.InDoubt()), "late": s.Late,
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
