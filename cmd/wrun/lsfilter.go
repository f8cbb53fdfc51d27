package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

// forPerson stands beside the statuses: all that waits for a person, whatever its status.
const forPerson = "person"

// statuses are what --state knows.
var statuses = []journal.Status{
	journal.Running, journal.Interrupted, journal.Waiting, journal.Uncertain, journal.Diverged, journal.Limited,
	journal.Done, journal.Failed, journal.CancelledUp, journal.Elsewhere,
}

// runFilter says which runs are listed. The zero value lists all.
type runFilter struct {
	states     []string // statuses, and forPerson
	driver     string
	tool       string
	since      int64 // of the last entry, in nanoseconds since 1970-01-01 UTC; 0: whenever
	labels     []labelWish
	unfinished bool
}

// labelWish is a label that a run has to have; with any, whatever its value.
type labelWish struct {
	key, value string
	any        bool
}

// filterFlags are the flags that make a runFilter.
type filterFlags struct {
	states, labels      []string
	driver, tool, since string
	unfinished          bool
}

func (f *filterFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.unfinished, "unfinished", false, "leave out the runs that are finished")
	c.Flags().StringSliceVar(&f.states, "state", nil, "only the runs with one of these `STATUSES`, between commas: "+statusWords()+", or "+forPerson+" for what waits for a person")
	c.Flags().StringVar(&f.driver, "driver", "", "only the runs of this `DRIVER`: call, plan, agent, rollback")
	c.Flags().StringVar(&f.tool, "tool", "", "only the runs that called this `TOOL`: MODULE.NAME, the name or the module alone, or a host function; their logs are read for it")
	c.Flags().StringVar(&f.since, "since", "", "only the runs whose last entry is not older: a duration back such as 2h or 7d, a date, or a `TIME` (RFC 3339)")
	c.Flags().StringArrayVar(&f.labels, "label", nil, "only the runs with the label `KEY[=VALUE]`; may be given again, and all have to be there")
}

func statusWords() string {
	var words []string
	for _, s := range statuses {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// filter reads the flags. Errors: of usage.
func (f *filterFlags) filter(c *cobra.Command) (r runFilter, err error) {
	r = runFilter{states: f.states, driver: f.driver, tool: f.tool, unfinished: f.unfinished}
	for _, s := range r.states {
		if s != forPerson && !slices.Contains(statuses, journal.Status(s)) {
			return r, usage(c, "--state: there is no status %.40q; there are %s and %s", s, statusWords(), forPerson)
		}
	}
	for name, text := range map[string]string{"state": strings.Join(f.states, ""), "driver": f.driver, "tool": f.tool, "since": f.since} {
		if text == "" && c.Flags().Changed(name) {
			return r, usage(c, "--%s has no value", name)
		}
	}
	if f.since != "" {
		if r.since, err = sinceOf(f.since, time.Now()); err != nil {
			return r, usage(c, "--since: %v", err)
		}
	}
	for _, text := range f.labels {
		w := labelWish{key: text, any: !strings.Contains(text, "=")}
		if !w.any {
			if w.key, w.value, err = journal.ParseLabel(text); err == nil && w.value == "" {
				err = fmt.Errorf("label %s has no value; KEY alone stands for any", w.key)
			}
		} else {
			err = journal.ValidateLabelKey(text)
		}
		if err != nil {
			return r, usage(c, "--label: %v", err)
		}
		r.labels = append(r.labels, w)
	}
	return r, nil
}

// sinceOf reads a moment that has passed: a duration back, which may have days, the beginning of a day here, or a time.
func sinceOf(text string, now time.Time) (int64, error) {
	long, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		long, err = time.ParseDuration(days + "h")
		if long *= 24; long/24 > 1e6*time.Hour {
			err = errors.New("too long")
		}
	}
	if err == nil && long >= 0 {
		return now.Add(-long).UnixNano(), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil && t.Year() >= 1970 && t.Year() < 2262 {
			return t.UnixNano(), nil
		}
	}
	return 0, fmt.Errorf("%.40q is neither a duration such as 2h or 7d, nor a date such as 2026-12-24, nor a time such as 2026-12-24T18:00:00Z", text)
}

// query is what the journal need not yield.
func (f *runFilter) query() journal.Query {
	q := journal.Query{Unfinished: f.unfinished, Unsettled: len(f.states) > 0}
	for _, s := range f.states {
		switch journal.Status(s) {
		case journal.Done, journal.Failed, journal.CancelledUp:
			q.Unsettled = false
		}
	}
	return q
}

// matches says whether a run is listed. Its log is read only for the tool, and only when all else is right.
func (f *runFilter) matches(ctx context.Context, h *wrun.Host, s *journal.State) (bool, error) {
	switch {
	case f.unfinished && s.Finished, f.driver != "" && s.Driver != f.driver, s.Time < f.since, !f.hasState(h, s):
		return false, nil
	}
	for _, l := range f.labels {
		if value, there := s.Labels[l.key]; !there || !l.any && value != l.value {
			return false, nil
		}
	}
	if f.tool == "" {
		return true, nil
	}
	for e, err := range h.Journal().Read(ctx, s.Run, 0) {
		if errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrRemoved) {
			return false, nil // it is gone since it was listed
		}
		if err != nil {
			return false, &runError{s.Run, err}
		}
		if (e.Kind == journal.Intent || e.Kind == journal.Result) && isTool(e.Name, f.tool) {
			return true, nil
		}
	}
	return false, nil
}

func (f *runFilter) hasState(h *wrun.Host, s *journal.State) bool {
	return len(f.states) == 0 || slices.Contains(f.states, string(h.Status(s))) ||
		slices.Contains(f.states, forPerson) && h.WaitsForPerson(s)
}

// isTool says whether what a step calls is what somebody asks for: all of its name, its module, or its tool alone.
func isTool(name, asked string) bool {
	module, tool, two := strings.Cut(name, ".")
	return name == asked || two && (module == asked || tool == asked)
}
