package plan_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// fails runs a plan of the steps given, which must fail, and returns its calls and its error.
func fails(t *testing.T, steps, input string, c *fakeCaller) error {
	t.Helper()
	out, err := mustParse(t, "tools: {a: a.wasm}\n"+steps).Run(t.Context(), c, []byte(input))
	if err == nil {
		t.Fatalf("run\n%s\nreturned %s, want an error", steps, out)
	}
	return err
}

func sorted(calls []string) []string { return slices.Sorted(slices.Values(calls)) }

func TestABlockIsExecutedUnderOneCondition(t *testing.T) {
	const steps = `
steps:
  - id: paid
    if: ${ .input > 0 }
    steps:
      - {id: charge, tool: a.b, with: "${ .input }"}
      - {id: receipt, tool: a.b, with: "${ .charge }"}
    else:
      - {id: remind, tool: a.b}
  - {id: end, tool: a.b, with: ["${ .paid }", "${ .charge }", "${ .receipt }", "${ .remind }"]}
`
	calls, _ := run(t, steps, "5", `{"charge": 1, "receipt": 2, "remind": 3}`)
	if want := []string{"charge a.b 5", "receipt a.b 1", "end a.b [2,1,2,null]"}; !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	calls, _ = run(t, steps, "0", `{"charge": 1, "receipt": 2, "remind": 3}`)
	if want := []string{"remind a.b {}", "end a.b [3,null,null,3]"}; !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	calls, output := run(t, "steps: [{id: x, tool: a.b}, {id: none, if: false, steps: [{id: y, tool: a.b}]}]", "", `{"x": 7}`)
	if len(calls) != 1 || output != "7" {
		t.Errorf("calls %q, output %s: a block that is skipped has no output", calls, output)
	}
}

func TestAFailureIsHandledBySteps(t *testing.T) {
	tool := &toolabi.Error{Code: toolabi.Failed, Message: "card declined", Detail: "card", Effect: toolabi.EffectApplied}
	for _, c := range []struct {
		steps, output string
		errs          map[string]error
		want          []string
	}{
		{
			steps: `[{id: x, tool: a.b, on_error: [{id: y, tool: a.c, with: "${ .error }"}]}, {id: z, tool: a.b, with: ["${ .x }", "${ .y }"]}]`,
			want:  []string{"x a.b {}", `y a.c {"code":"failed","detail":"card","effect":"applied","message":"card declined","step":"x"}`, `z a.b ["Y","Y"]`},
		},
		{
			steps: `[{id: x, tool: a.b, on_error: continue}, {id: z, tool: a.b, with: "${ .x }"}]`,
			want:  []string{"x a.b {}", `z a.b {"error":{"code":"failed","detail":"card","effect":"applied","message":"card declined","step":"x"}}`},
		},
		{ // what the block did until then is known
			steps: `[{id: all, steps: [{id: y, tool: a.b}, {id: x, tool: a.b}, {id: never, tool: a.b}], on_error: [{id: z, tool: a.b, with: ["${ .y }", "${ .x }", "${ .never }", "${ .error.step }"]}]}, {id: e, tool: a.b, with: "${ .all }"}]`,
			want:  []string{"y a.b {}", "x a.b {}", `z a.b ["Y",null,null,"x"]`, "e a.b null"},
		},
		{ // also of a branch
			steps: `[{parallel: [[{id: y, tool: a.b}, {id: x, tool: a.b}]], on_error: [{id: z, tool: a.b, with: ["${ .y }", "${ .x }"]}]}]`,
			want:  []string{"y a.b {}", "x a.b {}", `z a.b ["Y",null]`},
		},
		{ // an error inside of what handles one
			steps: `[{id: x, tool: a.b, on_error: [{steps: [{id: x2, tool: a.b}], on_error: [{id: y, tool: a.b, with: "${ .error.step }"}]}, {id: z, tool: a.b, with: "${ .error.step }"}]}]`,
			want:  []string{"x a.b {}", "x2 a.b {}", `y a.b "x2"`, `z a.b "x"`},
		},
		{ // no failure
			steps: `[{id: y, tool: a.b, on_error: [{id: z, tool: a.b}]}, {id: e, tool: a.b, with: "${ [.y, .z] }"}]`,
			want:  []string{"y a.b {}", `e a.b ["Y",null]`},
		},
		{ // the condition is part of the step, and so is the input
			steps: `[{id: y, tool: a.b, if: "${ .input.a }", on_error: [{id: z, tool: a.b, with: "${ .error | [.code, .detail, .step] }"}]},
			  {id: e, tool: a.b, with: "${ 1 / .input }", on_error: continue}]`,
			want: []string{`z a.b ["failed","expression","y"]`},
		},
		{ // a denial
			steps: `[{id: ask, approve: "may I?", on_error: [{id: z, tool: a.b, with: "${ .error.code }"}]}]`,
			errs:  map[string]error{"ask": toolabi.NewError(toolabi.Denied, "no")},
			want:  []string{`ask approve "may I?"  0s`, `z a.b "denied"`},
		},
	} {
		f := &fakeCaller{errs: map[string]error{"x": tool, "x2": tool}, answers: answers(t, `{"y": "Y"}`)}
		if c.errs != nil {
			f.errs = c.errs
		}
		_, err := mustParse(t, "tools: {a: a.wasm}\nsteps: "+c.steps).Run(t.Context(), f, []byte("0"))
		if err != nil || !reflect.DeepEqual(f.calls, c.want) {
			t.Errorf("%s\nmade the calls %q, %v\nwant %q", c.steps, f.calls, err, c.want)
		}
	}
}

