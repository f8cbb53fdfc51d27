package fakemodel_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/wrun-dev/wrun/internal/fakemodel"
)

// The documentation has every fault in its order, and whether it is billed.
func TestTheDocumentationHasEveryFault(t *testing.T) {
	doc, err := os.ReadFile("../../docs/script.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z_0-9]+)` \\| (yes|no) \\|").FindAllStringSubmatch(string(doc), -1)
	if len(rows) != len(fakemodel.Faults) {
		t.Fatalf("%d rows, want %d", len(rows), len(fakemodel.Faults))
	}
	for i, f := range fakemodel.Faults {
		if rows[i][1] != string(f.Fault) {
			t.Errorf("row %d is %s, want %s", i+1, rows[i][1], f.Fault)
			continue
		}
		if f.Fault == fakemodel.HangBefore || f.Fault == fakemodel.HangAfter {
			continue // tested with their release
		}
		s := start(t, fakemodel.Config{})
		b := s.Behaviour()
		*b.Left(f.Fault) = 1
		if err := s.SetBehaviour(b); err != nil {
			t.Fatal(err)
		}
		_, _ = ask(t.Context(), "POST", s.URL()+"/v1/messages", msgsHello)
		if billed := map[int]string{0: "no", 1: "yes"}[s.Count().Bills]; billed != rows[i][2] {
			t.Errorf("%s is billed: %s, and the documentation says %s", f.Fault, billed, rows[i][2])
		}
	}
}
