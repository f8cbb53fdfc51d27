package jq_test

import (
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/wrun-dev/wrun/internal/jq"
)

// What jq can read is found to end where it ends.
func FuzzEnd(f *testing.F) {
	for _, s := range []string{".a", `"}"`, `{a: "\(1 + {b: 2}.b)}"}`, "1 # }\n", `"\\"`, "1 # \\\n }\n | 2", "[(1)]", `"\("\("}")")"`, "1 #\\\\\n", "1 #\\\r}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > jq.MaxText || strings.ContainsRune(s, 0) {
			return
		}
		if _, err := gojq.Parse(s); err != nil {
			return
		}
		if _, err := gojq.Parse(s + "}"); err == nil {
			return // it ends in a comment
		}
		if got := jq.End(s + "} tail"); got != len(s) {
			t.Fatalf("%q ends at %d, found at %d", s, len(s), got)
		}
	})
}
