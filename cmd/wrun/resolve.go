package main

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const resolveHelp = `Say whether an effect happened whose outcome is unknown. Nothing is executed; "wrun
resume RUN" goes on.

With --happened the tool is given the reply as if it had just come. For http_send the
reply is a JSON object {"status":201,"headers":{…},"body":…}; any other JSON object is
taken as the body of a reply with status 200. Of a program it is the tool's output.

With --did-not-happen the step is attempted again under the same idempotency key, once a
request could no longer be on its way; --now does not wait for that, and is recorded.
--new-key attempts it under another key, for a provider that remembers the old one as
failed; a first request that arrives late after all is then not recognised as the same.

Without a step, one of these says something about the whole run: --acknowledge, that you
have looked at outcomes which arrived too late to count ("wrun log RUN" lists them);
--confirm, that a run which was restored from a backup knows all that it did; --abandon,
that it is closed as failed although effects of it are in doubt. Those are named, and can
still be settled.`

// verdict is what the flags of resolve say.
type verdict struct {
	happened, note, by     string
	yes, no, now, newKey   bool
	seen, confirm, abandon bool // of the whole run
}

// whole says how many of the flags that are about the whole run are set.
func (v *verdict) whole() (n int) {
	for _, set := range []bool{v.seen, v.confirm, v.abandon} {
		if set {
			n++
		}
	}
	return n
}

// fits says whether what is said about the whole run can be said of a run.
func (v *verdict) fits(h *wrun.Host, s *journal.State) bool {
	switch {
	case v.seen:
		return s.Late > 0
	case v.confirm:
		return s.Unconfirmed
	}
	return !s.Finished && !s.Imported && h.Status(s) != journal.Running
}

func newResolve(a *app) *cobra.Command {
	var v verdict
	c := &cobra.Command{
		Use:   "resolve RUN STEP (--happened @REPLY|- | --did-not-happen) | RUN (--acknowledge|--confirm|--abandon)",
		Short: "Say whether an effect happened whose outcome is unknown",
		Long:  resolveHelp,
		Example: `  wrun resolve invoice-7 charge/1 --happened @reply.json --note "ch_123 in the dashboard"
  wrun resolve invoice-7 charge/1 --did-not-happen --note "not in the dashboard"`,
		Args: a.orPick(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error {
			v.yes = c.Flags().Changed("happened")
			if v.by == "" {
				v.by = userName()
			}
			if err := v.check(c, args); err != nil {
				return err
			}
			if v.whole() > 0 {
				return a.settleRun(c.Context(), first(args), v)
			}
			return a.settle(c.Context(), args, v)
		},
	}
	f := c.Flags()
	f.StringVar(&v.happened, "happened", "", "it happened, and this is the reply: `@FILE`, - for standard input, or the reply itself")
	f.BoolVar(&v.no, "did-not-happen", false, "it did not happen")
	f.BoolVar(&v.now, "now", false, "with --did-not-happen: also while the request could still be on its way")
	f.BoolVar(&v.newKey, "new-key", false, "with --did-not-happen: attempt it under another idempotency key")
	f.BoolVar(&v.seen, "acknowledge", false, "the outcomes that arrived too late have been looked at")
	f.BoolVar(&v.confirm, "confirm", false, "the restored run knows all that it did")
	f.BoolVar(&v.abandon, "abandon", false, "close the run as failed, with what is in doubt")
	f.StringVar(&v.note, "note", "", "how it is known, for the log")
	f.StringVar(&v.by, "by", "", "who says so (default the user)")
	return c
}

// check says what is wrong with the arguments.
func (v *verdict) check(c *cobra.Command, args []string) error {
	switch {
	case !utf8.ValidString(v.note + v.by):
		return usage(c, "--note and --by have to be UTF-8")
	case v.whole() > 1, v.whole() == 1 && (v.yes || v.no || v.now || v.newKey || len(args) == 2):
		return usage(c, "--acknowledge, --confirm and --abandon stand alone, without a step")
	case v.whole() == 1:
		return nil
	case len(args) == 1:
		return usage(c, "say which step")
	case v.yes == v.no:
		return usage(c, "say either --happened @REPLY or --did-not-happen")
	case v.yes && (v.now || v.newKey):
		return usage(c, "--now and --new-key go with --did-not-happen")
	}
	if len(args) == 2 {
		if err := journal.Step(args[1]).Validate(); err != nil {
			return usage(c, "%v", err)
		}
	}
	return nil
}

// settleRun records what is said about the whole run.
func (a *app) settleRun(ctx context.Context, given string, v verdict) error {
	return a.with(ctx, false, func(h *wrun.Host) error {
		run, err := a.runTaken(ctx, h, given, v.fits)
		if err != nil {
			return err
		}
		say, word, done, next := h.Acknowledge, "acknowledged", "the late outcomes of run %s are acknowledged", "resume "
		switch {
		case v.confirm:
			say, word, done = h.Confirm, "confirmed", "run %s is confirmed"
		case v.abandon:
			say, word, done, next = h.Abandon, "abandoned", "run %s is abandoned, and closed", "show "
		}
		if err := say(ctx, run, v.by, v.note); err != nil {
			return &runError{run, err}
		}
		if a.json {
			return a.line(map[string]any{"run": run, "verdict": word, "by": v.by, "next": a.cmd(next + run)})
		}
		a.say(done+". next: %s", run, a.cmd(next+run))
		return nil
	})
}

// maxSaidReply is the longest reply as it is said, in bytes: the longest that is saved has its bytes in base64.
const maxSaidReply = 2 * toolabi.MaxOutput

// settle turns what a person says into what the tool is told, and records it of the step that is named, or that somebody chooses.
func (a *app) settle(ctx context.Context, named []string, v verdict) error {
	res := runtime.Resolution{Happened: v.yes, Now: v.now, NewKey: v.newKey, By: v.by, Note: v.note}
	var text []byte
	if v.yes {
		var err error
		if text, err = a.argumentOf(ctx, v.happened, maxSaidReply); err != nil {
			return err
		}
	}
	return a.with(ctx, false, func(h *wrun.Host) error {
		run, step, err := a.stepOf(ctx, h, named, runtime.NeedVerdict)
		if err != nil {
			return err
		}
		if v.yes {
			if res.Reply, err = replyOf(ctx, h, run, step, text); err != nil {
				return err
			}
		}
		if err := h.Resolve(ctx, run, step, res); err != nil {
			return &runError{run, err}
		}
		next := "resume "
		if p, err := readPicture(ctx, h, run); err == nil && p.state.Finished {
			next = "show "
		}
		if a.json {
			word := map[bool]string{true: "happened", false: "did not happen"}[v.yes]
			return a.line(map[string]any{"run": run, "step": step, "verdict": word, "by": v.by, "next": a.cmd(next + run)})
		}
		a.say("%s of run %s is settled. next: %s", step, run, a.cmd(next+run))
		return nil
	})
}

// replyOf makes the reply of the host function that a step calls of what a person says it was. A step that does not exist
// is for Resolve to refuse.
func replyOf(ctx context.Context, h *wrun.Host, run string, step journal.Step, text []byte) ([]byte, error) {
	name := ""
	for e, err := range h.Journal().Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if e.Kind == journal.Intent && e.Step.First() == step.First() {
			name = e.Name
		}
	}
	reply, err := h.ParseReply(name, text)
	if err != nil {
		return nil, &codedError{codeInput, fmt.Errorf("--happened: %w", err)}
	}
	return reply, nil
}
