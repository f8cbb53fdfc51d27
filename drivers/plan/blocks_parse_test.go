package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
)

func TestWhatIsWrongInABlockIsSaidWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{
		{"two kinds", "- {id: x, tool: a.b, approve: hm}", `line 3, column 31: step x: a step does one thing: "approve" does not go with "tool"`},
		{"steps beside a tool", "- {id: x, tool: a.b, steps: []}", `line 3, column 29: step x: a step does one thing: "steps" does not go with "tool"`},
		{"parallel loop", "- {parallel: [{id: x, tool: a.b}], for_each: [1], steps: [{id: y, tool: a.b}]}", `line 3, column 46: a step does one thing: "for_each" does not go with "parallel"` + "\n" + `line 3, column 58: a step does one thing: "steps" does not go with "parallel"`},
		{"with beside a pause", "- {id: x, sleep: 1s, with: 1}", `line 3, column 22: step x: unknown field "with"`},
		{"else beside a tool", "- {id: x, tool: a.b, if: true, else: []}", `line 3, column 32: step x: unknown field "else"`},
		{"else without if", "- {steps: [{id: x, tool: a.b}], else: [{id: y, tool: a.b}]}", `line 3, column 39: "else" needs an "if"`},
		{"empty block", "- steps: []", `line 3, column 10: "steps" has 0 steps; 1 to 10000 are allowed`},
		{"empty else", "- {if: true, steps: [{id: x, tool: a.b}], else: []}", `line 3, column 49: "else" has 0 steps; 1 to 10000 are allowed`},
		{"block no list", "- steps: {id: x, tool: a.b}", `line 3, column 10: "steps" has to be a list, this is a mapping`},
		{"on_error word", "- {id: x, tool: a.b, on_error: ignore}", `line 3, column 32: step x: "on_error" has to be continue or a list of steps, this is "ignore"`},
		{"on_error one step", "- {id: x, tool: a.b, on_error: {id: y, tool: a.b}}", `line 3, column 32: step x: "on_error" has to be continue or a list of steps, this is a mapping`},
		{"on_error empty", "- {id: x, tool: a.b, on_error: []}", `line 3, column 32: step x: "on_error" has 0 steps; 1 to 10000 are allowed`},
		{"no id, pause", "- sleep: 5m", `line 3, column 3: a step needs "id"`},
		{"no id, approval", "- approve: hm", `line 3, column 3: a step needs "id"`},
		{"no id, inside", "- steps: [{tool: a.b}]", `line 3, column 11: a step needs "id"`},
		{"id twice, in branches", "- parallel: [{id: x, tool: a.b}, {id: x, tool: a.b}]", `line 3, column 39: step x: the id "x" is there twice; the first is on line 3`},
		{"id twice, in a loop", "- {id: x, tool: a.b}\n- for_each: [1]\n  steps: [{id: x, tool: a.b}]", `line 5, column 16: step x: the id "x" is there twice; the first is on line 3`},
		{"id twice, block and step", "- {id: x, steps: [{id: x, tool: a.b}]}", `line 3, column 24: step x: the id "x" is there twice; the first is on line 3`},
		{"id twice, else", "- {if: true, steps: [{id: x, tool: a.b}], else: [{id: x, tool: a.b}]}", `line 3, column 55: step x: the id "x" is there twice; the first is on line 3`},

		{"sibling before", "- parallel: [{id: x, tool: a.b}, {id: y, tool: a.b, with: '${ .x }'}]", `line 3, column 59: step y: ${ .x }: .x is in another branch, on line 3; branches run at once and do not see each other`},
		{"sibling behind", "- parallel: [{id: x, tool: a.b, with: '${ .y }'}, [{id: y, tool: a.b}]]", `line 3, column 39: step x: ${ .y }: .y is in another branch, on line 3; branches run at once and do not see each other`},
		{"sibling, deep", "- parallel: [{id: x, tool: a.b}, {for_each: [1], steps: [{id: y, if: '${ .x }', sleep: 1s}]}]", `line 3, column 70: step y: ${ .x }: .x is in another branch, on line 3; branches run at once and do not see each other`},
		{"other side", "- {if: true, steps: [{id: x, tool: a.b}], else: [{id: y, tool: a.b, with: '${ .x }'}]}", `line 3, column 75: step y: ${ .x }: .x is on the other side of the condition, on line 3; only one of the two is executed`},
		{"other side, before", "- {if: true, steps: [{id: x, tool: a.b, with: '${ .y }'}], else: [{id: y, tool: a.b}]}", `line 3, column 47: step x: ${ .y }: .y is on the other side of the condition, on line 3; only one of the two is executed`},
		{"into a loop", "- for_each: [1]\n  steps: [{id: x, tool: a.b}]\n- {id: y, tool: a.b, with: '${ .x }'}", `line 5, column 28: step y: ${ .x }: .x is inside the loop on line 3, and known only there; the id of the loop stands for the list of its results`},
		{"into a loop, handling", "- for_each: [1]\n  steps: [{id: x, tool: a.b}]\n  on_error: [{id: y, tool: a.b, with: '${ .x }'}]", `line 5, column 39: step y: ${ .x }: .x is inside the loop on line 3, and known only there; the id of the loop stands for the list of its results`},
		{"into a later loop", "- {id: y, tool: a.b, with: '${ .x }'}\n- for_each: [1]\n  steps: [{id: x, tool: a.b}]", `line 3, column 28: step y: ${ .x }: .x is a later step, on line 5; only steps before this one are known`},
		{"block around", "- {id: x, steps: [{id: y, tool: a.b, with: '${ .x }'}]}", `line 3, column 44: step y: ${ .x }: .x is the step around this one, on line 3; its output is known behind it`},
		{"what is handled", "- {id: x, tool: a.b, on_error: [{id: y, tool: a.b, with: '${ .x }'}]}", `line 3, column 58: step y: ${ .x }: .x is the step around this one, on line 3; its output is known behind it`},
		{"condition into the block", "- {if: '${ .x }', steps: [{id: x, tool: a.b}]}", `line 3, column 8: ${ .x }: .x is a later step, on line 3; only steps before this one are known`},
		{"item outside", "- for_each: [1]\n  steps: [{id: x, tool: a.b}]\n- {id: y, tool: a.b, with: '${ .item }'}", `line 5, column 28: step y: ${ .item }: .item is neither .input nor a step before`},
		{"item in the list", "- for_each: '${ .item }'\n  steps: [{id: x, tool: a.b}]", `line 3, column 13: ${ .item }: .item is neither .input nor a step before`},
		{"item with another name", "- for_each: [1]\n  as: order\n  steps: [{id: x, tool: a.b, with: '${ .item }'}]", `line 5, column 36: step x: ${ .item }: .item is neither .input nor a step before`},
		{"typo of an item", "- for_each: [1]\n  as: order\n  steps: [{id: x, tool: a.b, with: '${ .ordre }'}]", `line 5, column 36: step x: ${ .ordre }: .ordre is neither .input nor a step before; did you mean "order"?`},
		{"error outside", "- {id: x, tool: a.b, on_error: [{id: y, tool: a.b}]}\n- {id: z, tool: a.b, with: '${ .error }'}", `line 4, column 28: step z: ${ .error }: .error is neither .input nor a step before`},
		{"item in item", "- for_each: [1]\n  steps: [{for_each: [1], steps: [{id: x, tool: a.b}]}]", `line 4, column 11: there is a .item already, of the loop on line 3`},
		{"index like item", "- for_each: [1]\n  index: item\n  steps: [{id: x, tool: a.b}]", `line 4, column 10: there is a .item already, of the loop on line 3`},
		{"item like a step", "- for_each: [1]\n  steps: [{id: x, tool: a.b}]\n- {id: item, tool: a.b}", `line 3, column 3: there is a step "item", on line 5, and .item has to be something else here`},
		{"as like a step", "- for_each: [1]\n  as: x\n  steps: [{id: x, tool: a.b}]", `line 4, column 7: there is a step "x", on line 5, and .x has to be something else here`},
		{"as input", "- for_each: [1]\n  as: input\n  steps: [{id: x, tool: a.b}]", `line 4, column 7: "as" cannot be "input": .input is the input of the plan`},
		{"as error", "- for_each: [1]\n  as: error\n  steps: [{id: x, tool: a.b}]", `line 4, column 7: "as" cannot be "error": .error is what failed, in the steps of "on_error"`},
		{"as no word", "- for_each: [1]\n  as: an-order\n  steps: [{id: x, tool: a.b}]", `line 4, column 7: "as" has to be a word of letters, digits and _, at most 64, this is "an-order"`},
		{"error like a step", "- {id: error, tool: a.b, on_error: [{id: y, tool: a.b}]}", `line 3, column 36: step error: there is a step "error", on line 3, and .error has to be something else here`},

		{"parallel mapping", "- parallel: {id: x, tool: a.b}", `line 3, column 13: "parallel" has to be a list of branches, this is a mapping`},
		{"no branch", "- parallel: []", `line 3, column 13: "parallel" has 0 branches; 1 to 100 are allowed`},
		{"branch text", "- parallel: [x]", `line 3, column 14: a branch has to be a list, this is "x"`},
		{"branch empty", "- parallel: [[]]", `line 3, column 14: a branch has 0 steps; 1 to 10000 are allowed`},
		{"limit 0", "- {parallel: [{id: x, tool: a.b}], limit: 0}", `line 3, column 43: "limit" has to be a whole number from 1 to 256, this is the number 0`},
		{"limit negative", "- {for_each: [1], limit: -1, steps: [{id: x, tool: a.b}]}", `line 3, column 26: "limit" has to be a whole number from 1 to 256, this is the number -1`},
		{"limit 1e9", "- {for_each: [1], limit: 1e9, steps: [{id: x, tool: a.b}]}", `line 3, column 26: "limit" has to be a whole number from 1 to 256, this is the number 1e9`},
		{"limit 1000000000", "- {for_each: [1], limit: 1000000000, steps: [{id: x, tool: a.b}]}", `line 3, column 26: "limit" has to be a whole number from 1 to 256, this is the number 1000000000`},
		{"limit expression", "- {for_each: [1], limit: '${ 1 }', steps: [{id: x, tool: a.b}]}", `line 3, column 26: "limit" has to be a whole number from 1 to 256, this is "${ 1 }"`},
		{"limits together", "- {for_each: [1], limit: 16, steps: [{for_each: [1], as: j, limit: 17, steps: [{id: x, tool: a.b}]}]}", `line 3, column 49: up to 272 steps could be under way at once here; at most 256 are allowed`},
		{"loop without steps", "- for_each: [1]", `line 3, column 3: "for_each" needs "steps"`},
		{"loop over text", "- {for_each: orders, steps: [{id: x, tool: a.b}]}", `line 3, column 14: "for_each" has to be a list, or one expression, "${ … }", this is "orders"`},
		{"loop over a mapping", "- {for_each: {a: 1}, steps: [{id: x, tool: a.b}]}", `line 3, column 14: "for_each" has to be a list, or one expression, "${ … }", this is a mapping`},

		{"retry number", "- {id: x, tool: a.b, retry: 3}", `line 3, column 29: step x: "retry" has to be a mapping, this is the number 3`},
		{"retry without attempts", "- {id: x, tool: a.b, retry: {backoff: 2s}}", `line 3, column 29: step x: "retry" needs "attempts": how often the step may be tried in all`},
		{"retry 0", "- {id: x, tool: a.b, retry: {attempts: 0}}", `line 3, column 40: step x: "attempts" has to be a whole number from 1 to 100, this is the number 0`},
		{"retry 101", "- {id: x, tool: a.b, retry: {attempts: 101}}", `line 3, column 40: step x: "attempts" has to be a whole number from 1 to 100, this is the number 101`},
		{"backoff number", "- {id: x, tool: a.b, retry: {attempts: 2, backoff: 2}}", `line 3, column 52: step x: "backoff" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is the number 2`},
		{"backoff word", "- {id: x, tool: a.b, retry: {attempts: 2, backoff: soon}}", `line 3, column 52: step x: "backoff" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is "soon"`},
		{"backoff 0", "- {id: x, tool: a.b, retry: {attempts: 2, backoff: 0s}}", `line 3, column 52: step x: "backoff" has to be longer than nothing`},
		{"backoff microseconds", "- {id: x, tool: a.b, retry: {attempts: 2, backoff: 1500us}}", `line 3, column 52: step x: "backoff" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is "1500us"`},
		{"backoff half", "- {id: x, tool: a.b, retry: {attempts: 2, backoff: 1.5ms}}", `line 3, column 52: step x: "backoff" has to be a time in whole milliseconds, this is "1.5ms"`},
		{"backoffs", "- {id: x, tool: a.b, retry: {attempts: 2, backoff: 2s, max_backoff: 1s}}", `line 3, column 69: step x: "max_backoff" is less than "backoff"`},
		{"retry of a block", "- {steps: [{id: x, tool: a.b}], retry: {attempts: 2}}", `line 3, column 33: unknown field "retry"`},

		{"approve list", "- {id: x, approve: [a]}", `line 3, column 20: step x: "approve" has to be a mapping, this is a list`},
		{"approve number", "- {id: x, approve: 7}", `line 3, column 20: step x: the question has to be a string, this is the number 7`},
		{"approve empty", "- {id: x, approve: ''}", `line 3, column 20: step x: the question has to be a string, this is ""`},
		{"approve without text", "- {id: x, approve: {within: 1h}}", `line 3, column 20: step x: "approve" needs "text": what the person is asked`},
		{"approve for ever", "- {id: x, approve: {text: hm, within: 0s}}", `line 3, column 39: step x: "within" has to be longer than nothing`},
		{"approve too long", "- {id: x, approve: {text: hm, within: 876601h}}", `line 3, column 39: step x: "within" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is "876601h"`},
		{"approve typo", "- {id: x, approve: {text: hm, witin: 1h}}", `line 3, column 31: step x: unknown field "witin"; did you mean "within"?`},
		{"approve long text", "- {id: x, approve: " + strings.Repeat("x", 4097) + "}", `line 3, column 20: step x: the question has 4097 bytes, at most 4096 are allowed`},
		{"sleep number", "- {id: x, sleep: 5}", `line 3, column 18: step x: "sleep" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is the number 5; a number needs a unit`},
		{"sleep word", "- {id: x, sleep: well}", `line 3, column 18: step x: "sleep" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is "well"`},
		{"sleep list", "- {id: x, sleep: [5m]}", `line 3, column 18: step x: "sleep" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is a list`},
		{"sleep nothing", "- {id: x, sleep: }", `line 3, column 18: step x: "sleep" has to be a time such as "500ms", "2s" or "1h30m", at most a hundred years, this is nothing; a number needs a unit`},
		{"sleep mapping", "- {id: x, sleep: {}}", `line 3, column 18: step x: "sleep" needs "until", or a time instead of a mapping`},
		{"until date", "- {id: x, sleep: {until: 2027-01-31}}", `line 3, column 26: step x: "until" has to be a time such as 2027-01-31T09:00:00Z, until the year 2200, this is "2027-01-31"`},
		{"until number", "- {id: x, sleep: {until: 5}}", `line 3, column 26: step x: "until" has to be a time such as 2027-01-31T09:00:00Z, until the year 2200, this is the number 5`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "tools: {a: a.wasm}\nsteps:\n" + c.steps + "\n"
			_, err := plan.Parse([]byte(text))
			if err == nil || err.Error() != c.want {
				t.Fatalf("parse\n%s\ngot\n%v\nwant\n%s", text, err, c.want)
			}
			if e := (*plan.Error)(nil); !errors.As(err, &e) || e.Line == 0 {
				t.Errorf("%v is no *plan.Error with a line", err)
			}
		})
	}
}

