package policy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/policy"
)

func mustParse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return p
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	p := mustParse(t, `
rules:
  - {tool: a.x, do: deny, when: false}
  - {tool: a.x, do: ask, when: "${ .input.n == 1 }", within: 90m}
  - {tool: a.x, do: allow, when: "${ .input.n == 2 }", reason: two is well known}
  - {tool: a.*, do: deny, reason: nothing else of a}
  - {tool: "*.read", do: allow, when: true}
  - {tool: "*.*", do: deny, when: "${ .destructive }"}
default: ask
`)
	for _, c := range []struct {
		tool, input string
		destructive bool
		want        policy.Decision
	}{
		{"a.x", `{"n": 1}`, false, policy.Decision{Do: policy.Ask, Reason: "line 4 of the policy says ask", Rule: 4, Within: 90 * time.Minute}},
		{"a.x", `{"n": 2}`, true, policy.Decision{Do: policy.Allow, Reason: "two is well known", Rule: 5}},
		{"a.x", `{"n": 3}`, false, policy.Decision{Do: policy.Deny, Reason: "nothing else of a", Rule: 6}},
		{"a.read", `{}`, false, policy.Decision{Do: policy.Deny, Reason: "nothing else of a", Rule: 6}},
		{"b.read", `{}`, true, policy.Decision{Do: policy.Allow, Rule: 7}},
		{"b.write", `{}`, true, policy.Decision{Do: policy.Deny, Reason: "line 8 of the policy says deny", Rule: 8}},
		{"b.write", `{}`, false, policy.Decision{Do: policy.Ask, Reason: "no rule of the policy matches, and its default is ask"}},
		{"aa.x", `{}`, false, policy.Decision{Do: policy.Ask, Reason: "no rule of the policy matches, and its default is ask"}},
	} {
		asked := call(c.tool, c.input)
		asked.Destructive = c.destructive
		if got := p.Decide(t.Context(), asked); got != c.want {
			t.Errorf("%s %s\ngot  %+v\nwant %+v", c.tool, c.input, got, c.want)
		}
	}
}

func TestWithoutADefaultACallIsAllowed(t *testing.T) {
	for _, text := range []string{"rules: []", "rules:\n- {tool: a.x, do: deny}", "default: allow"} {
		if got := mustParse(t, text).Decide(t.Context(), call("b.x", "")); got != (policy.Decision{Do: policy.Allow}) {
			t.Errorf("%s: got %+v, want that it is allowed", text, got)
		}
	}
}

func TestAConditionSeesTheCall(t *testing.T) {
	p := mustParse(t, `
rules:
  - tool: "*.*"
    when: |
      ${
        . == {run: "r", step: "s/1", module: "m", tool: "t", digest: "d1", idempotency: "keyed",
          destructive: true, approval: true, input: {n: 9007199254740993, f: 0.10}}
        and .input.n != 9007199254740992
      }
    do: allow
default: deny
`)
	c := policy.Call{
		Run: "r", Step: "s/1", Module: "m", Tool: "t", Digest: "d1", Idempotency: "keyed",
		Destructive: true, Approval: true, Input: []byte(`{"f": 0.10, "n": 9007199254740993}`),
	}
	if got := p.Decide(t.Context(), c); got.Do != policy.Allow {
		t.Errorf("got %+v, want that it is allowed", got)
	}
	c.Approval = false
	if got := p.Decide(t.Context(), c); got.Do != policy.Deny {
		t.Errorf("got %+v for another call, want that it is denied", got)
	}
}

// As in jq, everything but false and null holds.
func TestWhatHoldsIsWhatHoldsInJQ(t *testing.T) {
	for value, want := range map[string]policy.Verdict{
		"true": policy.Ask, "0": policy.Ask, `""`: policy.Ask, "[]": policy.Ask, "{}": policy.Ask,
		"false": policy.Allow, "null": policy.Allow, "": policy.Allow,
	} {
		p := mustParse(t, "rules:\n- {tool: a.x, do: ask, when: '${ .input }'}")
		if got := p.Decide(t.Context(), call("a.x", value)); got.Do != want {
			t.Errorf("the input %q: got %+v, want %v", value, got, want)
		}
	}
}

