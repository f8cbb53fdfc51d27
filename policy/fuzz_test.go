package policy_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/wrun-dev/wrun/policy"
)

// A text is a policy or a list of mistakes; and a policy decides every call, twice the same.
func FuzzParse(f *testing.F) {
	for _, p := range pages(f) {
		for _, group := range p.Groups("policy") {
			f.Add([]byte(group[0].Text), "payments.charge", []byte(`{"amount_cents": 20000}`))
		}
	}
	f.Add([]byte(bomb()), "a.b", []byte("1"))
	f.Add([]byte(oneRule(`tool: "*.*", do: ask, within: 1h, when: "${ error(.input) }"`)), "a.b", []byte(`"\u001b\ud83d\ude00"`))
	f.Add([]byte(oneRule(`tool: a.*, do: allow, when: "${ .[\"input\"][] }"`)), "a.", []byte(`[1e999]`))
	f.Add([]byte("default: ask"), "", []byte("\xff"))
	f.Fuzz(func(t *testing.T, text []byte, tool string, input []byte) {
		p, err := policy.Parse(text)
		if err != nil {
			if e := (*policy.Error)(nil); !errors.As(err, &e) || p != nil {
				t.Fatalf("%v is no *policy.Error, or there is a policy besides", err)
			}
			return
		}
		c := call(tool, string(input))
		d := p.Decide(t.Context(), c)
		if d.Do != policy.Allow && d.Reason == "" || strings.ContainsFunc(d.Reason, func(r rune) bool { return !unicode.IsPrint(r) && r != unicode.ReplacementChar }) {
			t.Fatalf("%v with the reason %q", d.Do, d.Reason)
		}
		if d.Within != 0 && d.Do != policy.Ask || d.Rule < 0 || d.Do < policy.Deny || d.Do > policy.Allow {
			t.Fatalf("decision %+v", d)
		}
		if again := p.Decide(t.Context(), c); again != d {
			t.Fatalf("first %+v, then %+v", d, again)
		}
	})
}
