package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/toolabi"
)

func newDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "diff RUN|FILE RUN|FILE",
		Short: "Show in what a run differs from another one",
		Long: `Show in what a run differs from another one, step by step: what only one of them did, other tools, inputs, requests,
results and attempts, and then what they are made of: plan, input, modules, grants. The first step that differs is on top.
Times, run ids and idempotency keys are not compared, nor what clock and random answered. FILE is one that "wrun export" wrote, with a / in its path
or .wrun at its end.

The exit code is 6 when they differ.`,
		Example: "  wrun diff invoice-7 invoice-8\n  wrun diff ./yesterday.wrun ./today.wrun",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			var sides [2]*side
			for i, named := range args {
				err := a.reading(c.Context(), named, func(h *wrun.Host, run string) (err error) {
					if !namesBundle(named) {
						named = run
					}
					sides[i], err = readSide(c.Context(), h, named, run)
					return err
				})
				if err != nil {
					return &runError{named, err}
				}
			}
			return a.diff(sides[0], sides[1])
		},
	}
}

func (a *app) diff(was, now *side) error {
	changes := compareRuns(was, now)
	steps := 0
	for _, c := range changes {
		if c.part == "step" {
			steps++
		}
	}
	if a.json {
		for _, c := range changes {
			if err := a.line(c.line()); err != nil {
				return err
			}
		}
		sum := map[string]any{"summary": true, "a": was.name, "b": now.name, "same": len(changes) == 0, "steps": steps, "parts": len(changes) - steps}
		if err := a.line(sum); err != nil {
			return err
		}
	} else if err := a.printf("%s", diffText(was, now, changes)); err != nil {
		return err
	}
	if len(changes) == 0 {
		a.say("%s and %s are the same, but for their times", toolabi.CleanLine(was.name, 300), toolabi.CleanLine(now.name, 300))
		return nil
	}
	return &codedError{codeRunsDiffer, fmt.Errorf("%s and %s differ in %s and %s",
		was.name, now.name, number(uint64(steps), "step", "steps"), number(uint64(len(changes)-steps), "part of what they are", "parts of what they are"))}
}

// diffText is how two runs differ, for people: a line for each difference, then the texts.
func diffText(was, now *side, changes []runChange) string {
	if len(changes) == 0 {
		return ""
	}
	var b, texts strings.Builder
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, c := range changes {
		mark, where, what := "", c.part, "differs"
		if c.part == "step" {
			where, what = string(c.step), strings.Join(c.what, ", ")
			if c.only != "" {
				what = "only in " + toolabi.CleanLine(c.only, 100)
			}
		}
		if i == 0 {
			mark = "first"
		}
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\n", mark, where, toolabi.CleanLine(c.name, 100), what)
		for _, p := range c.of {
			name := where
			if c.part == "step" {
				name += " " + p.what
			}
			texts.WriteString(unifiedFrom(name, was.name, now.name, p.was, p.now))
		}
	}
	_ = rows.Flush() // into memory
	return b.String() + texts.String()
}

// line is a difference as --json shows it. docs/replay.md lists the fields.
func (c runChange) line() map[string]any {
	l := map[string]any{"part": c.part}
	if c.part == "step" {
		l["step"], l["name"], l["what"] = c.step, c.name, c.what
	}
	if c.only != "" {
		l["only_in"] = c.only
	}
	for _, p := range c.of {
		l[p.what] = map[string]any{"a": p.was, "b": p.now}
	}
	return l
}
