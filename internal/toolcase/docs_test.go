package toolcase_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/internal/toolcase"
)

// Each file of cases in the documentation is one that is read.
func TestTheDocumentationsCasesAreInOrder(t *testing.T) {
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, p := range pages {
		for _, b := range p.Blocks {
			if b.Lang != "yaml" || b.Word != "cases" {
				continue
			}
			files++
			if _, err := toolcase.Parse([]byte(b.Text), nil); err != nil {
				t.Errorf("%s:%d: %v", p.File, b.Line, err)
			}
		}
	}
	if files < 1 {
		t.Error("there is no file of cases")
	}
}
