package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// runChange is one thing in which two runs differ.
type runChange struct {
	// Part is step, or what the runs are made of: driver, plan, input, modules, grants, limits; or outcome.
	part string
	step journal.Step
	name string   // what the step calls
	what []string // of a step: only, tool, module, request, result, outcome, attempts
	only string   // the run that alone has the step
	// of are the texts that differ, by what they are.
	of []textPair
}

type textPair struct{ what, was, now string }

// compareRuns returns how two runs differ: steps in the order of the first run, then those that the second alone has, then what the runs
// are made of.
func compareRuns(a, b *side) (changes []runChange) {
	for _, step := range a.order {
		if c, differs := compareSteps(a, b, step); differs {
			changes = append(changes, c)
		}
	}
	for _, step := range b.order {
		if a.steps[step] == nil {
			changes = append(changes, runChange{part: "step", step: step, name: b.steps[step].name, what: []string{"only"}, only: b.name})
		}
	}
	return append(changes, compareParts(a, b)...)
}

func compareSteps(a, b *side, step journal.Step) (runChange, bool) {
	was, now := a.steps[step], b.steps[step]
	c := runChange{part: "step", step: step, name: was.name}
	if now == nil {
		c.what, c.only = []string{"only"}, a.name
		return c, true
	}
	differs := func(what string, is bool) bool {
		if is {
			c.what = append(c.what, what)
		}
		return is
	}
	if differs("tool", was.name != now.name) {
		c.of = append(c.of, textPair{"tool", was.name + "\n", now.name + "\n"})
	}
	differs("module", was.module != now.module)
	if differs("request", was.digest != now.digest) && was.name == now.name {
		c.of = append(c.of, textPair{"request", was.request.text, now.request.text})
	}
	if differs("outcome", was.outcome != now.outcome) {
		c.of = append(c.of, textPair{"outcome", was.outcome + "\n", now.outcome + "\n"})
	}
	if differs("result", was.result.there && now.result.there && was.result.sum != now.result.sum) {
		c.of = append(c.of, textPair{"result", was.result.text, now.result.text})
	}
	if differs("attempts", was.attempts != now.attempts) {
		c.of = append(c.of, textPair{"attempts", fmt.Sprintln(was.attempts), fmt.Sprintln(now.attempts)})
	}
	return c, len(c.what) > 0
}

// compareParts compares what the runs are made of, and how they ended.
func compareParts(a, b *side) (changes []runChange) {
	ended := func(s *side) string { return s.status + "\n" + s.ended.text }
	for _, p := range []struct {
		part string
		of   func(*side) string
	}{
		{"driver", func(s *side) string { return strings.TrimSpace(s.spec.Driver+" "+s.spec.Version) + "\n" }},
		{"plan", func(s *side) string { return documentText(s.spec.Plan) }},
		{"input", func(s *side) string { return documentText(s.spec.Input) }},
		{"modules", func(s *side) string { return modulesText(s.spec) }},
		{"grants", func(s *side) string { return sideGrants(s) }},
		{"limits", func(s *side) string { b, _ := json.Marshal(s.spec.Limits); return documentText(b) }},
		{"outcome", ended},
	} {
		if was, now := p.of(a), p.of(b); was != now || p.part == "outcome" && a.ended.sum != b.ended.sum {
			changes = append(changes, runChange{part: p.part, of: []textPair{{p.part, was, now}}})
		}
	}
	return changes
}

// documentText is a text, or JSON on lines of its own.
func documentText(doc []byte) string {
	if len(doc) == 0 {
		return ""
	}
	return indented(doc)
}

func modulesText(s *runtime.Spec) string {
	var lines []string
	for _, m := range s.Modules {
		lines = append(lines, fmt.Sprintf("%s %s, digest %s\n", m.Name, m.Manifest.Version, m.Digest))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func sideGrants(s *side) string {
	lines := grantWords(s.grants)
	for _, m := range s.spec.Modules {
		for _, w := range grantWords(m.Grants) {
			lines = append(lines, w+" (to "+m.Name+" alone)")
		}
	}
	if slices.Sort(lines); len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
