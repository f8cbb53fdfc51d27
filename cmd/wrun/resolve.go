package main

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const resolveHelp = `Say whether an effect happened whose outcome is unknown. Nothing is executed; "wrun
resume RUN" goes on.

With --happened the tool is given the reply as if it had just come. For http_send the
reply is a JSON object {"status":201,"headers":{…},"body":…}; any other JSON object is
taken as the body of a reply with status 200.

With --did-not-happen the step is attempted again under the same idempotency key, once a
request could no longer be on its way; --now does not wait for that, and is recorded.

With --acknowledge and no step you say that you have looked at outcomes which arrived too
late to count ("wrun log RUN" lists them), so that the run may go on.`

// verdict is what the flags of resolve say.
type verdict struct {
	happened, note, by string
	yes, no, now, seen bool
}

func newResolve(a *app) *cobra.Command {
	var v verdict
	c := &cobra.Command{
		Use:   "resolve RUN STEP (--happened @REPLY|- | --did-not-happen) | RUN --acknowledge",
		Short: "Say whether an effect happened whose outcome is unknown",
		Long:  resolveHelp,
		Example: `  wrun resolve invoice-7 charge/1 --happened @reply.json --note "ch_123 in the dashboard"
  wrun resolve invoice-7 charge/1 --did-not-happen --note "not in the dashboard"`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			v.yes = c.Flags().Changed("happened")
			if v.by == "" {
				v.by = userName()
			}
			if err := v.check(c, args); err != nil {
				return err
			}
			if v.seen {
				return a.acknowledge(c.Context(), args[0], v)
			}
			return a.settle(c.Context(), args[0], journal.Step(args[1]), v)
		},
	}
	f := c.Flags()
	f.StringVar(&v.happened, "happened", "", "it happened, and this is the reply: `@FILE`, - for standard input, or the reply itself")
	f.BoolVar(&v.no, "did-not-happen", false, "it did not happen")
	f.BoolVar(&v.now, "now", false, "with --did-not-happen: also while the request could still be on its way")
	f.BoolVar(&v.seen, "acknowledge", false, "the outcomes that arrived too late have been looked at")
	f.StringVar(&v.note, "note", "", "how it is known, for the log")
	f.StringVar(&v.by, "by", "", "who says so (default the user)")
	return c
}

// check says what is wrong with the arguments.
func (v *verdict) check(c *cobra.Command, args []string) error {
	switch {
	case !utf8.ValidString(v.note + v.by):
		return usage(c, "--note and --by have to be UTF-8")
	case v.seen && (v.yes || v.no || v.now || len(args) == 2):
		return usage(c, "--acknowledge stands alone, without a step")
	case v.seen:
		return nil
	case len(args) == 1:
		return usage(c, "say which step")
	case v.yes == v.no:
		return usage(c, "say either --happened @REPLY or --did-not-happen")
	case v.yes && v.now:
		return usage(c, "--now goes with --did-not-happen")
	}
	if err := journal.Step(args[1]).Validate(); err != nil {
		return usage(c, "%v", err)
	}
	return nil
}

func (a *app) acknowledge(ctx context.Context, run string, v verdict) error {
	return a.with(ctx, false, func(h *wrun.Host) error {
		if err := h.Acknowledge(ctx, run, v.by, v.note); err != nil {
			return err
		}
		a.say("the late outcomes of run %s are acknowledged. next: %s", run, a.cmd("resume "+run))
		return nil
	})
}

// settle turns what a person says into what the tool is told, and records it.
func (a *app) settle(ctx context.Context, run string, step journal.Step, v verdict) error {
	res := runtime.Resolution{Happened: v.yes, Now: v.now, By: v.by, Note: v.note}
	var text []byte
	if v.yes {
		var err error
		if text, err = a.argument(ctx, v.happened); err != nil {
			return err
		}
	}
	return a.with(ctx, false, func(h *wrun.Host) error {
		if v.yes {
			name, err := functionOf(ctx, h, run, step)
			if err != nil {
				return err
			}
			if res.Reply, err = replyOf(name, text); err != nil {
				return &codedError{codeInput, fmt.Errorf("--happened: %w", err)}
			}
		}
		if err := h.Resolve(ctx, run, step, res); err != nil {
			return err
		}
		a.say("%s of run %s is settled. next: %s", step, run, a.cmd("resume "+run))
		return nil
	})
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