// A plan that was in order before there were loops and handlers has the words that they use for itself.
func TestTheNamesOfLoopsAndHandlersAreFreeWithoutThem(t *testing.T) {
	calls, _ := run(t, `steps: [{id: item, tool: a.b}, {id: error, tool: a.b}, {id: index, tool: a.b, with: "${ [.item, .error] }"}, {id: steps, tool: a.b, with: "${ .index }"}]`,
		"", `{"item": 1, "error": 2, "index": 3}`)
	if got, want := fmt.Sprint(calls[2:]), "[index a.b [1,2] steps a.b 3]"; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
}

// nest puts a step inside of n blocks.
func nest(n int, before, after string) string {
	return "tools: {a: a.wasm}\nsteps: [" + strings.Repeat(before, n) + "{id: x, tool: a.b}" + strings.Repeat(after, n) + "]\n"
}

func TestBlocksAreNestedOnlySoDeep(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string
		wrong string
	}{
		"blocks":            {nest(plan.MaxBlocks, "{steps: [", "]}"), ""},
		"more blocks":       {nest(plan.MaxBlocks+1, "{steps: [", "]}"), "line 2, column 161: these steps are inside of more than 16 blocks"},
		"many more blocks":  {nest(29, "{steps: [", "]}"), "line 2, column 161: these steps are inside of more than 16 blocks"},
		"parallel":          {nest(15, "{parallel: [", "]}"), ""},
		"more parallel":     {nest(20, "{parallel: [[", "]]}"), "line 2, column 229: these steps are inside of more than 16 blocks"},
		"too deep for YAML": {nest(1000, "{steps: [", "]}"), "line 2, column 288: this is nested deeper than 64 levels"},
		"deepest of YAML":   {nest(40_000, "{steps: [", "]}"), "exceeded max depth"},
	} {
		_, err := plan.Parse([]byte(c.plan))
		if got := fmt.Sprint(err); c.wrong != "" && !strings.Contains(got, c.wrong) || c.wrong == "" && err != nil {
			t.Errorf("%s: got %v, want %s", name, err, c.wrong)
		}
	}
	loops := func(n int) string {
		text := "tools: {a: a.wasm}\nsteps: ["
		for i := range n {
			text += fmt.Sprintf("{for_each: [1, 2], as: i%d, steps: [", i)
		}
		return text + "{id: x, tool: a.b}" + strings.Repeat("]}", n) + "]\n"
	}
	f := &fakeCaller{}
	if _, err := mustParse(t, loops(plan.MaxLoops)).Run(t.Context(), f, nil); err != nil || f.calls[15] != "x[1][1][1][1] a.b {}" {
		t.Errorf("calls %q, %v", f.calls, err)
	}
	_, err := plan.Parse([]byte(loops(plan.MaxLoops + 1)))
	if want := "line 2, column 160: this loop is inside of more than 3 others"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestStepsInsideOfBlocksCount(t *testing.T) {
	var b strings.Builder
	b.WriteString("tools: {a: a.wasm}\nsteps:\n")
	for i := range plan.MaxSteps / 2 {
		fmt.Fprintf(&b, "- steps: [{id: s%d, tool: a.b}]\n", i)
	}
	f := &fakeCaller{}
	if _, err := mustParse(t, b.String()).Run(t.Context(), f, nil); err != nil || len(f.calls) != plan.MaxSteps/2 {
		t.Errorf("%d calls, %v", len(f.calls), err)
	}
	b.WriteString("- {id: more, tool: a.b}\n- {id: evenmore, tool: a.b}\n")
	_, err := plan.Parse([]byte(b.String()))
	if want := "line 5003, column 3: the plan has more than 10000 steps"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestABlockHasOnlySoManyBranches(t *testing.T) {
	branches := func(n int) string {
		text := "tools: {a: a.wasm}\nsteps:\n- parallel:\n"
		for i := range n {
			text += fmt.Sprintf("  - {id: s%d, tool: a.b}\n", i)
		}
		return text
	}
	f := &fakeCaller{}
	if _, err := mustParse(t, branches(plan.MaxBranches)).Run(t.Context(), f, nil); err != nil || len(f.calls) != plan.MaxBranches {
		t.Errorf("%d calls, %v", len(f.calls), err)
	}
	_, err := plan.Parse([]byte(branches(plan.MaxBranches + 1)))
	if want := `line 4, column 3: "parallel" has 101 branches; 1 to 100 are allowed`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
