package tooltest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// CrashOptions say how much of a declaration is tested.
type CrashOptions struct {
	// Points is how many of the moments are visited, drawn with Seed; 0 means all.
	Points int
	Seed   uint64
}

// CrashReport is what came of testing a tool's declaration with one case.
type CrashReport struct {
	Case    string `json:"case"`
	Tool    string `json:"tool"`
	Promise string `json:"promise"`
	// Moments is how many were visited, Of how many there are, Seed what they were drawn with; 0 where all were.
	Moments int    `json:"moments"`
	Of      int    `json:"of"`
	Seed    uint64 `json:"seed,omitempty"`
	// Effects is how often something acted in all of it, Repeated and Lost how often too often and too rarely.
	Effects  int `json:"effects"`
	Repeated int `json:"repeated"`
	Lost     int `json:"lost"`
	// Uncertain is how often nobody knew what became of an effect, ByLookup how often the tool's look-up told, ByHarness how often the
	// test had to.
	Uncertain int `json:"uncertain"`
	ByLookup  int `json:"settled_by_lookup"`
	ByHarness int `json:"settled_by_harness"`
	// Lies are the promises that the tool does not keep, each once. Notes say what could not be tested.
	Lies  []*Lie   `json:"lies"`
	Notes []string `json:"notes,omitempty"`
}

// Crash tests what the tool of a case declares. The case is played without any fault first; then once more, with other randomness and
// another clock; then it is cut off at each append to its journal and resumed, and each request of it that acts goes wrong; and each
// time what the world saw is held against what the tool declares and against the first time. The error is a fault of the host.
func (b *Bench) Crash(ctx context.Context, f *toolcase.File, c *toolcase.Case, opts CrashOptions) (*CrashReport, error) {
	tool, ok := b.Manifest().Tool(c.Tool)
	if !ok {
		return nil, fmt.Errorf("the module has no tool %q", c.Tool)
	}
	x := &crashing{bench: b, file: f, c: c, world: f.Of(c), report: &CrashReport{Case: c.Name, Tool: c.Tool, Promise: string(tool.Declared()), Lies: []*Lie{}}}
	if b.Manifest().Command != nil {
		x.note("a program is not cut off: what it does in its directories, nobody sees")
		return x.report, nil
	}
	base, err := x.play(ctx, Moment{Kind: Undisturbed}, Setting{})
	if err != nil {
		return nil, err
	}
	if base.stuck != nil {
		x.note("the call does not come to an end by itself: %v", base.stuck)
		return x.report, nil
	}
	again, err := x.play(ctx, Moment{Kind: Again}, Setting{Seed: 1, Later: later})
	if err == nil && !x.world.Clock.IsZero() && !again.resembles(base) { // what the case is about depends on its clock
		again, err = x.play(ctx, Moment{Kind: Again}, Setting{Seed: 1})
	}
	if err != nil {
		return nil, err
	}
	anew, err := x.play(ctx, Moment{Kind: Anew}, Setting{OtherStart: true})
	if err != nil {
		return nil, err
	}
	x.jury = newJury(tool, x.world, base, again)
	x.found(x.jury.acts(base, done{}), x.jury.twice(again), x.jury.sameNames(again, anew))
	if err := x.undoing(ctx, tool); err != nil {
		return nil, err
	}
	all := x.moments(base)
	some := sample(all, opts.Points, opts.Seed)
	if x.report.Of, x.report.Moments = len(all), len(some); len(some) < len(all) {
		x.report.Seed = opts.Seed
	}
	for _, m := range some {
		if err := x.visit(ctx, m); err != nil {
			return nil, err
		}
	}
	return x.report, nil
}

// crashing is a case whose tool's declaration is tested.
type crashing struct {
	bench  *Bench
	file   *toolcase.File
	c      *toolcase.Case
	world  *world.World
	jury   *jury
	report *CrashReport
}

// moments are what can be done to a call, from one that nobody disturbed.
func (x *crashing) moments(base *trial) (all []Moment) {
	for i, entries := range base.appends {
		for _, after := range []bool{false, true} {
			all = append(all, Moment{Kind: Dies, Append: i + 1, After: after, About: about(entries)})
		}
	}
	for i, e := range base.sent() {
		faults := []world.Fault{world.LostReply, world.Refused, world.Hangs}
		if e.Kind == world.KindMail {
			faults = faults[:2]
		}
		for _, f := range faults {
			if e.Fault == world.NoFault { // else the case has a fault of its own there
				all = append(all, Moment{Kind: GoesWrong, Request: i + 1, Fault: f, About: whatWas(e.Event)})
			}
		}
	}
	return all
}

// about says what an append writes.
func about(entries []journal.Entry) string {
	var words []string
	for _, e := range entries {
		word := e.Kind.String()
		if e.Step != "" {
			word = string(e.Step) + " " + word
		}
		words = append(words, word)
	}
	return toolabi.CleanLine(strings.Join(words, ", "), maxLine)
}

// visit plays the case with something done to it, and judges it.
func (x *crashing) visit(ctx context.Context, m Moment) error {
	t, err := x.play(ctx, m, Setting{})
	if err != nil {
		return err
	}
	r, d := x.report, countEffects(x.jury.effects, t.acted())
	r.Effects += len(t.acted())
	r.Uncertain, r.ByLookup, r.ByHarness = r.Uncertain+t.uncertain(), r.ByLookup+t.byLookup(), r.ByHarness+t.byHarness
	for i, f := range x.jury.effects {
		if !f.sets {
			r.Repeated += max(d.times[i]-f.times, 0)
		}
		if t.unnoticed() {
			r.Lost += max(f.times-d.times[i], 0)
		}
	}
	x.unanswered(t)
	x.found(x.jury.judge(t))
	return nil
}

// unanswered notes what a trial asked for that the world does not have, and that nobody asks for when nothing goes wrong.
func (x *crashing) unanswered(t *trial) {
	for _, e := range t.events() {
		if e.Unexpected && !slices.ContainsFunc(x.jury.base.events(), func(b world.Event) bool { return b.Unexpected && b.Method+b.URL == e.Method+e.URL }) {
			x.note("%s is asked for where something went wrong, and the world of this case has no answer to it (%s)", whatWas(e), e.Why)
		}
	}
}

// found keeps lies, each once: where the same step shows one of the same kind again, it is that one.
func (x *crashing) found(lies ...*Lie) {
	for _, l := range lies {
		if l == nil {
			continue
		}
		i := slices.IndexFunc(x.report.Lies, func(k *Lie) bool {
			return k.Kind == l.Kind && journal.Step(k.Step).WithoutAttempts() == journal.Step(l.Step).WithoutAttempts()
		})
		if i < 0 {
			x.report.Lies = append(x.report.Lies, l)
			continue
		}
		x.report.Lies[i].Moments++
	}
}

func (x *crashing) note(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); !slices.Contains(x.report.Notes, text) {
		x.report.Notes = append(x.report.Notes, text)
	}
}

// undoing lets a call be undone by what the tool names for it.
func (x *crashing) undoing(ctx context.Context, tool toolabi.Tool) error {
	if tool.Compensate == "" || len(x.jury.effects) == 0 {
		return nil
	}
	if !slices.ContainsFunc(x.world.HTTP, func(r *world.Route) bool { return r.Undoes != "" }) {
		x.note("no route of the world undoes another, so that %s is not tested", tool.Compensate)
		return nil
	}
	t, err := x.play(ctx, Moment{Kind: Undone}, Setting{})
	if err != nil {
		return err
	}
	x.found(x.jury.undone(t))
	return nil
}