func TestWhatHandlesAFailureCanFail(t *testing.T) {
	f := &fakeCaller{errs: map[string]error{"x": toolabi.NewError(toolabi.Failed, "first"), "y": toolabi.NewError(toolabi.Failed, "second")}}
	err := fails(t, `steps: [{id: x, tool: a.b, on_error: [{id: y, tool: a.b}]}, {id: z, tool: a.b}]`, "", f)
	if want := "step y (a.b): failed: second"; err.Error() != want || len(f.calls) != 2 {
		t.Errorf("got %v after %q, want %s", err, f.calls, want)
	}
}

// limit stands for a reason to stop that wraps what looks like an outcome.
type limit struct{ err *toolabi.Error }

func (l *limit) Error() string { return "limit reached: " + l.err.Error() }
func (l *limit) Unwrap() error { return l.err }

func TestWhatStopsTheRunCannotBeHandled(t *testing.T) {
	for _, stop := range []error{errors.New("outcome unknown"), &limit{toolabi.NewError(toolabi.LimitTime, "late")}} {
		for _, steps := range []string{
			`[{id: x, tool: a.b, on_error: continue}]`,
			`[{id: x, approve: "?", on_error: continue}]`,
			`[{id: x, sleep: 1s, on_error: continue}]`,
			`[{id: x, sleep: {until: "2027-01-01T00:00:00Z"}, on_error: continue}]`,
			`[{steps: [{id: x, tool: a.b}], on_error: [{id: y, tool: a.b}]}]`,
			`[{parallel: [{id: x, tool: a.b}, {id: y, tool: a.b}], on_error: continue}]`,
			`[{for_each: [1], steps: [{id: x, tool: a.b}], on_error: continue}]`,
			`[{id: a, tool: a.b, on_error: [{id: x, tool: a.b, on_error: continue}]}]`,
		} {
			f := &fakeCaller{errs: map[string]error{"x": stop, "x[0]": stop, "a": toolabi.NewError(toolabi.Failed, "")}}
			if err := fails(t, "steps: "+steps, "", f); err != stop {
				t.Errorf("%s: got %v, want %v itself", steps, err, stop)
			}
		}
	}
}

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

