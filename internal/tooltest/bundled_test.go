package tooltest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// The cases of the bundled tools pass.
func TestTheCasesOfTheBundledTools(t *testing.T) {
	paths, err := filepath.Glob("../../tools/*/cases/*.yaml")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := toolcase.Parse(text, nil)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			m, err := sandbox.Inspect(wasmtest.Tool(t, "tools/"+filepath.Base(filepath.Dir(filepath.Dir(path)))))
			if err != nil {
				t.Fatal(err)
			}
			b, err := tooltest.New(t.Context(), m, tooltest.Config{Cache: wasmtest.CodeCache(t)})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range f.Cases {
				r, err := b.Run(t.Context(), f, c)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Passed() {
					t.Errorf("%s: %s", c.Name, strings.Join(r.Failures, "\n"))
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
