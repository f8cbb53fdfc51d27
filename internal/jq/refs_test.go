package jq_test

import (
	"fmt"
	"testing"

	"github.com/wrun-dev/wrun/internal/jq"
)

// What an expression is said not to look at can be missing without a difference.
func FuzzRefs(f *testing.F) {
	for _, s := range []string{
		".a", ".a + .b.c", ".a[.b.i]", `{a, "b": 1}`, "if .a then .b end", ".a as [$x] | .b", ".a |= 1", ".. | .a?",
		"reduce .a[] as $x (0; . + $x)", "try .b.c.d catch .", "[.a[] | .b]", `"\(.a)"`, ". as {a: $x} | $x", "keys",
		`.["a"]`, "def f: .b; f", "label $f | .a", "foreach .a[] as $x (.b; 1; .)", "-.b.i", "@json \"\\(.b)\"", "@json",
		"if .c == 1 then 1 end", ".b as {(.b.k): $x} | $x", ".input as {(.c): $x} | $x", ". [\"a\"]", "..", ".a? // .b", "first(.a)", "limit(1; .a)", "{(.b.k): .a}", ". as {(.b.k): $x} | $x", ".[\"a\", \"b\"]", ".a, .b | 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, seen, err := jq.Compile(s, jq.Place{Name: "a test"})
		if err != nil || seen.Whole {
			return
		}
		all := map[string]any{
			"a":     []any{1, "x", nil, map[string]any{"a": 2, "b": 3}},
			"b":     map[string]any{"c": true, "i": 1, "k": "a", "a": []any{1, 2}},
			"input": map[string]any{"a": 1, "b": []any{3}, "c": "b"}, "c": "d",
		}
		some := map[string]any{}
		for _, name := range seen.Names {
			if v, ok := all[name]; ok {
				some[name] = v
			}
		}
		if got, want := outcome(t, e, some), outcome(t, e, all); got != want {
			t.Fatalf("%q looks at %q; with those only it gives %s, with all %s", s, seen.Names, got, want)
		}
	})
}

// The bounds of the tests' expressions.
const (
	maxWork = 4_000_000
	maxSize = 1 << 20
)

func outcome(t *testing.T, e *jq.Expr, root map[string]any) string {
	v, err := e.Value(t.Context(), root, jq.NewWork(maxWork), maxSize)
	if err != nil {
		return err.Error()
	}
	j, err := jq.Encode(v, maxSize)
	return fmt.Sprint(string(j), err)
}