func TestALoopDoesItsStepsForEachItem(t *testing.T) {
	calls, output := run(t, `
steps:
  - {id: find, tool: a.b}
  - id: orders
    for_each: ${ .find }
    as: order
    index: n
    steps:
      - {id: charge, if: "${ .order.sum > 0 }", tool: a.b, with: ["${ .n }", "${ .order.sum }"]}
      - for_each: ${ .order.lines }
        steps: [{id: line, tool: a.b, with: ["${ .n }", "${ .item }", "${ .charge == null }"]}]
  - {id: none, for_each: [], steps: [{id: never, tool: a.b}]}
output: ["${ .orders }", "${ .none }"]
`, "", `{"find": [{"sum": 5, "lines": ["a", "b"]}, {"sum": 0, "lines": []}, {"sum": 7, "lines": ["c"]}], "line[0][1]": "L", "charge[0]": 1, "charge[2]": 2}`)
	want := []string{
		"find a.b {}", "charge[0] a.b [0,5]", `line[0][0] a.b [0,"a",false]`, `line[0][1] a.b [0,"b",false]`,
		"charge[2] a.b [2,7]", `line[2][0] a.b [2,"c",false]`,
	}
	if !reflect.DeepEqual(calls, want) {
		t.Errorf("calls\n%q\nwant\n%q", calls, want)
	}
	if want := `[[[null,"L"],[],[null]],[]]`; output != want {
		t.Errorf("output %s, want %s", output, want)
	}
}

func TestARoundOfWhichNothingIsExecutedGivesNull(t *testing.T) {
	_, output := run(t, `steps: [{for_each: [1, 2, 3], limit: 2, steps: [{id: x, tool: a.b, if: "${ .item != 2 }", with: "${ .item }"}]}]`,
		"", `{"x[0]": "a", "x[2]": "c"}`)
	if want := `["a",null,"c"]`; output != want {
		t.Errorf("output %s, want %s", output, want)
	}
}

// The rounds up to one limit behind the first failure are begun, whatever is faster.
func TestALoopEndsWithItsFirstFailure(t *testing.T) {
	for limit, want := range map[string][]string{
		"1": {"x[0]", "x[1]"},
		"3": {"x[0]", "x[1]", "x[2]", "x[3]"},
	} {
		f := &fakeCaller{errs: map[string]error{"x[1]": toolabi.NewError(toolabi.Failed, "one"), "x[3]": toolabi.NewError(toolabi.Failed, "three")}}
		err := fails(t, `steps: [{for_each: [0, 1, 2, 3, 4, 5], limit: `+limit+`, steps: [{id: x, tool: a.b}]}]`, "", f)
		if want := "step x[1] (a.b): failed: one"; err.Error() != want {
			t.Errorf("limit %s: got %v, want %s", limit, err, want)
		}
		var begun []string
		for _, c := range f.calls {
			begun = append(begun, strings.Fields(c)[0])
		}
		if got := sorted(begun); !reflect.DeepEqual(got, want) {
			t.Errorf("limit %s: begun %q, want %q", limit, got, want)
		}
	}
}

func TestWhatIsNoListIsRefusedWithItsLine(t *testing.T) {
	for input, want := range map[string]string{
		`null`:      `"for_each" needs a list, the expression gives null`,
		`{"a":[1]}`: `"for_each" needs a list, the expression gives an object`,
		`"abc"`:     `"for_each" needs a list, the expression gives text`,
		`3`:         `"for_each" needs a list, the expression gives a number`,
		`true`:      `"for_each" needs a list, the expression gives true or false`,
		`[` + strings.Repeat("0,", plan.MaxItems) + `0]`: `"for_each" gets 10001 items; at most 10000 are allowed`,
		`[` + strings.Repeat("0,", 999_999) + `0]`:       `"for_each" gets 1000000 items; at most 10000 are allowed`,
	} {
		f := &fakeCaller{}
		err := fails(t, "steps:\n  - id: l\n    for_each: ${ .input }\n    steps: [{id: x, tool: a.b}]", input, f)
		if want := "step l: failed (value): line 4: " + want; err.Error() != want || len(f.calls) != 0 {
			t.Errorf("input %.20s: got %v after %d calls, want %s", input, err, len(f.calls), want)
		}
		err = fails(t, "steps:\n  - for_each: ${ .input }\n    steps: [{id: x, tool: a.b}]", input, f)
		if want := "failed (value): line 3: " + want; err.Error() != want {
			t.Errorf("input %.20s: got %v, want %s", input, err, want)
		}
	}
}

