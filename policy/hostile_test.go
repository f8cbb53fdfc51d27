package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/policy"
)

// oneRule makes a policy of one rule out of its fields, on line 2.
func oneRule(fields string) string { return "rules:\n  - {" + fields + "}\n" }

func TestWhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	const pattern = ` is no pattern of tools: want "module.tool", with * for the whole of either part`
	const cyrillicA, cyrillicE = "\u0430", "\u0435"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the policy is empty"},
		{"only a comment", "# nothing\n", "line 1: the policy is empty"},
		{"a list", "- a\n", "line 1, column 1: a policy has to be a mapping, this is a list"},
		{"nothing in it", "{}", `line 1, column 1: a policy needs "rules" or "default"`},
		{"rules no list", "rules: {tool: a.b}", `line 1, column 8: "rules" has to be a list, this is a mapping`},
		{"rules empty", "rules:\ndefault: deny", `line 1, column 7: "rules" has to be a list, this is nothing`},
		{"rule no mapping", "rules: [deny]", `line 1, column 9: a rule has to be a mapping, this is "deny"`},
		{"unknown field", "rule: []\n", "line 1, column 1: unknown field \"rule\"; did you mean \"rules\"?\nline 1, column 1: a policy needs \"rules\" or \"default\""},
		{"unknown field of a rule", oneRule("tool: a.b, do: deny, wihtin: 1h"), `line 2, column 27: unknown field "wihtin"; did you mean "within"?`},
		{"if", oneRule("tool: a.b, do: deny, if: true"), `line 2, column 27: unknown field "if"`},
		{"homoglyph in a field", oneRule("tool: a.b, do: deny, wh" + cyrillicE + "n: true"), `line 2, column 27: unknown field "wh\u0435n"; did you mean "when"?`},

		{"no tool", oneRule("do: deny"), `line 2, column 5: a rule needs "tool"; "*.*" stands for every one`},
		{"tool number", oneRule("tool: 1.5, do: deny"), `line 2, column 12: "tool" has to be a string, this is the number 1.5`},
		{"tool null", oneRule("tool: ~, do: deny"), `line 2, column 12: "tool" has to be a string, this is nothing`},
		{"one star", oneRule(`tool: "*", do: deny`), `line 2, column 12: "*"` + pattern},
		{"no dot", oneRule("tool: payments, do: deny"), `line 2, column 12: "payments"` + pattern},
		{"no module", oneRule("tool: .charge, do: deny"), `line 2, column 12: ".charge"` + pattern},
		{"no tool's name", oneRule("tool: payments., do: deny"), `line 2, column 12: "payments."` + pattern},
		{"three parts", oneRule("tool: a.b.c, do: deny"), `line 2, column 12: "a.b.c"` + pattern},
		{"three stars", oneRule(`tool: "*.*.*", do: deny`), `line 2, column 12: "*.*.*"` + pattern},
		{"part of a part", oneRule(`tool: "payments.ch*", do: deny`), `line 2, column 12: "payments.ch*"` + pattern},
		{"two stars in a part", oneRule(`tool: "**.charge", do: deny`), `line 2, column 12: "**.charge"` + pattern},
		{"upper case", oneRule("tool: Payments.charge, do: deny"), `line 2, column 12: "Payments.charge"` + pattern},
		{"space", oneRule(`tool: "payments.charge ", do: deny`), `line 2, column 12: "payments.charge "` + pattern},
		{"regular expression", oneRule(`tool: "payments|mail.*", do: deny`), `line 2, column 12: "payments|mail.*"` + pattern},
		{"homoglyph in a module", oneRule("tool: p" + cyrillicA + "yments.charge, do: deny"), `line 2, column 12: "p\u0430yments.charge"` + pattern},
		{"homoglyph of a star", oneRule("tool: payments.\uFF0A, do: deny"), `line 2, column 12: "payments.\uff0a"` + pattern},

		{"no do", oneRule("tool: a.b"), `line 2, column 5: a rule needs "do": allow, ask or deny`},
		{"upper-case Allow", oneRule("tool: a.b, do: Allow"), `line 2, column 21: "do" has to be allow, ask or deny, this is "Allow"; did you mean "allow"?`},
		{"upper-case DENY", oneRule("tool: a.b, do: DENY"), `line 2, column 21: "do" has to be allow, ask or deny, this is "DENY"; did you mean "deny"?`},
		{"denied", oneRule("tool: a.b, do: denyy"), `line 2, column 21: "do" has to be allow, ask or deny, this is "denyy"; did you mean "deny"?`},
		{"far", oneRule("tool: a.b, do: permit"), `line 2, column 21: "do" has to be allow, ask or deny, this is "permit"`},
		{"homoglyph in do", oneRule("tool: a.b, do: " + cyrillicA + "llow"), `line 2, column 21: "do" has to be allow, ask or deny, this is "\u0430llow"; did you mean "allow"?`},
		{"do true", oneRule("tool: a.b, do: true"), `line 2, column 21: "do" has to be a string, this is true`},
		{"default no", "default: no", `line 1, column 10: "default" has to be allow, ask or deny, this is "no"`},
		{"default Ask", "default: Ask", `line 1, column 10: "default" has to be allow, ask or deny, this is "Ask"; did you mean "ask"?`},

		{"when text", oneRule("tool: a.b, do: deny, when: .destructive"), `line 2, column 33: "when" has to be one expression, "${ … }", this is ".destructive"`},
		{"when mixed", oneRule(`tool: a.b, do: deny, when: "${ .run } x"`), `line 2, column 33: "when" has to be one expression, "${ … }", this is "${ .run } x"`},
		{"when two", oneRule(`tool: a.b, do: deny, when: "${ .run }${ .step }"`), `line 2, column 33: "when" has to be one expression, "${ … }", this is "${ .run }${ .step }"`},
		{"when unclosed", oneRule(`tool: a.b, do: deny, when: "${ .run"`), `line 2, column 33: "when" has to be one expression, "${ … }", this is "${ .run"`},
		{"when doubled", oneRule(`tool: a.b, do: deny, when: "$${ .run }"`), `line 2, column 33: "when" has to be one expression, "${ … }", this is "$${ .run }"`},
		{"when nothing", oneRule("tool: a.b, do: deny, when: "), `line 2, column 33: "when" has to be one expression, "${ … }", this is nothing`},
		{"when number", oneRule("tool: a.b, do: deny, when: 1"), `line 2, column 33: "when" has to be one expression, "${ … }", this is the number 1`},
		{"when mapping", oneRule("tool: a.b, do: deny, when: {destructive: true}"), `line 2, column 33: "when" has to be one expression, "${ … }", this is a mapping`},
		{"when empty", oneRule(`tool: a.b, do: deny, when: "${ }"`), "line 2, column 33: ${  }: there is nothing between ${ and }"},
		{"no jq", oneRule(`tool: a.b, do: deny, when: "${ .a + }"`), "line 2, column 33: ${ .a + }: unexpected EOF at byte 4"},
		{"unknown function", oneRule(`tool: a.b, do: deny, when: "${ .input | lenght }"`), "line 2, column 33: ${ .input | lenght }: function not defined: lenght/0"},
		{"clock", oneRule(`tool: a.b, do: deny, when: "${ now > 0 }"`), "line 2, column 33: ${ now > 0 }: now is not available in a policy: a call is decided the same at any time"},
		{"environment", oneRule(`tool: a.b, do: deny, when: "${ env.USER }"`), "line 2, column 33: ${ env.USER }: env is not available in a policy"},
		{"jq's input", oneRule(`tool: a.b, do: deny, when: "${ input }"`), "line 2, column 33: ${ input }: input is not available in a policy: the input is .input"},
		{"unknown in the context", oneRule(`tool: a.b, do: deny, when: "${ .inptu.a }"`), `line 2, column 33: ${ .inptu.a }: a condition does not see "inptu"; did you mean "input"?`},
		{"homoglyph in the context", oneRule(`tool: a.b, do: deny, when: "${ .[\"d` + cyrillicE + `structive\"] }"`), `a condition does not see "d\u0435structive"; did you mean "destructive"?`},
		{"homoglyph in jq", oneRule(`tool: a.b, do: deny, when: "${ .d` + cyrillicE + `structive }"`), "unexpected token \"\u0435\" at byte 4"},
		{"long expression", oneRule(`tool: a.b, do: deny, when: "${ ` + strings.Repeat("1+", 10_000) + `1 }"`), "the expression has 20001 bytes, at most 16384 are allowed"},

		{"reason list", oneRule("tool: a.b, do: deny, reason: [a]"), `line 2, column 35: "reason" has to be a string, this is a list`},
		{"reason with escapes", oneRule(`tool: a.b, do: deny, reason: "\e[2J"`), `line 2, column 35: "reason" has to be one line of at most 500 characters that can be printed`},
		{"reason of two lines", oneRule(`tool: a.b, do: deny, reason: "a\nb"`), `line 2, column 35: "reason" has to be one line of at most 500 characters that can be printed`},
		{"reason turned around", oneRule(`tool: a.b, do: deny, reason: "a\u202eb"`), `line 2, column 35: "reason" has to be one line of at most 500 characters that can be printed`},
		{"reason long", oneRule("tool: a.b, do: deny, reason: " + strings.Repeat("é", 501)), `line 2, column 35: "reason" has to be one line of at most 500 characters that can be printed`},

		{"within number", oneRule("tool: a.b, do: ask, within: 24"), `line 2, column 34: "within" has to be a string, this is the number 24`},
		{"within days", oneRule("tool: a.b, do: ask, within: 7d"), `line 2, column 34: "within" has to be a time of at least a second, like 90s, 30m or 24h, this is "7d"`},
		{"within negative", oneRule("tool: a.b, do: ask, within: -1h"), `line 2, column 34: "within" has to be a time of at least a second, like 90s, 30m or 24h, this is "-1h"`},
		{"within milliseconds", oneRule("tool: a.b, do: ask, within: 999ms"), `line 2, column 34: "within" has to be a time of at least a second, like 90s, 30m or 24h, this is "999ms"`},
		{"within too much", oneRule("tool: a.b, do: ask, within: 9999999999h"), `line 2, column 34: "within" has to be a time of at least a second, like 90s, 30m or 24h, this is "9999999999h"`},
		{"within of a denial", oneRule("tool: a.b, do: deny, within: 1h"), `line 2, column 35: "within" is only for "do: ask": it says how long a yes is accepted`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.Parse([]byte(c.text))
			if err == nil || p != nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "\n") != strings.Count(c.want, "\n") {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

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
	for _, c := range []struct{ name, text, want string }{
		{"alias bomb", bomb(), "line 1, column 4: anchors are not allowed (&a)"},
		{"alias", "x: &x {tool: a.b, do: deny}\nrules: [*x]", "line 2, column 9: aliases are not allowed (*x); write the value out"},
		{"merge", "rules:\n- {<<: {do: allow}, tool: a.b, do: deny}", "line 2, column 4: merge keys are not allowed; write the fields out"},
		{"tag", "default: !!str deny", "line 1, column 10: tags are not allowed (!!str)"},
		{"python object", "default: !!python/object:os.system [rm]\n", "tags are not allowed (!!python/object:os.system)"},
		{"do twice", oneRule("tool: a.b, do: deny, do: allow"), `line 2, column 27: the key "do" is there twice; the first is on line 2`},
		{"default twice", "default: deny\nrules: []\ndefault: allow\n", `line 3, column 1: the key "default" is there twice; the first is on line 1`},
		{"rules twice", "rules: []\n\"rules\": []\n", `line 2, column 1: the key "rules" is there twice; the first is on line 1`},
		{"tab", "rules:\n\t- {tool: a.b, do: deny}\n", "line 2: this line is indented with a tab; YAML wants spaces"},
		{"two documents", "default: deny\n---\ndefault: allow\n", "a policy is one document; a second one begins here"},
		{"too long", strings.Repeat("#", 100<<20), "the policy has 104857600 bytes, at most 1048576 are allowed"},
		{"too many rules", "rules:\n" + strings.Repeat("- {}\n", policy.MaxRules+1), `"rules" has 1001 rules, at most 1000 are allowed`},
		{"too deep", "rules: " + strings.Repeat("[", 20) + strings.Repeat("]", 20), "this is nested deeper than 16 levels"},
		{"much too deep", strings.Repeat("[", 500_000), "exceeded max depth"},
		{"not UTF-8", "default: deny\nrules: \xff\n", "line 2: this is not UTF-8"},
		{"UTF-16", "\xff\xfed\x00", "line 1: this is not UTF-8"},
		{"zero byte", "default: de\x00ny\n", "control characters are not allowed"},
		{"colon in a bare expression", "rules:\n- tool: a.b\n  do: deny\n  when: ${ {a: 1} }\n", `text with ": " in it, an expression too, has to be quoted`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.Parse([]byte(c.text))
			if e := (*policy.Error)(nil); p != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestUpToTwentyMistakesAreReported(t *testing.T) {
	_, err := policy.Parse([]byte("rules:\n" + strings.Repeat("- {tool: x, do: y}\n", 50)))
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != 20 || !strings.HasPrefix(lines[19], "line 11, column 17: ") {
		t.Errorf("%d mistakes, the last %q; want 20, the last on line 11", len(lines), lines[len(lines)-1])
	}
}

func TestARuleThatIsNeverReachedIsAMistake(t *testing.T) {
	for _, c := range []struct {
		first, second string
		reached       bool
	}{
		{`tool: "*.*"`, `tool: a.b`, false},
		{`tool: a.*`, `tool: a.b`, false},
		{`tool: "*.b"`, `tool: a.b`, false},
		{`tool: a.b`, `tool: a.b, when: "${ .destructive }"`, false},
		{`tool: "*.*", when: true`, `tool: "*.*"`, false},
		{`tool: "*.*", when: false`, `tool: a.b`, true},
		{`tool: "*.*", when: "${ .destructive }"`, `tool: a.b`, true},
		{`tool: a.*`, `tool: "*.*"`, true},
		{`tool: a.*`, `tool: "*.b"`, true},
		{`tool: "*.b"`, `tool: a.*`, true},
		{`tool: a.b`, `tool: a.c`, true},
	} {
		_, err := policy.Parse(fmt.Appendf(nil, "rules:\n- {%s, do: allow}\n- {%s, do: deny}\n", c.first, c.second))
		want := "<nil>"
		if !c.reached {
			want = "line 3, column 3: this rule is never reached: the one on line 2 comes first and matches every call that it is about"
		}
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s, then %s: got %s, want %s", c.first, c.second, got, want)
		}
	}
}

func TestTheLargestPolicyDecides(t *testing.T) {
	var text strings.Builder
	text.WriteString("rules:\n")
	for i := range policy.MaxRules {
		fmt.Fprintf(&text, "- {tool: m%d.*, do: deny, when: '${ .input == %d }'}\n", i, i)
	}
	p := mustParse(t, text.String())
	if got := p.Decide(t.Context(), call("m999.x", "999")); got.Do != policy.Deny || got.Rule != 1001 {
		t.Errorf("got %+v, want a denial by line 1001", got)
	}
}
