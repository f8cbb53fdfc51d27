package main

import (
	"context"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

func newApprove(a *app) *cobra.Command {
	return newAnswer(a, true, "approve", "Agree to what a run waits for", `Agree to a call that waits to begin, or to what a tool or a plan asks. STEP is the call, or the
step that asks; "wrun inbox" lists them. Nothing is executed: "wrun resume RUN" goes on.

The yes is for exactly what was shown: the tool, the bytes of its module, its input and the
grants of the run. When one of them changes before the call begins, the question is put again,
and has to be answered with --shown and the digest that "wrun inbox" gives.

With --input a call is agreed to with another input than the one that was shown. It has to match
the tool's schema, and what the policy denies is denied all the same. The log keeps both.`)
}

func newDeny(a *app) *cobra.Command {
	return newAnswer(a, false, "deny", "Deny what a run waits for", `Deny a call that waits to begin, or what a tool or a plan asks. The tool or the plan sees that it
was denied. An approval that has not been used yet is taken back by this.`)
}

func newAnswer(a *app, yes bool, verb, short, long string) *cobra.Command {
	answer, input := runtime.Answer{Yes: yes}, ""
	c := &cobra.Command{
		Use:     verb + " RUN STEP",
		Short:   short,
		Long:    long,
		Example: "  wrun " + verb + " invoice-7 charge --note 'checked against the order'",
		Args:    a.orPick(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				if err := journal.Step(args[1]).Validate(); err != nil {
					return usage(c, "%v", err)
				}
			}
			if !utf8.ValidString(answer.Note + answer.By + answer.Shown) {
				return usage(c, "the flags have to be UTF-8")
			}
			if answer.By == "" {
				answer.By = userName()
			}
			if c.Flags().Changed("input") {
				var err error
				if answer.Input, err = a.jsonInput(c.Context(), input); err != nil {
					return err
				}
			}
			return a.answer(c.Context(), args, answer)
		},
	}
	if yes {
		c.Flags().StringVar(&input, "input", "", "make the call with this input instead: `JSON`, @FILE or - for standard input")
	}
	c.Flags().StringVar(&answer.Note, "note", "", "why, for the log and for whoever asked")
	c.Flags().StringVar(&answer.By, "by", "", "who says so (default the user)")
	c.Flags().StringVar(&answer.Shown, "shown", "", "the `DIGEST` of what was shown, as \"wrun inbox\" gives it, or its beginning")
	return c
}

// answer answers the question that is named by a run and a step, or the one that somebody chooses.
func (a *app) answer(ctx context.Context, named []string, answer runtime.Answer) error {
	return a.with(ctx, false, func(h *wrun.Host) error {
		run, step, err := a.stepOf(ctx, h, named, runtime.NeedAnswer)
		if err != nil {
			return err
		}
		if err := h.Answer(ctx, run, step, answer); err != nil {
			return &runError{run, err}
		}
		word := "denied"
		if answer.Yes {
			word = "agreed to"
		}
		if answer.Input != nil {
			word += " with another input"
		}
		if a.json {
			l := map[string]any{"run": run, "step": step, "agreed": answer.Yes, "by": answer.By, "next": a.cmd("resume " + run)}
			if answer.Input != nil {
				l["input"] = shown(answer.Input)
			}
			return a.line(l)
		}
		a.say("%s of run %s is %s by %s. next: %s", step, run, word, oneLine([]byte(answer.By)), a.cmd("resume "+run))
		return nil
	})
}