func TestLoopsInLoopsMakeOnlySoManyRounds(t *testing.T) {
	const steps = `steps: [{id: o, for_each: "${ [range(.input)] }", as: a, steps: [{id: i, for_each: "${ [range(1000)] }", as: b, steps: [{id: x, if: false, sleep: 1s}]}]}]`
	if _, output := run(t, steps+"\noutput: '${ .o | length }'", "100", ""); output != "100" {
		t.Errorf("output %s", output)
	}
	err := fails(t, steps, "101", &fakeCaller{})
	if want := "step i[0]: failed (value): line 2: this loop would make 101000 rounds with those around it; at most 100000 are allowed"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatIsPutTogetherIsBounded(t *testing.T) {
	large := json.RawMessage(`"` + strings.Repeat("x", 6<<20) + `"`)
	f := &fakeCaller{answers: map[string]json.RawMessage{"x[0]": large, "x[1]": large, "x[2]": large}}
	const steps = `steps: [{id: l, for_each: [1, 2, 3], limit: 3, steps: [{id: x, tool: a.b}]}, {id: y, tool: a.b}]`
	err := fails(t, steps, "", f)
	if want := "step l: too_large: the list of the results: as JSON it has more than 16777216 bytes"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// Nobody looks at it.
	if _, err := mustParse(t, "tools: {a: a.wasm}\n"+steps+"\noutput: 1").Run(t.Context(), f, nil); err != nil {
		t.Error(err)
	}
}

func TestABrokenAnswerDoesNotBreakTheList(t *testing.T) {
	f := &fakeCaller{answers: map[string]json.RawMessage{"x[1]": json.RawMessage("1,2"), "x[2]": json.RawMessage("")}}
	err := fails(t, `steps: [{id: l, for_each: [1, 2, 3], limit: 3, steps: [{id: x, tool: a.b}]}]`, "", f)
	if want := "step l: failed (output): the output of number 1 is no JSON"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
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

func TestTheCallsOfAPlanAreThoseInsideOfItsBlocksToo(t *testing.T) {
	p := mustParse(t, `
tools: {a: a.wasm}
steps:
  - if: ${ .input }
    steps: [{id: one, tool: a.one, with: 1}]
    else: [{id: two, tool: a.two, with: "${ .input }"}]
  - parallel: [{id: three, tool: a.three}, [{id: four, tool: a.four}]]
    on_error: [{id: five, tool: a.five}]
  - for_each: [1]
    steps: [{id: six, tool: a.six, retry: {attempts: 2}, on_error: [{id: seven, tool: a.one, with: [2]}]}]
  - {id: ask, approve: "?"}
  - {id: wait, sleep: 1s}
`)
	want := []plan.Call{
		{Step: "one", Tool: "a.one", Input: []byte("1")}, {Step: "two", Tool: "a.two"}, {Step: "three", Tool: "a.three", Input: []byte("{}")},
		{Step: "four", Tool: "a.four", Input: []byte("{}")}, {Step: "five", Tool: "a.five", Input: []byte("{}")},
		{Step: "six", Tool: "a.six", Input: []byte("{}")}, {Step: "seven", Tool: "a.one", Input: []byte("[2]")},
	}
	if got := p.Calls(); !reflect.DeepEqual(got, want) {
		t.Errorf("calls\n%s\nwant\n%s", got, want)
	}
	if got, want := p.Tools(), []string{"a.five", "a.four", "a.one", "a.six", "a.three", "a.two"}; !reflect.DeepEqual(got, want) {
		t.Errorf("tools %q, want %q", got, want)
	}
}
