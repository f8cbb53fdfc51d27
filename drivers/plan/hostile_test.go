package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/toolabi"
)

// bomb expands to 9^9 scalars where aliases are followed.
func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c <= 'j'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return b.String()
}

func TestHostileYAMLIsRefused(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"alias bomb", bomb(), "line 1, column 4: anchors are not allowed (&a)"},
		{"merge bomb", "a: &a {x: 1}\nb: &b {<<: [*a, *a]}\n", "line 2, column 8: merge keys are not allowed; write the fields out"},
		{"self alias", "a: &a [*a]\n", "line 1, column 8: aliases are not allowed (*a); write the value out"},
		{"alias as a key", "a: &a x\n*a : y\n", "line 2, column 1: aliases are not allowed (*a); write the value out"},
		{"unknown alias", "a: *nope\n", "unknown anchor 'nope' referenced"},
		{"python object", "a: !!python/object:os.system [rm]\n", "line 1, column 4: tags are not allowed (!!python/object:os.system)"},
		{"own tag", "a: !secret x\n", "line 1, column 4: tags are not allowed (!secret)"},
		{"plain tag", "steps: !!seq []\n", "line 1, column 8: tags are not allowed (!!seq)"},
		{"tag of a key", "!!str a: b\n", "line 1, column 1: tags are not allowed (!!str)"},
		{"tab", "steps:\n\t- id: x\n", "line 2: this line is indented with a tab; YAML wants spaces"},
		{"key twice", "name: a\nsteps: []\nname: b\n", `line 3, column 1: the key "name" is there twice; the first is on line 1`},
		{"key twice, deep", oneStep("id: x, tool: a.b, with: {a: {b: 1, b: 2}}"), `line 3, column 41: the key "b" is there twice; the first is on line 3`},
		{"key twice, quoted", `{"name": a, name: b}`, `line 1, column 13: the key "name" is there twice; the first is on line 1`},
		{"number as a key", oneStep("id: x, tool: a.b, with: {1: 2}"), "line 3, column 31: the key 1 is not a string; quote it"},
		{"true as a key", oneStep("id: x, tool: a.b, with: {true: 2}"), "line 3, column 31: the key true is not a string; quote it"},
		{"null as a key", oneStep("id: x, tool: a.b, with: {~: 2}"), "line 3, column 31: the key ~ is not a string; quote it"},
		{"list as a key", "? [a]\n: b\n", "line 1, column 3: a key has to be a string"},
		{"octal as a key", "007: b\n", "line 1, column 1: the key 007 is not a string; quote it"},
		{"two documents", "name: a\n---\nname: b\n", "a plan is one document; a second one begins here"},
		{"two documents, one broken", "name: a\n---\n]\n", "did not find expected node content"},
		{"a million steps", "steps:\n" + strings.Repeat("- {}\n", 200_000), `"steps" has 200000 steps; 1 to 10000 are allowed`},
		{"too long", strings.Repeat("#", 100<<20), "the plan has 104857600 bytes, at most 1048576 are allowed"},
		{"too deep", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "this is nested deeper than 64 levels"},
		{"much too deep", strings.Repeat("[", 500_000), "exceeded max depth"},
		{"not UTF-8", "name: a\nsteps: \xff\n", "line 2: this is not UTF-8"},
		{"UTF-16", "\xff\xfen\x00a\x00", "line 1: this is not UTF-8"},
		{"zero byte", "name: a\x00b\n", "control characters are not allowed"},
		{"colon in a bare expression", "steps: ${ {a: 1} }\n", "mapping values are not allowed in this context"},
		{"long expression", "output: ${ " + strings.Repeat("1+", 10_000) + "1 }\nsteps: [{}]", "the expression has 20001 bytes, at most 16384 are allowed"},
		{"zero byte in an expression", `output: "${ 1 # \0 }` + "\n\n" + ` }"` + "\nsteps: [{}]", "there is a zero byte in the expression"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan.Parse([]byte(c.plan))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// An alias bomb costs what its 350 bytes cost: nothing of it is expanded.
func TestAnAliasBombIsNotExpanded(t *testing.T) {
	text := []byte(bomb())
	allocs := testing.AllocsPerRun(1, func() {
		if _, err := plan.Parse(text); err == nil {
			t.Error("the bomb was accepted")
		}
	})
	if allocs > 5_000 {
		t.Errorf("%.0f allocations, want at most 5000", allocs)
	}
}

func TestAPlanDoesNotLeaveItsDirectory(t *testing.T) {
	for file, want := range map[string]string{
		"../a.wasm":               "leads out of the plan's directory",
		"lib/../../a.wasm":        "leads out of the plan's directory",
		"lib/../a.wasm":           "leads out of the plan's directory",
		"..":                      "leads out of the plan's directory",
		"/etc/passwd":             "is absolute",
		`..\a.wasm`:               "has a backslash in it",
		`lib\a.wasm`:              "has a backslash in it",
		`C:a.wasm`:                "has a colon in it",
		"C:/a.wasm":               "has a colon in it",
		"file:///etc/passwd":      "has a colon in it",
		"https://x.test/a":        "has a colon in it",
		"a.wasm:stream":           "has a colon in it",
		"lib/":                    "is a directory",
		".":                       "is a directory",
		"./":                      "is a directory",
		"lib/..":                  "leads out of the plan's directory",
		"a\x01b":                  "has a control character in it",
		strings.Repeat("a", 2000): "has more than 1024 bytes",
	} {
		_, err := plan.Parse(fmt.Appendf(nil, "tools: {a: %q}\nsteps: [{id: x, tool: a.b}]", file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", file, err, want)
		}
	}
	for _, file := range []string{"a.wasm", "./a.wasm", "lib/a.wasm", "./lib/v1..2/a b.wasm", "é/a.wasm", "...wasm"} {
		if _, err := plan.Parse(fmt.Appendf(nil, "tools: {a: %q}\nsteps: [{id: x, tool: a.b}]", file)); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestAPlanHasOnlySoManyExpressions(t *testing.T) {
	var b strings.Builder
	b.WriteString("tools: {a: a.wasm}\nsteps:\n- {id: x, tool: a.b}\noutput:\n")
	for i := range plan.MaxExprs {
		fmt.Fprintf(&b, "- ${ %d }\n- ${ %d }\n", i, i/2)
	}
	if _, err := plan.Parse([]byte(b.String())); err != nil {
		t.Fatal(err)
	}
	b.WriteString("- ${ -1 }\n")
	_, err := plan.Parse([]byte(b.String()))
	if want := "line 40005, column 3: the plan has more than 20000 different expressions"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestTheLargestPlanRuns(t *testing.T) {
	var b strings.Builder
	b.WriteString("tools: {a: a.wasm}\nsteps:\n")
	for i := range plan.MaxSteps {
		fmt.Fprintf(&b, "- {id: s%d, tool: a.b, with: %d}\n", i, i)
	}
	p := mustParse(t, b.String())
	c := &fakeCaller{}
	if _, err := p.Run(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if got := len(c.calls); got != plan.MaxSteps {
		t.Errorf("%d calls, want %d", got, plan.MaxSteps)
	}
	if got, want := c.calls[plan.MaxSteps-1], "s9999 a.b 9999"; got != want {
		t.Errorf("last call %q, want %q", got, want)
	}
}

// The interpreter takes one instruction for a product of two numbers, however long they are.
func TestANumberThatIsTooLongIsRefused(t *testing.T) {
	p := mustParse(t, oneStep("id: x, tool: a.b, with: \"${ .input * .input }\""))
	long := []byte(strings.Repeat("9", 5000))
	if _, err := p.Run(t.Context(), &fakeCaller{}, long); !errors.Is(err, toolabi.BadInput) {
		t.Errorf("got %v, want %v", err, toolabi.BadInput)
	}
}
