package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// The exit codes of wrun that a trial may see.
const (
	exitSuspended = 3
	exitUncertain = 4
	exitMissing   = 10
	exitBusy      = 11
)

// entry is a line of "wrun log --json".
type entry struct {
	Kind, Step, Name, Class, Key, Outcome, Effect string
	Body                                          json.RawMessage

	line string
}

// thinks says whether the entry belongs to a request to the model.
func (e entry) thinks() bool { return e.Name == "model" }

// readLog returns the log of a run, nothing when there is no such run.
func readLog(ctx context.Context, p trials.Program, run string) ([]entry, error) {
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

// changed counts the entries that were in a log before and are not in it, as they were, now.
func changed(before, now []entry) (n int) {
	for i, e := range before {
		if i >= len(now) || now[i].line != e.line {
			n++
		}
	}
	return n
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

// inDoubt returns the open effects that must not be repeated, and questions those that somebody is asked.
func inDoubt(log []entry) []entry {
	return slices.DeleteFunc(open(log), func(e entry) bool { return e.Class != "once" })
}

func questions(log []entry) []entry {
	return slices.DeleteFunc(open(log), func(e entry) bool { return !strings.HasSuffix(e.Step, "?") })
}

func has(log []entry, kind string) bool {
	return slices.ContainsFunc(log, func(e entry) bool { return e.Kind == kind })
}

// fromLog counts, by keys, the answers that are recorded, and the requests without one: those that were open when a process took
// the run over or that are open now, and the attempts that failed and may have been worked on.
func fromLog(log []entry) (recorded, unanswered map[string]int) {
	recorded, unanswered = map[string]int{}, map[string]int{}
	keys, waiting := map[string]string{}, map[string]bool{}
	left := func() {
		for step := range waiting {
			unanswered[keys[step]]++
		}
	}
	for _, e := range log {
		switch {
		case e.Kind == "claimed":
			left()
		case !e.thinks():
		case e.Kind == "intent":
			keys[e.Step], waiting[e.Step] = e.Key, true
		case e.Kind == "result" || e.Kind == "late":
			delete(waiting, e.Step)
			if e.Outcome == "ok" {
				recorded[keys[e.Step]]++
			} else if e.Effect != "none" {
				unanswered[keys[e.Step]]++
			}
		}
	}
	left()
	return recorded, unanswered
}
