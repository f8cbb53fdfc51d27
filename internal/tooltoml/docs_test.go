package tooltoml_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/internal/tooltoml"
)

// TestManifestsInTheDocsAreInOrder reads every manifest in the documentation.
func TestManifestsInTheDocsAreInOrder(t *testing.T) {
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	programs, modules := 0, 0
	for _, p := range pages {
		for _, b := range p.Blocks {
			if b.Lang != "toml" {
				continue
			}
			m, err := tooltoml.Read([]byte(b.Text))
			switch {
			case err != nil:
				t.Errorf("%s:%d: %v", p.File, b.Line, err)
			case m.Command != nil:
				programs++
			default:
				modules++
			}
		}
	}
	if programs < 2 || modules < 1 {
		t.Errorf("the docs have %d manifests of programs and %d of modules", programs, modules)
	}
}
