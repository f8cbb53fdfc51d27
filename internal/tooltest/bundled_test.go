package tooltest_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The cases of the bundled tools pass.
func TestTheCasesOfTheBundledTools(t *testing.T) {
	paths, err := filepath.Glob("../../tools/*/cases/*.yaml")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, b := casesIn(t, path), benchOf(t, "tools/"+filepath.Base(filepath.Dir(filepath.Dir(path))))
			for _, c := range f.Cases {
				r, err := b.Run(t.Context(), f, c)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Passed() {
					t.Errorf("%s: %s", c.Name, strings.Join(r.Failures, "\n"))
				}
			}
		})
	}
}
