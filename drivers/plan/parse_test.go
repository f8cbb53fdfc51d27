package plan_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
)

func TestWhatAPlanSaysOfItself(t *testing.T) {
	p := mustParse(t, `
name: Invoice № 7
tools:
  text: ./lib/text.wasm
  payments: payments.wasm
input: {type: object, required: [b, a], minimum: 9007199254740993, pattern: "^${x}$"}
steps:
  - {id: one, tool: text.upper}
  - {id: two, tool: payments.charge}
  - {id: three, tool: text.upper}
`)
	if got, want := p.Name(), "Invoice № 7"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	if got, want := p.Tools(), []string{"payments.charge", "text.upper"}; !reflect.DeepEqual(got, want) {
		t.Errorf("tools %q, want %q", got, want)
	}
	if got, want := p.Sources()[0], (plan.Source{Name: "text", File: "./lib/text.wasm", Line: 4}); got != want {
		t.Errorf("first source %+v, want %+v", got, want)
	}
	want := `{"minimum":9007199254740993,"pattern":"^${x}$","required":["b","a"],"type":"object"}`
	if got := string(p.InputSchema()); got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
}

func TestAPlanWithoutASchemaHasNone(t *testing.T) {
	if got := mustParse(t, "tools: {a: a.wasm}\nsteps: [{id: x, tool: a.b}]").InputSchema(); got != nil {
		t.Errorf("schema %q, want none", got)
	}
}

// step makes a plan of one step out of its fields, on line 3.
func oneStep(fields string) string {
	return "tools: {a: a.wasm, pay-er: b.wasm}\nsteps:\n  - {" + fields + "}\n"
}

func TestWhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"empty", "", "line 1: the plan is empty"},
		{"only a comment", "# nothing\n", "line 1: the plan is empty"},
		{"a list", "- a\n", "line 1, column 1: a plan has to be a mapping, this is a list"},
		{"null", "~", "line 1, column 1: a plan has to be a mapping, this is nothing"},
		{"no steps", "name: x", `line 1, column 1: a plan needs "steps"`},
		{"steps no list", "steps: {a: b}", `line 1, column 8: "steps" has to be a list, this is a mapping`},
		{"no step", "steps: []", `line 1, column 8: "steps" has 0 steps; 1 to 10000 are allowed`},
		{"step no mapping", "steps: [charge]", `line 1, column 9: a step has to be a mapping, this is "charge"`},
		{"unknown field", "tols: {}\nsteps: [{id: x, tool: a.b}]\ntools: {a: a}", `line 1, column 1: unknown field "tols"; did you mean "tools"?`},
		{"far field", "frobnicate: 1\nsteps: [{id: x, tool: a.b}]\ntools: {a: a}", `line 1, column 1: unknown field "frobnicate"`},
		{"name", "name: [a]\n" + oneStep("id: x, tool: a.b"), `line 1, column 7: "name" has to be a string, this is a list`},
		{"name with bell", "name: \"a\\a\"\n" + oneStep("id: x, tool: a.b"), `line 1, column 7: "name" has to be at most 128 characters, none of them a control character`},
		{"schema", "input: object\n" + oneStep("id: x, tool: a.b"), `line 1, column 8: "input" has to be a JSON Schema, this is "object"`},
		{"schema number", "input: {maximum: 0x10}\n" + oneStep("id: x, tool: a.b"), `line 1, column 18: 0x10 is no number of JSON; write it in decimal digits, or quote it to make it a string`},
		{"tools", "tools: [a]\nsteps: [{id: x, tool: a.b}]", "line 1, column 8: \"tools\" has to be a mapping, this is a list\nline 2, column 23: step x: the module \"a\" is not in \"tools\""},
		{"module name", "tools: {A: a.wasm}\nsteps: [{id: x, tool: a.b}]", "line 1, column 9: \"A\" is no name of a module: want lower-case letters, digits and inner hyphens, at most 64\nline 2, column 23: step x: the module \"a\" is not in \"tools\""},

		{"step field", oneStep("id: x, tool: a.b, wiht: 1"), `line 3, column 24: step x: unknown field "wiht"; did you mean "with"?`},
		{"idempotant", oneStep("id: x, tool: a.b, idempotant: 1"), `line 3, column 24: step x: unknown field "idempotant"`},
		{"iff", oneStep("id: x, tool: a.b, iff: true"), `line 3, column 24: step x: unknown field "iff"; did you mean "if"?`},
		{"no id", oneStep("tool: a.b"), `line 3, column 5: a step needs "id"`},
		{"no tool", oneStep("id: x"), `line 3, column 5: step x: a step needs one of "tool", "parallel", "for_each", "steps", "approve", "sleep"`},
		{"id number", oneStep("id: 7, tool: a.b"), `line 3, column 10: step 7: "id" has to be a string, this is the number 7`},
		{"id empty", oneStep(`id: "", tool: a.b`), `line 3, column 10: "id" has to be a string, this is ""`},
		{"id taken", oneStep("id: input, tool: a.b"), `line 3, column 10: the id "input" is taken: .input is the input of the plan`},
		{"id in a loop", oneStep(`id: "x[1]", tool: a.b`), `line 3, column 10: the id "x[1]" is no name of a step: want letters, digits and _, inside also - and ., at most 64`},
		{"id attempt", oneStep("id: x~2, tool: a.b"), `line 3, column 10: the id "x~2" is no name of a step: want letters, digits and _, inside also - and ., at most 64`},
		{"id path", oneStep("id: x/1, tool: a.b"), `line 3, column 10: the id "x/1" is no name of a step: want letters, digits and _, inside also - and ., at most 64`},
		{"id long", oneStep("id: " + strings.Repeat("x", 65) + ", tool: a.b"), `line 3, column 10: the id "` + strings.Repeat("x", 65) + `" is no name of a step: want letters, digits and _, inside also - and ., at most 64`},
		{"id twice", oneStep("id: x, tool: a.b") + "  - {id: x, tool: a.c}\n", `line 4, column 10: step x: the id "x" is there twice; the first is on line 3`},
		{"tool without module", oneStep("id: x, tool: charge"), `line 3, column 19: step x: "charge" is no name of a tool: want "module.tool"`},
		{"tool with two dots", oneStep("id: x, tool: a.b.c"), `line 3, column 19: step x: "a.b.c" is no name of a tool: want "module.tool"`},
		{"unknown module", oneStep("id: x, tool: payer.charge"), `line 3, column 19: step x: the module "payer" is not in "tools"; did you mean "pay-er"?`},

		{"if text", oneStep(`id: x, tool: a.b, if: "${ .input } yes"`), `line 3, column 28: step x: "if" has to be one expression, "${ … }", this is "${ .input } yes"`},
		{"if bare", oneStep(`id: x, tool: a.b, if: ".input.a"`), `line 3, column 28: step x: "if" has to be one expression, "${ … }", this is ".input.a"`},
		{"if no", oneStep(`id: x, tool: a.b, if: no`), `line 3, column 28: step x: "if" has to be one expression, "${ … }", this is "no"`},
		{"if list", oneStep(`id: x, tool: a.b, if: []`), `line 3, column 28: step x: "if" has to be one expression, "${ … }", this is a list`},
		{"key expression", oneStep(`id: x, tool: a.b, with: {"${ .input }": 1}`), `line 3, column 31: step x: expressions are not evaluated in keys; give the whole mapping by an expression`},
		{"unclosed", oneStep(`id: x, tool: a.b, with: "${ .input"`), `line 3, column 30: step x: "${" without the "}" that closes it; write "$${" where "${" is meant as text`},
		{"empty expression", oneStep(`id: x, tool: a.b, with: "${ }"`), `line 3, column 30: step x: ${  }: there is nothing between ${ and }`},
		{"syntax", oneStep(`id: x, tool: a.b, with: "${ .input + }"`), `line 3, column 30: step x: ${ .input + }: unexpected EOF at byte 8`},
		{"syntax token", oneStep(`id: x, tool: a.b, with: "${ 1 1 }"`), `line 3, column 30: step x: ${ 1 1 }: unexpected token "1" at byte 3`},
		{"no such function", oneStep(`id: x, tool: a.b, with: "${ .input | frob }"`), `line 3, column 30: step x: ${ .input | frob }: function not defined: frob/0`},
		{"number", oneStep(`id: x, tool: a.b, with: [0777, 1_000, .5, .inf, 1e400]`),
			"line 3, column 31: step x: 0777 is no number of JSON; write it in decimal digits, or quote it to make it a string\n" +
				"line 3, column 37: step x: 1_000 is no number of JSON; write it in decimal digits, or quote it to make it a string\n" +
				"line 3, column 44: step x: .5 is no number of JSON; write it in decimal digits, or quote it to make it a string\n" +
				"line 3, column 48: step x: .inf is no number of JSON; write it in decimal digits, or quote it to make it a string"},

		{"typo in a step", oneStep("id: charge, tool: a.b") + "  - {id: y, tool: a.b, with: '${ .chrage.id }'}", `line 4, column 30: step y: ${ .chrage.id }: .chrage is neither .input nor a step before; did you mean "charge"?`},
		{"later step", oneStep("id: x, tool: a.b, with: '${ .y }'") + "  - {id: y, tool: a.b}", `line 3, column 30: step x: ${ .y }: .y is a later step, on line 4; only steps before this one are known`},
		{"itself", oneStep("id: x, tool: a.b, with: '${ .x }'"), `line 3, column 30: step x: ${ .x }: .x is this step itself; only steps before it are known`},
		{"itself in if", oneStep("id: x, tool: a.b, if: '${ .x }'"), `line 3, column 28: step x: ${ .x }: .x is this step itself; only steps before it are known`},
		{"hyphen", oneStep("id: send-mail, tool: a.b") + "output: ${ .send-mail }", `line 4, column 9: ${ .send-mail }: there is no step "send"; in jq the step "send-mail" is written .["send-mail"]`},
		{"hyphen and digit", oneStep("id: step-1, tool: a.b") + "output: ${ .step-1 }", `line 4, column 9: ${ .step-1 }: there is no step "step"; in jq the step "step-1" is written .["step-1"]`},
		{"unknown in the output", oneStep("id: x, tool: a.b") + "output: [{a: '${ .z.y }'}]", `line 4, column 14: ${ .z.y }: .z is neither .input nor a step before`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan.Parse([]byte(c.plan))
			if err == nil || err.Error() != c.want {
				t.Fatalf("parse\n%s\ngot\n%v\nwant\n%s", c.plan, err, c.want)
			}
			if e := (*plan.Error)(nil); !errors.As(err, &e) || e.Line == 0 {
				t.Errorf("%v is no *plan.Error with a line", err)
			}
		})
	}
}

