package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/toolabi"
)

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
	if want := "step l: too_large: the list of the results has more than 16777216 bytes as JSON"; err.Error() != want {
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
