package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newResolve(a *app) *cobra.Command {
	var happened, note, by string
	var didNot, now bool
	c := &cobra.Command{
		Use:   "resolve RUN STEP (--happened @REPLY|- | --did-not-happen)",
		Short: "Say whether an effect happened whose outcome is unknown",
		Long: `Say whether an effect happened whose outcome is unknown. Nothing is executed; "wrun
resume RUN" goes on.

With --happened the tool is given the reply as if it had just come. For http_send the
reply is a JSON object {"status":201,"headers":{…},"body":…}; anything else is taken as
the body of a reply with status 200.

With --did-not-happen the step is attempted again under the same idempotency key, once a
request could no longer be on its way; --now does not wait for that, and is recorded.`,
		Example: `  wrun resolve invoice-7 charge/1 --happened @reply.json --note "ch_123 in the dashboard"
  wrun resolve invoice-7 charge/1 --did-not-happen --note "not in the dashboard"`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			yes := c.Flags().Changed("happened")
			switch {
			case yes == didNot:
				return usage(c, "say either --happened @REPLY or --did-not-happen")
			case yes && now:
				return usage(c, "--now goes with --did-not-happen")
			}
			step := journal.Step(args[1])
			if err := step.Validate(); err != nil {
				return usage(c, "%v", err)
			}
			res := runtime.Resolution{Happened: yes, Now: now, By: by, Note: note}
			if by == "" {
				res.By = userName()
			}
			var text []byte
			if yes {
				var err error
				if text, err = a.argument(happened); err != nil {
					return err
				}
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				if err := a.resolve(c.Context(), h, args[0], step, res, text); err != nil {
					return err
				}
				a.say("%s of run %s is settled. next: %s", step, args[0], a.cmd("resume "+args[0]))
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&happened, "happened", "", "it happened, and this is the reply: `@FILE`, - for standard input, or the reply itself")
	f.BoolVar(&didNot, "did-not-happen", false, "it did not happen")
	f.BoolVar(&now, "now", false, "with --did-not-happen: also while the request could still be on its way")
	f.StringVar(&note, "note", "", "how it is known, for the log")
	f.StringVar(&by, "by", "", "who says so (default the user)")
	return c
}

// resolve turns what a person says into what the tool is told, and records it.
func (a *app) resolve(ctx context.Context, h *wrun.Host, run string, step journal.Step, res runtime.Resolution, text []byte) error {
	if res.Happened {
		name, err := functionOf(ctx, h, run, step)
		if err != nil {
			return err
		}
		if res.Reply, err = replyOf(name, text); err != nil {
			return &codedError{codeInput, fmt.Errorf("--happened: %w", err)}
		}
	}
	return h.Resolve(ctx, run, step, res)
}

// functionOf returns what a step calls, "" when the run has no such step.
func functionOf(ctx context.Context, h *wrun.Host, run string, step journal.Step) (string, error) {
	name := ""
	for e, err := range h.Journal().Read(ctx, run, 0) {
		if err != nil {
			return "", err
		}
		if e.Kind == journal.Intent && e.Step.First() == step.First() {
			name = e.Name
		}
	}
	return name, nil
}

func replyOf(function string, text []byte) ([]byte, error) {
	switch function {
	case toolabi.FuncHTTPSend, toolabi.FuncHTTPFetch:
		return hostfuncs.ParseSaidReply(text)
	}
	return text, nil
}