func TestAConditionThatFailsDenies(t *testing.T) {
	for _, c := range []struct{ name, when, input, want string }{
		{"an error", ".input.a / 0", `{"a": 1}`, "cannot divide number (1) by: number (0)"},
		{"an own error", `error("no")`, "{}", "error: no"},
		{"no value", ".input[]", "[]", "it gives no value; where that can happen, write first(…, null)"},
		{"several values", ".input[]", "[false, false]", "it gives more than one value; put it in [ ] to make a list of them"},
		{"no JSON", "nan", "{}", "it gives NaN, which JSON does not have"},
		{"endless", "last(repeat(1))", "{}", "it takes more than 4000000 instructions"},
		{"endless without a value", "[repeat(1)]", "{}", "it takes more than 4000000 instructions"},
		{"too large", ".input * 2", `"` + strings.Repeat("x", policy.MaxValue/2) + `"`, "as JSON it has more than 1048576 bytes"},
		{"a large input", ".input", strings.Repeat(" ", policy.MaxInput) + "1", "the input has 1048577 bytes, a condition may look at 1048576"},
		{"a large input as a part", "[.[]]", strings.Repeat(" ", policy.MaxInput) + "1", "the input has 1048577 bytes, a condition may look at 1048576"},
		{"a long number", ".input.n == 1", `{"m": 1` + strings.Repeat("0", policy.MaxNumber) + "}", "read the input: it has a number of more than 1000 bytes"},
		{"no input", ".input", "{", "read the input: unexpected EOF"},
		{"half a character", ".input", `"\ud800"`, "read the input: it has half of a surrogate pair in a string"},
		{"two inputs", ".input", "1 2", "read the input: there is something behind the value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustParse(t, "rules:\n- {tool: a.x, do: allow, when: '${ "+c.when+" }'}\n- {tool: a.x, do: allow}")
			want := policy.Decision{Do: policy.Deny, Reason: "line 2 of the policy: ${ " + c.when + " }: " + c.want, Rule: 2}
			if got := p.Decide(t.Context(), call("a.x", c.input)); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestAnInputIsReadOnlyForAConditionThatLooksAtIt(t *testing.T) {
	p := mustParse(t, `
rules:
- {tool: a.x, do: allow, when: '${ .destructive | not }'}
- {tool: a.x, do: allow, when: '${ .input }'}
- {tool: a.*, do: allow}
default: deny`)
	if got := p.Decide(t.Context(), call("a.x", "{")); got.Do != policy.Allow {
		t.Errorf("got %+v, want that it is allowed", got)
	}
	if got := p.Decide(t.Context(), call("a.y", "{")); got.Do != policy.Allow {
		t.Errorf("got %+v, want that it is allowed", got)
	}
	c := call("a.x", "{")
	c.Destructive = true
	if got := p.Decide(t.Context(), c); got.Do != policy.Deny || got.Rule != 4 {
		t.Errorf("got %+v, want a denial by line 4", got)
	}
}

// Many conditions that are each within the bound are not within it together.
func TestTheWorkOfADecisionIsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("rules:\n")
	for range policy.MaxRules {
		text.WriteString("- {tool: a.x, do: allow, when: '${ last(range(100000)) < 0 }'}\n")
	}
	got := mustParse(t, text.String()).Decide(t.Context(), call("a.x", "{}"))
	if got.Do != policy.Deny || got.Rule < 3 || !strings.HasSuffix(got.Reason, "it takes more than 4000000 instructions") {
		t.Errorf("got %+v, want that a later rule is stopped", got)
	}
}

// A denial may be recorded for good, so the end of a context must not make one.
func TestTheEndOfAContextDoesNotChangeADecision(t *testing.T) {
	p := mustParse(t, "rules:\n- {tool: a.x, do: allow, when: '${ [range(1000)] | length == 1000 }'}\ndefault: deny")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := p.Decide(ctx, call("a.x", "{}")); got.Do != policy.Allow {
		t.Errorf("got %+v, want that it is allowed", got)
	}
}

// What a caller puts into the input comes back in a reason, and that is shown in a terminal.
func TestAReasonCannotSteerATerminal(t *testing.T) {
	p := mustParse(t, "rules:\n- {tool: a.x, do: deny, when: '${ error(.input) }'}")
	for input, want := range map[string]string{
		`"\u001b[2Jyes"`:                      "error: \uFFFD[2Jyes",
		`"a\nb\u202e\u0007"`:                  "error: a b\uFFFD\uFFFD",
		`"` + strings.Repeat("é", 2000) + `"`: "error: " + strings.Repeat("é", 487),
	} {
		got := p.Decide(t.Context(), call("a.x", input)).Reason
		if want = "line 2 of the policy: ${ error(.input) }: " + want; got != want {
			t.Errorf("%.20s: got %q, want %q", input, got, want)
		}
		if len(got) > 1<<10 {
			t.Errorf("%.20s: a reason of %d bytes", input, len(got))
		}
	}
}

func TestAPolicyIsNamedByItsText(t *testing.T) {
	text := []byte("default: deny\n")
	p := mustParse(t, string(text))
	if got := p.Digest(); got != sha256.Sum256(text) {
		t.Errorf("digest %x", got)
	}
	if got := mustParse(t, "default: deny").Digest(); got == p.Digest() {
		t.Error("two texts have the same digest")
	}
}

func TestAPolicyDecidesSeveralCallsAtOnce(t *testing.T) {
	p := mustParse(t, "rules:\n- {tool: a.x, do: ask, when: '${ [.input.list[] | . * 2] | add > 100 }'}")
	var wg sync.WaitGroup
	for i := range 8 {
		want, input := policy.Allow, []byte(`{"list": [1, 2, 3]}`)
		if i%2 == 0 {
			want, input = policy.Ask, bytes.ReplaceAll(input, []byte("3"), []byte("300"))
		}
		wg.Go(func() {
			for range 50 {
				if got := p.Decide(t.Context(), call("a.x", string(input))); got.Do != want {
					t.Errorf("%s: got %+v, want %v", input, got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestTheZeroDecisionDenies(t *testing.T) {
	if got := (policy.Decision{}).Do; got != policy.Deny {
		t.Errorf("got %v, want deny", got)
	}
	if got := policy.Verdict(9).String(); got != "Verdict(9)" {
		t.Errorf("a verdict that there is not is called %q", got)
	}
}
