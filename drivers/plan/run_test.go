package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/toolabi"
)

// run runs a plan of the steps given, which must succeed, and returns its calls and its output.
func run(t *testing.T, steps, input, answer string) (calls []string, output string) {
	t.Helper()
	c := &fakeCaller{answers: answers(t, answer)}
	out, err := mustParse(t, "tools: {a: a.wasm}\n"+steps).Run(t.Context(), c, []byte(input))
	if err != nil {
		t.Fatalf("run\n%s\n%v", steps, err)
	}
	return c.calls, string(out)
}

func TestAStepSeesTheInputAndTheStepsBefore(t *testing.T) {
	calls, output := run(t, `
steps:
  - {id: one, tool: a.b, with: "${ .input }"}
  - {id: two, tool: a.c, with: ["${ .one.id }", "${ .one }"]}
output: "${ . | keys }"
`, `{"z": 1, "a": "<&>"}`, `{"one": {"id": "x"}, "two": 2}`)
	want := []string{`one a.b {"a":"<&>","z":1}`, `two a.c ["x",{"id":"x"}]`}
	if !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if want := `["input","one","two"]`; output != want {
		t.Errorf("the context has %s, want %s", output, want)
	}
}

func TestASkippedStepIsNull(t *testing.T) {
	calls, output := run(t, `
steps:
  - {id: one, tool: a.b, if: "${ .input == 0 }"}
  - {id: two, tool: a.b, if: "${ .one }"}
  - {id: three, tool: a.b, if: "${ .one == null }", with: "${ {one, two, known: has(\"one\")} }"}
`, `1`, `{"three": 3}`)
	if want := []string{`three a.b {"known":true,"one":null,"two":null}`}; !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if output != "3" {
		t.Errorf("output %s, want 3", output)
	}
}

func TestAConditionHoldsAsInJQ(t *testing.T) {
	for cond, want := range map[string]bool{
		`"${ true }"`: true, `"${ false }"`: false, `"${ null }"`: false, `"${ 0 }"`: true, `'${ "" }'`: true, `"${ [] }"`: true,
		`"${ .input.nope }"`: false, `true`: true, `false`: false, `True`: true, `" ${ false }\n"`: false,
	} {
		calls, _ := run(t, "steps: [{id: x, tool: a.b, if: "+cond+"}]", `{}`, "")
		if got := len(calls) == 1; got != want {
			t.Errorf("if: %s: executed %v, want %v", cond, got, want)
		}
	}
}

func TestTheOutputIsTheLastResultByteForByte(t *testing.T) {
	steps := "steps: [{id: one, tool: a.b}, {id: two, tool: a.b, if: '${ .input }'}]"
	answer := `{"one": {"b":1.00, "a" : "\u00e9"}, "two": [ 2 ]}`
	if _, got := run(t, steps, "false", answer); got != `{"b":1.00, "a" : "\u00e9"}` {
		t.Errorf("output %s", got)
	}
	if _, got := run(t, steps, "true", answer); got != `[ 2 ]` {
		t.Errorf("output %s", got)
	}
	if _, got := run(t, "steps: [{id: one, tool: a.b, if: false}]", "", ""); got != "null" {
		t.Errorf("output %s of a plan that did nothing, want null", got)
	}
	if _, got := run(t, steps+"\noutput:\n", "true", answer); got != "null" {
		t.Errorf("output %s of a plan that says null, want null", got)
	}
}

