package tooltoml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/tooltoml"
)

// TestManifestsInTheDocsAreInOrder reads every manifest in docs/abi.md.
func TestManifestsInTheDocsAreInOrder(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "abi.md"))
	if err != nil {
		t.Fatal(err)
	}
	programs, modules := 0, 0
	for _, block := range strings.Split(string(text), "```toml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		m, err := tooltoml.Read([]byte(block))
		switch {
		case err != nil:
			t.Errorf("%v in\n%s", err, block)
		case m.Command != nil:
			programs++
		default:
			modules++
		}
	}
	if programs < 2 || modules < 1 {
		t.Errorf("the docs have %d manifests of programs and %d of modules", programs, modules)
	}
}
