package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is a line of "wrun log --json".
type entry struct {
	Seq     int
	Time    time.Time
	Kind    string
	Step    string
	Class   string
	Key     string
	Module  string
	Outcome string
	SendBy  time.Time `json:"send_by"`
	By      string
	Body    json.RawMessage

	line string
}

// once says whether the entry belongs to an effect that must not be repeated.
func (e entry) once() bool { return e.Class == "once" }

// effect says whether the entry belongs to what reaches the world, repeated or not.
func (e entry) effect() bool { return e.Class == "once" || e.Class == "effect" }

// first is the step without its attempts.
func (e entry) first() string { return attempts.ReplaceAllString(e.Step, "") }

var attempts = regexp.MustCompile(`~[0-9]+`)

// readLog returns the log of a run, nothing when there is no such run.
func (p Program) readLog(ctx context.Context, run string) ([]entry, error) {
	exit, err := p.Run(ctx, "--json", "log", run)
	switch {
	case err != nil:
		return nil, err
	case exit.Code == exitMissing:
		return nil, nil
	case exit.Code != 0:
		return nil, fmt.Errorf("log of %s: exit code %d\n%s", run, exit.Code, exit.Stderr)
	}
	var log []entry
	for line := range strings.Lines(exit.Stdout) {
		e := entry{line: line}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("log of %s: %w in %s", run, err, line)
		}
		log = append(log, e)
	}
	return log, nil
}

// changed returns the entries that were in a log before and are not in it, as they were, now.
func changed(before, now []entry) []entry {
	var lost []entry
	for i, e := range before {
		if i >= len(now) || now[i].line != e.line {
			lost = append(lost, e)
		}
	}
	return lost
}

// open returns the steps that have an intent and neither result nor void, in the order of their intents.
func open(log []entry) []entry {
	var steps []entry
	for _, e := range log {
		switch e.Kind {
		case "intent":
			steps = append(steps, e)
		case "result", "void":
			steps = slices.DeleteFunc(steps, func(o entry) bool { return o.Step == e.Step })
		}
	}
	return steps
}

// openEffects returns the open steps that may have reached the world.
func openEffects(log []entry) []entry {
	return slices.DeleteFunc(open(log), func(e entry) bool { return !e.effect() })
}

// inDoubt returns the open effects that must not be repeated.
func inDoubt(log []entry) []entry {
	return slices.DeleteFunc(open(log), func(e entry) bool { return !e.once() })
}

// openBelow says whether a step inside of another one is open.
func openBelow(log []entry, step string) bool {
	return slices.ContainsFunc(open(log), func(e entry) bool { return strings.HasPrefix(e.Step, step+"/") })
}

// lastResult returns the result of the last attempt of a step that has one.
func lastResult(log []entry, step string) (last entry, ok bool) {
	for _, e := range log {
		if e.Kind == "result" && e.first() == step {
			last, ok = e, true
		}
	}
	return last, ok
}

// again counts the attempts at calls that followed a failed one.
func again(log []entry) (n int) {
	for _, e := range log {
		if e.Kind == "intent" && strings.Contains(e.Step, "~") && !strings.Contains(e.Step, "/") {
			n++
		}
	}
	return n
}

func has(log []entry, kind string) bool {
	return slices.ContainsFunc(log, func(e entry) bool { return e.Kind == kind })
}
