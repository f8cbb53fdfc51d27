package wrun_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Every row of the documented table is what some cell shows, and no rule quotes a row that is not there.
func TestEveryRowOfTheDocumentedTableIsShown(t *testing.T) {
	b, err := os.ReadFile("docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n| the log holds of a step | which means | resume |\n")
	if !ok {
		t.Fatal("docs/journal.md has no such table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for _, line := range strings.Split(table, "\n")[1:] {
		documented = append(documented, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	shown := map[string]bool{rowAgree: true} // by TestACallThatNobodyHasAgreedToIsNotEntered
	for _, r := range rules {
		if r.want != impossible && r.count > 0 {
			shown[r.row] = true
		}
	}
	for _, st := range stories {
		shown[st.row] = true
	}
	for _, row := range documented {
		if !shown[row] {
			t.Errorf("nothing shows %q", row)
		}
	}
	for row := range shown {
		if !slices.Contains(documented, row) {
			t.Errorf("%q is shown, and docs/journal.md does not have it", row)
		}
	}
}
