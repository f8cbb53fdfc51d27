package plan_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestBranchesSeeWhatWasBeforeAndAreSeenBehind(t *testing.T) {
	calls, output := run(t, `
steps:
  - {id: x, tool: a.b}
  - id: both
    parallel:
      - {id: y, tool: a.b, with: "${ .x }"}
      - - {id: z, tool: a.b, with: "${ .x }"}
        - {id: w, tool: a.b, with: "${ .z }"}
      - {id: none, tool: a.b, if: false}
  - {id: end, tool: a.b, with: "${ [.both, .y, .z, .w, .none] }"}
`, "", `{"x": 1, "y": {"b":1.0}, "z": 3, "w": 4, "end": 5}`)
	want := []string{`end a.b [[{"b":1.0},4,null],{"b":1.0},3,4,null]`, "w a.b 3", "x a.b {}", "y a.b 1", "z a.b 1"}
	if !reflect.DeepEqual(sorted(calls), want) || output != "5" {
		t.Errorf("calls %q, output %s, want %q, 5", sorted(calls), output, want)
	}
	if _, output := run(t, "steps: [{parallel: [{id: x, tool: a.b}, {id: y, tool: a.b}]}]", "", `{"x": {"b": 1.00}, "y": [ ]}`); output != `[{"b": 1.00},[ ]]` {
		t.Errorf("output %s", output)
	}
}

// meeting is a place at which n steps have to be at the same time before any of them goes on.
func meeting(n int) func(journal.Step) {
	var all sync.WaitGroup
	all.Add(n)
	return func(journal.Step) {
		all.Done()
		all.Wait()
	}
}

func TestBranchesAndRoundsAreDoneAtOnce(t *testing.T) {
	for _, steps := range []string{
		"[{parallel: [{id: x, tool: a.b}, {id: y, tool: a.b}, {id: z, tool: a.b}]}]",
		"[{for_each: [1, 2, 3], limit: 3, steps: [{id: x, tool: a.b}]}]",
		"[{parallel: [{for_each: [1, 2], limit: 2, steps: [{id: x, tool: a.b}]}, {id: y, tool: a.b}]}]",
	} {
		f := &fakeCaller{hold: meeting(3)}
		if _, err := mustParse(t, "tools: {a: a.wasm}\nsteps: "+steps).Run(t.Context(), f, nil); err != nil || len(f.calls) != 3 {
			t.Errorf("%s: calls %q, %v", steps, f.calls, err)
		}
	}
}

func TestNoMoreAreDoneAtOnceThanTheLimit(t *testing.T) {
	for steps, want := range map[string]int{
		"[{limit: 2, parallel: [{id: a, tool: a.b}, {id: b, tool: a.b}, {id: c, tool: a.b}, {id: d, tool: a.b}]}]": 2,
		"[{limit: 1, parallel: [{id: a, tool: a.b}, {id: b, tool: a.b}]}]":                                         1,
		"[{for_each: [1, 2, 3, 4, 5, 6], limit: 3, steps: [{id: x, tool: a.b}]}]":                                  3,
		"[{for_each: [1, 2, 3], steps: [{id: x, tool: a.b}]}]":                                                     1,
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			now, most := 0, 0
			f := &fakeCaller{hold: func(journal.Step) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(time.Second) // until nothing else can happen
				mu.Lock()
				now--
				mu.Unlock()
			}}
			_, err := mustParse(t, "tools: {a: a.wasm}\nsteps: "+steps).Run(t.Context(), f, nil)
			if err != nil || most != want {
				t.Errorf("%s: %d at once, %v, want %d", steps, most, err, want)
			}
		})
	}
}

func TestTheFirstFailureInThePlanCounts(t *testing.T) {
	first, second := toolabi.NewError(toolabi.Failed, "first"), toolabi.NewError(toolabi.Failed, "second")
	failed := make(chan struct{})
	f := &fakeCaller{errs: map[string]error{"x2": first, "y": second}, hold: func(step journal.Step) {
		switch step {
		case "y":
			close(failed) // it fails before the branch before it has begun its second step
		case "x":
			<-failed
		}
	}}
	err := fails(t, "steps: [{parallel: [[{id: x, tool: a.b}, {id: x2, tool: a.b}], {id: y, tool: a.b}]}]", "", f)
	if step := (*plan.StepError)(nil); !errors.As(err, &step) || step.Step != "x2" || step.Err != error(first) {
		t.Errorf("got %v, want the failure of x2", err)
	}
}

// A run that waits is not decided: a failure beside it must not be handled before it is known how the rest ends.
func TestAStopCountsMoreThanAFailure(t *testing.T) {
	one, two := errors.New("waits"), errors.New("waits too")
	f := &fakeCaller{errs: map[string]error{"x": toolabi.NewError(toolabi.Failed, "no"), "y": one, "z": two}}
	steps := "steps: [{parallel: [{id: x, tool: a.b}, {id: y, tool: a.b}, {id: z, tool: a.b}, [{id: v, tool: a.b}, {id: w, tool: a.b}]], on_error: continue}]"
	if err := fails(t, steps, "", f); err != one {
		t.Errorf("got %v, want %v", err, one)
	}
	if len(f.calls) != 5 {
		t.Errorf("calls %q: the others go on as far as they can", f.calls)
	}
}

func TestAPanicInABranchReachesWhoeverWaits(t *testing.T) {
	f := &fakeCaller{hold: func(step journal.Step) {
		if step == "y" {
			panic("broken caller")
		}
	}}
	defer func() {
		if got := recover(); got != "broken caller" || len(f.calls) != 2 {
			t.Errorf("recovered %v after %q", got, f.calls)
		}
	}()
	mustParse(t, "tools: {a: a.wasm}\nsteps: [{parallel: [{id: x, tool: a.b}, {id: y, tool: a.b}]}]").Run(t.Context(), f, nil)
}

func TestAnExpressionInABranchOrRoundSeesTheWholeContext(t *testing.T) {
	calls, _ := run(t, `
steps:
  - {id: x, tool: a.b}
  - parallel:
      - - {id: y, tool: a.b}
        - for_each: [7]
          steps: [{id: z, tool: a.b}, {id: w, tool: a.b, with: "${ . }"}]
`, "1", `{"x": 2, "y": 3, "z[0]": 4}`)
	if want := `w[0] a.b {"input":1,"item":7,"x":2,"y":3,"z":4}`; calls[len(calls)-1] != want {
		t.Errorf("got %s, want %s", calls[len(calls)-1], want)
	}
}