// A field of the context is found wherever the syntax says that it is one, and only there.
func TestFieldsOfTheContextAreFound(t *testing.T) {
	for _, unknown := range []string{
		`.nope`, `."nope"`, `.["nope"]`, `. ["nope"]`, `.nope?`, `.nope.a[0]`, `.nope // 1`, `1 + .nope`, `-.nope`,
		`[.nope]`, `{a: .nope}`, `{nope}`, `{"nope"}`, `{(.nope): 1}`, `"a\(.nope)"`, `@base64 "\(.nope)"`, `(.nope)`,
		`if .nope then 1 else 2 end`, `if 1 then .nope else 2 end`, `if 1 then 2 elif .nope then 3 else 4 end`,
		`try .nope catch 1`, `reduce .nope[] as $x (0; . + $x)`, `[foreach .input[] as $x (.nope; .; .)]`,
		`.input as $x | .nope`, `.input[.nope]`, `.input.a[.nope:]`, `label $f | .nope`, `.nope | length`,
		`def f: 1; .nope`, `.input as {a: $x} | .nope`, `.input == .nope and true`,
	} {
		_, err := plan.Parse([]byte(oneStep("id: x, tool: a.b") + "output: '${ " + unknown + " }'"))
		if err == nil || !strings.Contains(err.Error(), ".nope is neither .input nor a step before") {
			t.Errorf("${ %s }: got %v, want it refused for .nope", unknown, err)
		}
	}
	for _, fine := range []string{
		`.x`, `.input.nope`, `.input | .nope`, `[.input[] | .nope]`, `.input | map(.nope)`, `.x as {nope: $y} | $y`,
		`{nope: 1}`, `.input | {nope}`, `"nope"`, `try error({nope: 1}) catch .nope`, `. | .nope`, `to_entries`,
		`reduce .input[] as $x ({}; .nope)`, `def f: .nope; .input | f`, `.input | .a[.nope]?`,
		`with_entries(select(.nope))`, `.nope = 1 | .nope`, `.["x"]`, `."x"`, `{x, input}`,
	} {
		if _, err := plan.Parse([]byte(oneStep("id: x, tool: a.b") + "output: '${ " + fine + " }'")); err != nil {
			t.Errorf("${ %s }: %v", fine, err)
		}
	}
}

