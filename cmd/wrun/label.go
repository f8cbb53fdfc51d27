package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

// labelFlags are the labels that a run begins with.
type labelFlags struct{ texts []string }

func (l *labelFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&l.texts, "label", nil, "give the run the label `KEY=VALUE`, to find it by: \"wrun ls --label\"; may be given again")
}

// labels are those of the flags. Errors: of usage.
func (l *labelFlags) labels(c *cobra.Command) (map[string]string, error) {
	return parseLabels(c, l.texts)
}

func newLabel(a *app) *cobra.Command {
	var remove []string
	c := &cobra.Command{
		Use:   "label RUN [KEY=VALUE]... [--remove KEY]...",
		Short: "Give a run labels, or take them away",
		Long: `Give a run labels, by which "wrun ls --label" finds it, or take them away. Without any the labels
of the run are written to standard output. A run has at most 32; a key has up to 63 lower-case letters,
digits and . _ / -, and begins with a letter, a value up to 256 bytes in one line. Labels can be changed
at any time, also of a run that is finished or driven by another process, and take part in nothing that
it does. Each change is an entry of the log, which says who made it.`,
		Example: "  wrun label invoice-7 customer=acme team=billing\n  wrun label invoice-7 --remove team",
		Args:    a.orPick(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.Contains(first(args), "=") { // which no id has
				return usage(c, "say which run: RUN comes before KEY=VALUE")
			}
			set, err := parseLabels(c, args[min(1, len(args)):])
			if err != nil {
				return err
			}
			for _, key := range remove {
				if err := journal.ValidateLabelKey(key); err != nil {
					return usage(c, "--remove: %v", err)
				}
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				return a.label(c.Context(), h, first(args), set, remove)
			})
		},
	}
	c.Flags().StringArrayVar(&remove, "remove", nil, "take the label `KEY` away; may be given again")
	return c
}

func (a *app) label(ctx context.Context, h *wrun.Host, given string, set map[string]string, remove []string) error {
	named := a.runTaken
	if len(set)+len(remove) == 0 {
		named = a.runOf
	}
	run, err := named(ctx, h, given, anyRun)
	if err != nil {
		return err
	}
	if len(set)+len(remove) > 0 {
		if err := h.Label(ctx, run, userName(), set, remove...); err != nil {
			return &runError{run, err}
		}
	}
	for s, err := range runsOf(ctx, h.Journal(), []string{run}, journal.Query{}) {
		if err != nil {
			return err
		}
		if a.json {
			return a.line(map[string]any{"run": run, "labels": labelLine(&s)})
		}
		for _, l := range labelWords(&s) {
			if err := a.printf("%s\n", l); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseLabels reads KEY=VALUE. Two values of one key, and none at all, as by a script whose variable is not set, are wrong usage.
func parseLabels(c *cobra.Command, texts []string) (map[string]string, error) {
	set := map[string]string{}
	for _, text := range texts {
		key, value, err := journal.ParseLabel(text)
		if err != nil {
			return nil, usage(c, "%v", err)
		}
		if value == "" {
			return nil, usage(c, "label %s has no value; \"wrun label RUN --remove %s\" takes it away", key, key)
		}
		if was, there := set[key]; there && was != value {
			return nil, usage(c, "label %s has two values", key)
		}
		set[key] = value
	}
	if len(set) > journal.MaxLabels {
		return nil, usage(c, "%d labels, at most %d are allowed", len(set), journal.MaxLabels)
	}
	return set, nil
}

// labelWords are the labels of a run as KEY=VALUE, by their keys.
func labelWords(s *journal.State) (words []string) {
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		words = append(words, key+"="+s.Labels[key])
	}
	return words
}

// labelText is all of them on a line.
func labelText(s *journal.State) string { return strings.Join(labelWords(s), "  ") }

// labelLine are the labels of a run as --json shows them.
func labelLine(s *journal.State) map[string]string {
	if s.Labels == nil {
		return map[string]string{}
	}
	return s.Labels
}
