package crashtest_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/docpage"
)

// Each world in the documentation is one that is read.
func TestTheDocumentationsWorldsAreInOrder(t *testing.T) {
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	worlds := 0
	for _, p := range pages {
		for _, b := range p.Blocks {
			if b.Lang != "yaml" || b.Word != "world" {
				continue
			}
			worlds++
			if _, err := crashtest.ParseWorld([]byte(b.Text), nil); err != nil {
				t.Errorf("%s:%d: %v", p.File, b.Line, err)
			}
		}
	}
	if worlds < 1 {
		t.Error("there is no world")
	}
}