func TestExpressionsCannotLookAtTheWorld(t *testing.T) {
	for expr, want := range map[string]string{
		`now`:                                "now is not available in a plan",
		`[.input | now]`:                     "now is not available in a plan",
		`def now: 1; now`:                    "now is not available in a plan",
		`.input | map(now)`:                  "now is not available in a plan",
		`try now catch 1`:                    "now is not available in a plan",
		`"\(now)"`:                           "now is not available in a plan",
		`.input[now]`:                        "now is not available in a plan",
		`{(now|tostring): 1}`:                "now is not available in a plan",
		`.input as {(now|tostring): $x} | 1`: "now is not available in a plan",
		`def f: now; f`:                      "now is not available in a plan",
		`0 | localtime`:                      "localtime is not available in a plan",
		`0 | strflocaltime("%H")`:            "strflocaltime is not available in a plan",
		`env`:                                "env is not available in a plan",
		`env.HOME`:                           "env is not available in a plan",
		`$ENV`:                               "$ENV is not available in a plan",
		`$ENV.HOME`:                          "$ENV is not available in a plan",
		`{$ENV}`:                             "$ENV is not available in a plan",
		`input`:                              "input is not available in a plan: the input is .input",
		`[inputs]`:                           "inputs is not available in a plan: the input is .input",
		`debug`:                              "debug is not available in a plan",
		`debug("x")`:                         "debug is not available in a plan",
		`stderr`:                             "stderr is not available in a plan",
		`halt`:                               "halt is not available in a plan",
		`halt_error`:                         "halt_error is not available in a plan",
		`input_filename`:                     "input_filename is not available in a plan",
		`input_line_number`:                  "input_line_number is not available in a plan",
		`builtins`:                           "builtins is not available in a plan",
		`"m" | modulemeta`:                   "modulemeta is not available in a plan",
		`import "a" as a; 1`:                 "modules are not available in a plan",
		`include "a"; 1`:                     "modules are not available in a plan",
		`_plus`:                              "_plus is internal to the interpreter",
		`.input | strptime(.x)`:              "strptime is only available with a constant format",
		`.input | strptime("%H %Z")`:         "strptime is only available with a constant format",
		`.input | strptime("%+")`:            "strptime is only available with a constant format",
		`.input | strptime("%EZ")`:           "strptime is only available with a constant format",
		`$__prog_args`:                       "variable not defined: $__prog_args",
	} {
		_, err := plan.Parse([]byte(oneStep("id: x, tool: a.b") + "output: |-\n  ${ " + expr + " }\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("${ %s }: got %v, want %q", expr, err, want)
		}
	}
}

func TestAtMostTwentyMistakesAreReported(t *testing.T) {
	_, err := plan.Parse([]byte("steps:\n" + strings.Repeat("  - {}\n", 1000)))
	if got := strings.Count(err.Error(), "\n") + 1; got != 20 {
		t.Errorf("%d lines of mistakes, want 20", got)
	}
}

// Which files there are does not decide it: a name is the operator's, a file is one that looks like it.
func TestASourceIsAFileOrTheNameOfAToolThatWasAdded(t *testing.T) {
	for source, want := range map[string]plan.Source{
		"./payments": {File: "./payments"}, "payments.wasm": {File: "payments.wasm"}, "a/b": {File: "a/b"}, "X.WASM": {File: "X.WASM"},
		"payments": {Added: "payments"}, "wasm": {Added: "wasm"}, "a-b": {Added: "a-b"},
	} {
		p, err := plan.Parse([]byte("tools: {m: " + source + "}\nsteps: [{id: a, tool: m.t}]\n"))
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		want.Name, want.Line = "m", 1
		if got := p.Sources(); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %+v, want %+v", source, got, want)
		}
	}
	for _, source := range []string{"Payments", "pay ments", "payments.yaml", "payménts", "-a"} {
		if _, err := plan.Parse([]byte("tools: {m: '" + source + "'}\nsteps: [{id: a, tool: m.t}]\n")); err == nil {
			t.Errorf("%s is taken", source)
		}
	}
}
