package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of docs/reliability.md is what is checked.
func TestTheInvariantsAreThoseOfTheDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "<!-- invariants -->\n")
	got, _, ok := strings.Cut(rest, "<!-- end -->")
	want := "| | holds | for |\n|---|---|---|\n"
	for _, i := range invariants {
		var kinds []string
		for _, k := range i.kinds {
			kinds = append(kinds, string(k))
		}
		want += fmt.Sprintf("| %s | %s | %s |\n", i.name, i.what, strings.Join(kinds, ", "))
	}
	if !ok || got != want {
		t.Errorf("docs/reliability.md has\n%s\nwant\n%s", got, want)
	}
	for _, w := range ways {
		if !strings.Contains(string(b), "| "+w.fault+" |") {
			t.Errorf("docs/reliability.md has no count of %q", w.fault)
		}
	}
	for _, c := range controls {
		if !strings.Contains(string(b), "`"+c.tag+"`") {
			t.Errorf("docs/reliability.md does not name %s", c.tag)
		}
	}
}
