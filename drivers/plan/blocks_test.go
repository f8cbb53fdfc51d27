package plan_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
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
