package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

// offers says which runs are offered where a RUN is missing: those that fit first, and with only no others.
type offers struct {
	only  bool
	query journal.Query
	fit   fits
}

var (
	offerAny      = offers{fit: anyRun}
	offerFinished = offers{fit: finished}
	offerOpen     = offers{only: true, query: journal.Query{Unfinished: true}, fit: unfinished}
	offerGoing    = offers{query: journal.Query{Unfinished: true}, fit: goesOn}
	offerAsking   = offers{query: journal.Query{Unfinished: true}, fit: func(_ *wrun.Host, s *journal.State) bool { return len(asksAt(s)) > 0 }}
	offerUnclear  = offers{query: journal.Query{Unsettled: true}, fit: func(h *wrun.Host, s *journal.State) bool { return inDoubt(h, s) || s.Late > 0 }}
)

// runs offers run ids: those that fit first, and the newest of them at the top.
func runs(f offers) words {
	return func(a *app, c *cobra.Command, given []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		fitting, others := firstRuns{n: completeMost, order: beganLast}, firstRuns{n: completeMost, order: beganLast}
		a.peek(c.Context(), func(ctx context.Context, h *wrun.Host) error {
			for s, err := range h.Journal().List(ctx, f.query) {
				if err != nil || ctx.Err() != nil {
					break
				}
				switch {
				case !strings.HasPrefix(s.Run, word) || slices.Contains(given, s.Run):
				case f.fit(h, &s):
					fitting.add(&s)
				case !f.only:
					others.add(&s)
				}
			}
			all := append(fitting.sorted(), others.sorted()...)
			for _, s := range all[:min(len(all), completeMost)] {
				found = append(found, cobra.CompletionWithDesc(s.Run, string(h.Status(s))))
			}
			return nil
		})
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// asksAt are the steps of a run that somebody is asked about, as approve and deny name them.
func asksAt(s *journal.State) (found []journal.Step) {
	for _, step := range s.InOrder() {
		if o := s.Open[step]; o.OnCut == journal.Await && o.Due == 0 {
			found = append(found, step.First().Asked())
		}
	}
	return found
}

// asked, doubtful and anyStep choose steps of a run.
func asked(s *journal.State, _ []journal.Step) []journal.Step     { return asksAt(s) }
func doubtful(s *journal.State, _ []journal.Step) []journal.Step  { return s.InDoubt() }
func anyStep(_ *journal.State, all []journal.Step) []journal.Step { return all }

// steps offers steps of the run that is typed already, with what they call.
func steps(choose func(s *journal.State, all []journal.Step) []journal.Step) words {
	return func(a *app, c *cobra.Command, given []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(given) == 0 {
			return nothing(a, c, given, word)
		}
		state, names := journal.State{Run: given[0]}, map[journal.Step]string{}
		var all []journal.Step
		a.peek(c.Context(), func(ctx context.Context, h *wrun.Host) error {
			for e, err := range h.Journal().Read(ctx, given[0], 0) {
				if err != nil {
					return err
				}
				if err := state.Apply(e); err != nil {
					return err
				}
				if _, known := names[e.Step]; !known && e.Step != "" {
					names[e.Step] = e.Name
					all = append(all, e.Step)
				}
			}
			return nil
		})
		for _, step := range choose(&state, all) {
			if strings.HasPrefix(string(step), word) && len(found) < completeMost {
				found = append(found, cobra.CompletionWithDesc(string(step), names[step]))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// artifacts offers the digests of the artifacts of the run that is typed already, with their names.
func artifacts(a *app, c *cobra.Command, given []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(given) == 0 {
		return nothing(a, c, given, word)
	}
	a.peek(c.Context(), func(ctx context.Context, h *wrun.Host) error {
		list, err := h.Artifacts(ctx, given[0])
		for _, k := range list {
			if d := k.Digest.String(); strings.HasPrefix(d, word) && len(found) < completeMost {
				found = append(found, cobra.CompletionWithDesc(d, cutLine(k.Name, 80)))
			}
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}