func TestAStepWithoutInputGetsAnEmptyObject(t *testing.T) {
	calls, _ := run(t, "steps: [{id: x, tool: a.b}, {id: y, tool: a.b, with: null}, {id: z, tool: a.b, with: }]", "", "")
	if want := []string{"x a.b {}", "y a.b null", "z a.b null"}; !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

func TestValuesAreThoseOfJSON(t *testing.T) {
	calls, _ := run(t, `
steps:
  - id: x
    tool: a.b
    with:
      country: no
      words: [yes, on, off, y, n, NO, "true", ~, null, True]
      date: 2024-01-01
      version: "1.10"
      number: 1.10
      large: [9007199254740993, 18446744073709551616, 1e400, -0]
      octal: "0777"
      merge: <<
      block: |
        line
      z: {b: 1, a: 2}
`, "", "")
	want := `x a.b {"block":"line\n","country":"no","date":"2024-01-01","large":[9007199254740993,18446744073709551616,1e400,-0],` +
		`"merge":"<<","number":1.10,"octal":"0777","version":"1.10",` +
		`"words":["yes","on","off","y","n","NO","true",null,null,true],"z":{"a":2,"b":1}}`
	if calls[0] != want {
		t.Errorf("got\n%s\nwant\n%s", calls[0], want)
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	for _, n := range []string{
		"9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551616", "-9223372036854775809",
		"0.1", "0.10", "1.0", "100000000000000000000000000000000000001", "1e400", "1E+2", "-0", "0.30000000000000004",
	} {
		calls, output := run(t, `
steps:
  - {id: x, tool: a.b, with: ["${ .input }", "${ .input.n }", "n ${ .input.n }"]}
output: "${ [.input.n, .x.n, (.input | {n}), (.input | to_entries[0].value)] }"
`, `{"n": `+n+`}`, `{"x": {"n": `+n+`}}`)
		if want := `x a.b [{"n":` + n + `},` + n + `,"n ` + n + `"]`; calls[0] != want {
			t.Errorf("call %s, want %s", calls[0], want)
		}
		if want := "[" + n + "," + n + `,{"n":` + n + "}," + n + "]"; output != want {
			t.Errorf("output %s, want %s", output, want)
		}
	}
}

func TestArithmeticOnIntegersIsExact(t *testing.T) {
	for expr, want := range map[string]string{
		".input + 1":                 "9007199254740994",
		".input * .input":            "81129638414606699710187514626049",
		"[.input, 1] | add":          "9007199254740994",
		"-.input":                    "-9007199254740993",
		".input - 1 | . / 2":         "4503599627370496",
		".input == 9007199254740992": "false",
		".input | tostring":          `"9007199254740993"`,
		".input | tojson | fromjson": "9007199254740993",
		"9223372036854775807 + 1":    "9223372036854775808",
		"0.1 + 0.2":                  "0.30000000000000004",
		"1 / 4":                      "0.25",
		"1e2":                        "100",
		".5":                         "0.5",
	} {
		_, got := run(t, "steps: [{id: x, tool: a.b, if: false}]\noutput: '${ "+expr+" }'", "9007199254740993", "")
		if got != want {
			t.Errorf("${ %s } = %s, want %s", expr, got, want)
		}
	}
}

func TestTextAroundExpressions(t *testing.T) {
	for text, want := range map[string]string{
		`a ${ .input.s } b`:                        `"a x\"y b"`,
		`${ .input.s }${ .input.s }`:               `"x\"yx\"y"`,
		` ${ .input.n }`:                           `" 1"`,
		`${ .input.n }`:                            `1`,
		`n ${ null } ${ true } ${ [1,{"a":"b"}] }`: `"n null true [1,{\"a\":\"b\"}]"`,
		`$${ .input }`:                             `"${ .input }"`,
		`a $${ ${ .input.n }`:                      `"a ${ 1"`,
		`$$${ .input }`:                            `"$${ .input }"`,
		`$ { } {} $5 }`:                            `"$ { } {} $5 }"`,
		`{{ .input }} {{secret:NAME}}`:             `"{{ .input }} {{secret:NAME}}"`,
		`${ "}" + "${" + ")" }`:                    `"}${)"`,
		`${ "\(.input | {a: .n} | .a) }" }`:        `"1 }"`,
		`${ "\("\(1)}")}" }`:                       `"1}}"`,
		`${ {a: {b: 1}} | .a }`:                    `{"b":1}`,
		"${ 1 # }\n }":                             `1`,
		"${ 1 # \\\n } \n }":                       `1`,
		"${\n  .input.n\n}":                        `1`,
		`${ "<>&é\u2028" }`:                        `"<>&é` + "\u2028" + `"`,
		``:                                         `""`,
	} {
		j, _ := json.Marshal(text) // JSON's strings are YAML's
		_, got := run(t, "steps: [{id: x, tool: a.b, if: false}]\noutput: "+string(j), `{"s": "x\"y", "n": 1}`, "")
		if got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

func TestValuesAreNotExpressions(t *testing.T) {
	calls, output := run(t, `
steps: [{id: x, tool: a.b, with: ["${ .input }", "a ${ .input }"]}]
output: ["${ .x }", "${ .input + .x }"]
`, `"${ now } {{ 1 }}"`, `{"x": "${ .input }"}`)
	if want := `x a.b ["${ now } {{ 1 }}","a ${ now } {{ 1 }}"]`; calls[0] != want {
		t.Errorf("call %s, want %s", calls[0], want)
	}
	if want := `["${ .input }","${ now } {{ 1 }}${ .input }"]`; output != want {
		t.Errorf("output %s, want %s", output, want)
	}
}

func TestAnExpressionDoesNotChangeTheContext(t *testing.T) {
	_, output := run(t, `
steps:
  - {id: x, tool: a.b, with: "${ .input | .a.b = 2 | .l += [3] | del(.l[0]) }"}
  - {id: y, tool: a.b, with: "${ . as $all | .input = 1 | .x = $all.x | .x }"}
output: "${ [.input, .x] }"
`, `{"a": {"b": 1}, "l": [1, 2]}`, `{"x": [1]}`)
	if want := `[{"a":{"b":1},"l":[1,2]},[1]]`; output != want {
		t.Errorf("output %s, want %s", output, want)
	}
}

func TestAFailingToolNamesItsStep(t *testing.T) {
	p := mustParse(t, "tools: {a: a.wasm}\nsteps: [{id: one, tool: a.b}, {id: two, tool: a.c}, {id: three, tool: a.b}]")
	tool := toolabi.NewError(toolabi.Failed, "card declined")
	c := &fakeCaller{errs: map[string]error{"two": tool}}
	_, err := p.Run(t.Context(), c, nil)
	var step *plan.StepError
	if !errors.As(err, &step) || step.Step != "two" || step.Tool != "a.c" {
		t.Fatalf("got %v, want a *plan.StepError of two", err)
	}
	if !errors.Is(err, toolabi.Failed) || errors.Unwrap(err) != error(tool) {
		t.Errorf("%v does not wrap the tool's error", err)
	}
	if got, want := err.Error(), "step two (a.c): failed: card declined"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(c.calls) != 2 {
		t.Errorf("calls %q: the plan went on", c.calls)
	}
}

func TestWhatStopsTheRunIsReturnedAsItIs(t *testing.T) {
	p := mustParse(t, "tools: {a: a.wasm}\nsteps: [{id: one, tool: a.b}, {id: two, tool: a.c}]")
	stop := errors.New("outcome unknown")
	c := &fakeCaller{errs: map[string]error{"one": stop}}
	if _, err := p.Run(t.Context(), c, nil); err != stop {
		t.Errorf("got %v, want %v itself", err, stop)
	}
	if len(c.calls) != 1 {
		t.Errorf("calls %q: the plan went on", c.calls)
	}
}

func TestAnExpressionThatFailsIsTheFailureOfThePlan(t *testing.T) {
	for _, c := range []struct{ expr, input, want string }{
		{`.input / 0`, `1`, `cannot divide number (1) by: number (0)`},
		{`.input + 1`, `"a"`, `cannot add: string ("a") and number (1)`},
		{`.input.a.b`, `{"a": 3}`, `expected an object but got: number (3)`},
		{`error("no stock")`, `1`, `error: no stock`},
		{`error({a: .input})`, `1`, `error: {"a":1}`},
		{`error(null)`, `1`, `error: null`},
		{`"/w==" | @base64d | error`, `1`, `it stops with an error that cannot be told: it gives text that is not UTF-8`},
		{`1, (reduce range(60) as $i ([1]; [., .]) | error)`, `1`, `it stops with an error that cannot be told: as JSON it has more than 16777216 bytes`},
		{`error("x" * 5000)`, `1`, `error: ` + strings.Repeat("x", 1017)},
		{`empty`, `1`, `it gives no value; where that can happen, write first(…, null)`},
		{`.input[]`, `[1,2]`, `it gives more than one value; put it in [ ] to make a list of them`},
		{`1, error("late")`, `1`, `error: late`},
		{`nan`, `1`, `it gives NaN, which JSON does not have`},
		{`[1, {a: infinite}]`, `1`, `it gives +Inf, which JSON does not have`},
		{`"/w==" | @base64d`, `1`, `it gives text that is not UTF-8`},
		{`{("/w==" | @base64d): 1}`, `1`, `it gives text that is not UTF-8`},
		{`[repeat(1)]`, `1`, `it takes more than 4000000 instructions`},
		{`def f: f; f`, `1`, `it takes more than 4000000 instructions`},
		{`last(range(1e15))`, `1`, `it takes more than 4000000 instructions`},
		{`1, (range(1e15) | empty)`, `1`, `it takes more than 4000000 instructions`},
		{`try repeat(.) catch 1 | empty`, `1`, `it takes more than 4000000 instructions`},
		{`reduce range(60) as $i ([1]; [., .])`, `1`, `as JSON it has more than 16777216 bytes`},
		{`"x" * 17000000`, `1`, `as JSON it has more than 16777216 bytes`},
		{`reduce range(20000) as $i (1; [.])`, `1`, `it is nested deeper than 10000 levels`},
	} {
		p := mustParse(t, "tools: {a: a.wasm}\nsteps:\n  - {id: x, tool: a.b, with: [1, '${ "+c.expr+" }']}")
		caller := &fakeCaller{}
		_, err := p.Run(t.Context(), caller, []byte(c.input))
		want := "step x (a.b): line 3: ${ " + c.expr + " }: " + c.want
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
			continue
		}
		var expr *plan.ExprError
		if !errors.As(err, &expr) || expr.Line != 3 || expr.Column != 34 || expr.Expr != c.expr {
			t.Errorf("%v holds %+v, want the place and the text of ${ %s }", err, expr, c.expr)
		}
		var failure *toolabi.Error
		if !errors.As(err, &failure) || failure.Code != toolabi.Failed || failure.Detail != "expression" {
			t.Errorf("%v does not wrap a failure of an expression", err)
		}
		if len(caller.calls) != 0 {
			t.Errorf("${ %s }: the tool was called", c.expr)
		}
	}
}

func TestAFailingConditionOrOutputFailsThePlan(t *testing.T) {
	p := mustParse(t, "tools: {a: a.wasm}\nsteps:\n  - {id: x, tool: a.b, if: '${ .input.a }'}")
	_, err := p.Run(t.Context(), &fakeCaller{}, []byte("1"))
	if want := "step x (a.b): line 3: ${ .input.a }: expected an object but got: number (1)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	p = mustParse(t, "tools: {a: a.wasm}\nsteps:\n  - {id: x, tool: a.b}\noutput: '${ .input.a }'")
	_, err = p.Run(t.Context(), &fakeCaller{}, []byte("1"))
	want := "output of the plan: line 4: ${ .input.a }: expected an object but got: number (1)"
	if err == nil || err.Error() != want || !errors.Is(err, toolabi.Failed) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatIsTooLargeTogetherFailsThePlan(t *testing.T) {
	p := mustParse(t, `tools: {a: a.wasm}
steps: [{id: x, tool: a.b, with: ["${ .input * 9000000 }", "${ .input * 9000001 }"]}]`)
	_, err := p.Run(t.Context(), &fakeCaller{}, []byte(`"x"`))
	want := "step x (a.b): failed (value): write the input: as JSON it has more than 16777216 bytes"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// Three million bytes in memory, six times that as JSON.
	p = mustParse(t, `{tools: {a: a.wasm}, steps: [{id: x, tool: a.b, with: '${ "\u0001" * 3000000 }'}]}`)
	if _, err = p.Run(t.Context(), &fakeCaller{}, nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBrokenAnswersAreNotGuessedAt(t *testing.T) {
	for answer, want := range map[string]string{
		``:                     "it is empty",
		` `:                    "it is empty",
		`{`:                    "unexpected EOF",
		`nope`:                 "invalid character",
		`1 2`:                  "there is something behind the value",
		`{} x`:                 "there is something behind the value",
		"\"a\xff\"":            "it is not UTF-8",
		`"\ud800"`:             "it has half of a surrogate pair in a string",
		`"\udc00"`:             "it has half of a surrogate pair in a string",
		`"\ud83d\ud83d\ude00"`: "it has half of a surrogate pair in a string",
		`{"\ud83dx": 1}`:       "it has half of a surrogate pair in a string",
	} {
		p := mustParse(t, "tools: {a: a.wasm}\nsteps: [{id: x, tool: a.b}]\noutput: '${ .x }'")
		c := &fakeCaller{answers: map[string]json.RawMessage{"x": json.RawMessage(answer)}}
		_, err := p.Run(t.Context(), c, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "step x (a.b): failed (output): read the step's output: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("answer %q: got %v, want %q", answer, err, want)
		}
		if _, err := p.Run(t.Context(), c, []byte(answer)); answer != "" && (!errors.Is(err, toolabi.BadInput) || !strings.Contains(err.Error(), want)) {
			t.Errorf("input %q: got %v, want %q", answer, err, want)
		}
	}
	for _, answer := range []string{`"\ud83d\ude00"`, `"\\ud800"`, `"é\u00e9\\\ud83d\ude00"`} {
		var s string
		if err := json.Unmarshal([]byte(answer), &s); err != nil {
			t.Fatal(err)
		}
		_, got := run(t, "steps: [{id: x, tool: a.b}]\noutput: '${ [.x] }'", "", `{"x": `+answer+`}`)
		if want := `["` + strings.ReplaceAll(s, `\`, `\\`) + `"]`; got != want {
			t.Errorf("answer %s: got %s, want %s", answer, got, want)
		}
	}
}

func TestAnEndingContextIsNoFailureOfThePlan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := mustParse(t, "tools: {a: a.wasm}\nsteps: [{id: x, tool: a.b, with: '${ [range(100)] }'}]")
	_, err := p.Run(ctx, &fakeCaller{}, nil)
	if err != context.Canceled {
		t.Errorf("got %v, want %v itself", err, context.Canceled)
	}
}

func TestAPlanRunsSeveralTimesAtOnce(t *testing.T) {
	p := mustParse(t, `tools: {a: a.wasm}
steps: [{id: x, tool: a.b, with: "${ [.input | range(100)] | map(tostring | test(\"9\")) | length }"}]
output: "${ .x + .input }"`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			out, err := p.Run(t.Context(), &fakeCaller{answers: map[string]json.RawMessage{"x": json.RawMessage("41")}}, []byte("1"))
			if err != nil || string(out) != "42" {
				t.Errorf("got %s, %v, want 42", out, err)
			}
		})
	}
	wg.Wait()
}

func TestTheSamePlanAsksTheSame(t *testing.T) {
	const steps = `
steps:
  - {id: x, tool: a.b, with: "${ [.input[]] + (.input | keys) + (.input | to_entries | map(.value)) }"}
  - {id: y, tool: a.b, with: "${ .input | tojson }"}
output: "${ .input | [paths] | map(tostring) | group_by(length) }"
`
	const input = `{"q":1,"w":2,"e":3,"r":4,"t":5,"z":{"b":1,"a":[2,{"y":1,"x":2}]}}`
	calls, output := run(t, steps, input, "")
	for range 20 {
		again, out := run(t, steps, input, "")
		if !reflect.DeepEqual(again, calls) || out != output {
			t.Fatalf("asked %q, returned %s; before %q, %s", again, out, calls, output)
		}
	}
}
