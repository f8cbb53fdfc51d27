package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/toolabi"
)

func newStats(a *app) *cobra.Command {
	var flags filterFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count the runs, their calls, and what they took",
		Long: `Count the runs by status and by driver; of each tool the calls, those that failed, the effects of
which nobody knows whether they happened, how long the calls took from their intent to their result,
with what they waited for, and their fuel; and what the journal holds. The flags select runs, as those
of "wrun ls" do. All logs of these runs are read.`,
		Example: "  wrun stats --since 7d\n  wrun stats --label customer=acme --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			filter, err := flags.filter(c)
			if err != nil {
				return err
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				s, failed := a.count(c.Context(), h, filter)
				if s == nil {
					return failed
				}
				if s.space, err = h.Space(c.Context()); err != nil {
					return err
				}
				if a.json {
					err = a.line(s.json())
				} else {
					err = a.printf("%s", s.text())
				}
				return errors.Join(err, failed)
			})
		},
	}
	flags.add(c)
	return c
}

// stats are what some runs did and took.
type stats struct {
	runs, entries, person uint64
	statuses, drivers     map[string]uint64
	tools                 map[string]*toolStats
	space                 boltdb.Space
}

// toolStats are what the calls of a tool did and took. A call that is attempted again counts again.
type toolStats struct {
	calls, failed, denied, uncertain, fuel uint64
	took                                   durations
}

// openCall is a call between its intent and its result.
type openCall struct {
	tool  string
	began int64
}

// count reads the logs of the runs that a filter selects, one after the other. One that cannot be read is said and left out, and does not
// keep the others back; the error is then of the last of them. With a nil stats it is another one.
func (a *app) count(ctx context.Context, h *wrun.Host, f runFilter) (s *stats, failed error) {
	s = &stats{statuses: map[string]uint64{}, drivers: map[string]uint64{}, tools: map[string]*toolStats{}}
	for run, err := range h.Journal().List(ctx, f.query()) {
		if err != nil {
			return nil, err
		}
		ok, err := f.matches(ctx, h, &run)
		if ok {
			err = s.addCalls(ctx, h, &run)
		}
		switch {
		case errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrRemoved): // it is gone since it was listed
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			a.say("run %s is not counted: %s", run.Run, toolabi.CleanLine(err.Error(), 2048))
			failed = &runError{run.Run, err}
		case ok:
			s.addRun(h, &run)
		}
	}
	return s, failed
}

func (s *stats) addRun(h *wrun.Host, run *journal.State) {
	s.runs++
	s.entries += run.Len
	s.statuses[string(h.Status(run))]++
	s.drivers[run.Driver]++
	if h.WaitsForPerson(run) {
		s.person++
	}
}

// addCalls adds the calls of a run. What it holds is what is open at a time.
func (s *stats) addCalls(ctx context.Context, h *wrun.Host, run *journal.State) error {
	open := map[journal.Step]openCall{}
	for e, err := range h.Journal().Read(ctx, run.Run, 0) {
		if err != nil {
			return err
		}
		call, was := open[e.Step]
		switch {
		case e.Kind == journal.Intent && !e.Module.IsZero() && e.OnCut != journal.Await:
			open[e.Step] = openCall{e.Name, e.Time}
			s.tool(e.Name).calls++
		case e.Kind == journal.Result && was:
			s.tool(call.tool).ended(e, time.Duration(e.Time-call.began))
			delete(open, e.Step)
		case e.Kind == journal.Result && !e.Module.IsZero() && e.Outcome == journal.Denied:
			s.tool(e.Name).denied++
		case e.Kind == journal.Void:
			delete(open, e.Step)
		}
	}
	if h.Status(run) == journal.Running {
		return nil // what is open is under way
	}
	for _, step := range run.InDoubt() {
		name := run.Open[step].Name
		for in := step; in != ""; in = in.Parent() {
			if call, ok := open[in]; ok {
				name = call.tool
				break
			}
		}
		s.tool(name).uncertain++
	}
	return nil
}

func (s *stats) tool(name string) *toolStats {
	if s.tools[name] == nil {
		s.tools[name] = &toolStats{}
	}
	return s.tools[name]
}

func (t *toolStats) ended(e journal.Entry, took time.Duration) {
	t.fuel += e.Fuel
	t.took.add(took)
	switch e.Outcome {
	case journal.Fail:
		t.failed++
	case journal.Denied:
		t.denied++
	}
}

// text is what people see.
func (s *stats) text() string {
	var b strings.Builder
	var byStatus, byDriver []string
	for _, status := range statuses {
		if n := s.statuses[string(status)]; n > 0 {
			byStatus = append(byStatus, fmt.Sprint(status, " ", n))
		}
	}
	for _, driver := range slices.Sorted(maps.Keys(s.drivers)) {
		byDriver = append(byDriver, fmt.Sprint(toolabi.CleanLine(driver, 40), " ", s.drivers[driver]))
	}
	for _, l := range []struct{ name, text string }{
		{"runs", fmt.Sprint(s.runs)}, {"status", strings.Join(byStatus, ", ")}, {"driver", strings.Join(byDriver, ", ")},
		{"person", number(s.person, "run waits", "runs wait") + " for one"},
		{"journal", fmt.Sprintf("%s of these runs; %s in all, of it %s of %s", number(s.entries, "entry", "entries"), bytesText(s.space.File+s.space.BlobBytes),
			number(uint64(s.space.Blobs), "blob", "blobs"), bytesText(s.space.BlobBytes))},
	} {
		if l.text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", l.name, l.text)
		}
	}
	if len(s.tools) == 0 {
		return b.String()
	}
	b.WriteString("\n")
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "TOOL\tCALLS\tFAILED\tDENIED\tUNCERTAIN\tMEDIAN\t99 %\tFUEL")
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		t := s.tools[name]
		fmt.Fprintf(rows, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%d\n", toolabi.CleanLine(name, 140), t.calls, t.failed, t.denied, t.uncertain,
			rough(t.took.quantile(0.5)), rough(t.took.quantile(0.99)), t.fuel)
	}
	_ = rows.Flush() // into memory
	return b.String()
}

func (s *stats) json() map[string]any {
	tools := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		t := s.tools[name]
		tools = append(tools, map[string]any{
			"tool": name, "calls": t.calls, "failed": t.failed, "denied": t.denied, "uncertain": t.uncertain, "fuel": t.fuel,
			"median_ms": inMS(t.took.quantile(0.5)), "p99_ms": inMS(t.took.quantile(0.99)),
		})
	}
	return map[string]any{
		"runs": s.runs, "statuses": s.statuses, "drivers": s.drivers, "person": s.person, "tools": tools,
		"journal": map[string]any{"entries": s.entries, "bytes": s.space.File + s.space.BlobBytes, "blobs": s.space.Blobs, "blob_bytes": s.space.BlobBytes},
	}
}

func inMS(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
