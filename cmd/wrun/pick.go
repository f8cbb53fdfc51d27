package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// maxChoices is how many runs somebody is offered.
const maxChoices = 20

// choice is something that a verb can be about: a run, or a step of one.
type choice struct {
	run, step string
	text      string // the rest of its line, with tabs between the columns
}

// fits says of a run whether a verb can do something with it.
type fits func(h *wrun.Host, s *journal.State) bool

// What the verbs that take a RUN can do something with.
var (
	anyRun     fits = func(*wrun.Host, *journal.State) bool { return true }
	unfinished fits = func(_ *wrun.Host, s *journal.State) bool { return !s.Finished && !s.Imported }
	finished   fits = func(_ *wrun.Host, s *journal.State) bool { return s.Finished }
	goesOn     fits = func(h *wrun.Host, s *journal.State) bool {
		return h.CanGoOn(s) || !s.Finished && h.Status(s) == journal.Limited
	}
	agents  fits = func(_ *wrun.Host, s *journal.State) bool { return s.Driver == agent.Name }
	inDoubt fits = func(h *wrun.Host, s *journal.State) bool {
		return len(s.InDoubt()) > 0 && !s.Imported && h.Status(s) != journal.Running
	}
)

// orPick is a rule for arguments that may all be missing where somebody can be asked for the run.
func (a *app) orPick(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if len(given) == 0 && a.canPick() {
			return nil
		}
		return args(c, given)
	}
}

// canPick says whether somebody can be asked for a run: data for a machine is not mixed with questions.
func (a *app) canPick() bool {
	return a.shows() && a.canAsk() && !a.json && !a.quiet
}

// first is the first argument, "" where there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// runOf is runArg, and asks for the run where none was given.
func (a *app) runOf(ctx context.Context, h *wrun.Host, given string, fit fits) (run string, err error) {
	if given != "" || !a.canPick() {
		return a.runArg(ctx, h, given)
	}
	latest := firstRuns{n: maxChoices + 1, order: lastFirst}
	for s, err := range h.Journal().List(ctx, journal.Query{}) {
		if err != nil {
			return "", err
		}
		if fit(h, &s) {
			latest.add(&s)
		}
	}
	var choices []choice
	for _, s := range latest.sorted() {
		choices = append(choices, choice{run: s.Run, text: fmt.Sprintf("%s\t%s\t%s", h.Status(s), s.Driver, clock(s.Time))})
	}
	got, typed, err := a.pick(ctx, choices)
	switch {
	case err != nil:
		return "", err
	case got == nil:
		return a.runArg(ctx, h, typed)
	}
	return got.run, nil
}

// stepOf is runOf for verbs that are about something which waits for a person, and so about a step of a run.
func (a *app) stepOf(ctx context.Context, h *wrun.Host, args []string, need runtime.Need) (run string, step journal.Step, err error) {
	if len(args) > 0 {
		run, err = a.runTaken(ctx, h, args[0], anyRun)
		return run, journal.Step(args[1]), err
	}
	var choices []choice
	for item, err := range h.Inbox(ctx) {
		if err != nil && item.Run == "" {
			return "", "", err
		}
		if err != nil || item.Need != need {
			continue // inbox says what is wrong with a run
		}
		what := item.Text
		if item.Call != nil {
			what = item.Call.Tool + " " + oneLine(item.Call.Input)
		}
		choices = append(choices, choice{item.Run, string(item.Step), fmt.Sprintf("%s\t%s", item.Step, toolabi.CutText(toolabi.CleanLine(item.Name+" "+what, 200), 60))})
		if len(choices) > maxChoices {
			break
		}
	}
	got, typed, err := a.pick(ctx, choices)
	if err == nil && got == nil {
		err = &codedError{codeNoChoice, fmt.Errorf("%.100s means none of these, or several; nothing was done", typed)}
	}
	if err != nil {
		return "", "", err
	}
	a.say("%s of run %s", got.step, got.run)
	return got.run, journal.Step(got.step), nil
}

// pick shows what can be chosen and asks for a number, or for the beginning of an id; nil for an id that means none of it, or several.
// Errors: a codedError when nothing was chosen; the cause of ctx's end.
func (a *app) pick(ctx context.Context, choices []choice) (got *choice, typed string, err error) {
	if len(choices) == 0 {
		return nil, "", &codedError{codeNoChoice, errors.New("there is no run that could be meant")}
	}
	shown := choices[:min(len(choices), maxChoices)]
	var b strings.Builder
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, c := range shown {
		fmt.Fprintf(rows, "%2d\t%s\t%s\n", i+1, c.run, c.text)
	}
	_ = rows.Flush() // into memory
	if len(choices) > len(shown) {
		b.WriteString("    and others\n")
	}
	a.saying.Lock()
	fmt.Fprint(a.errOut, toolabi.CleanText(b.String(), maxSaid))
	a.saying.Unlock()
	typed, err = a.readLine(ctx, "Which one? A number, the beginning of an id, or Enter for none: ")
	if err != nil {
		return nil, "", err
	}
	if typed == "" {
		return nil, "", &codedError{codeNoChoice, errors.New("no run was chosen; nothing was done")}
	}
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(shown) {
		return &shown[n-1], typed, nil
	}
	return meant(shown, typed), typed, nil
}

// meant is the only choice of this run, else the only one whose run's id begins so; nil when there is none, or several.
func meant(shown []choice, typed string) (got *choice) {
	for _, is := range []func(run string) bool{
		func(run string) bool { return run == typed },
		func(run string) bool { return strings.HasPrefix(run, typed) },
	} {
		n := 0
		for i := range shown {
			if is(shown[i].run) {
				got, n = &shown[i], n+1
			}
		}
		if n == 1 {
			return got
		}
		if n > 1 {
			return nil
		}
	}
	return nil
}
