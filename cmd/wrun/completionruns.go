package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

// fit says whether a verb can do something with a run; others are offered behind those that fit, or not at all with only.
type fit struct {
	only  bool
	query journal.Query
	is    func(s *journal.State, status journal.Status) bool
}

var (
	anyRun     = fit{is: func(*journal.State, journal.Status) bool { return true }}
	isFinished = fit{is: func(s *journal.State, _ journal.Status) bool { return s.Finished }}
	isOpen     = fit{only: true, query: journal.Query{Unfinished: true}, is: func(s *journal.State, _ journal.Status) bool { return !s.Finished }}
	canGoOn    = fit{query: journal.Query{Unfinished: true}, is: func(_ *journal.State, status journal.Status) bool { return status != journal.Running }}
	asks       = fit{query: journal.Query{Unfinished: true}, is: func(s *journal.State, _ journal.Status) bool { return len(asksAt(s)) > 0 }}
	isUnclear  = fit{query: journal.Query{Unsettled: true}, is: func(s *journal.State, status journal.Status) bool {
		return len(s.InDoubt()) > 0 && status != journal.Running || s.Late > 0
	}}
)

// runs offers run ids: those that fit first, and the newest of them at the top.
func runs(f fit) words {
	return func(a *app, c *cobra.Command, given []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		type candidate struct {
			run    string
			status journal.Status
			began  int64
			fits   bool
		}
		var all []candidate
		a.peek(c.Context(), func(ctx context.Context, h *wrun.Host) error {
			for s, err := range h.Journal().List(ctx, f.query) {
				if err != nil || ctx.Err() != nil {
					return err
				}
				if !strings.HasPrefix(s.Run, word) || slices.Contains(given, s.Run) {
					continue
				}
				status := h.Status(&s)
				if k := (candidate{s.Run, status, s.Began, f.is(&s, status)}); k.fits || !f.only {
					all = append(all, k)
				}
			}
			return nil
		})
		slices.SortFunc(all, func(x, y candidate) int {
			if x.fits != y.fits {
				return map[bool]int{true: -1, false: 1}[x.fits]
			}
			return cmp.Or(cmp.Compare(y.began, x.began), strings.Compare(x.run, y.run))
		})
		for _, k := range all[:min(len(all), completeMost)] {
			found = append(found, cobra.CompletionWithDesc(k.run, string(k.status)))
		}
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

// asked, inDoubt and anyStep choose steps of a run.
func asked(s *journal.State, _ []journal.Step) []journal.Step     { return asksAt(s) }
func inDoubt(s *journal.State, _ []journal.Step) []journal.Step   { return s.InDoubt() }
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
