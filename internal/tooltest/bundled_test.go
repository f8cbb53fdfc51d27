package tooltest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/toolabi"
)

// uncovered is what the cases of the bundled tools leave out.
var uncovered = map[string]string{
	"files":    "http_send artifact_get",    // they are for artifacts of calls before, and a case is one call
	"payments": "find_charge refund_charge", // they are called for the sake of others: the crash points do that
}

// The cases of the bundled tools pass, use what the manifests ask for, and show nobody to break its declaration.
func TestTheCasesOfTheBundledTools(t *testing.T) {
	dirs, err := filepath.Glob("../../tools/*/main.go")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%q, %v", dirs, err)
	}
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(dir))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := benchOf(t, "tools/"+name)
			paths, err := filepath.Glob("../../tools/" + name + "/cases/*.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var results []tooltest.Result
			for _, path := range paths {
				results = append(results, bundled(t, b, path)...)
			}
			cover := tooltest.Cover(b.Manifest(), results)
			left := strings.Join(slices.Concat(cover.Unused, cover.Undeclared, cover.Untested), " ")
			if left != uncovered[name] {
				t.Errorf("the cases leave out %q, want %q", left, uncovered[name])
			}
		})
	}
}

// bundled plays the cases of a file, and those of tools that write under crashes too.
func bundled(t *testing.T, b *tooltest.Bench, path string) (results []tooltest.Result) {
	t.Helper()
	f := casesIn(t, path)
	for _, c := range f.Cases {
		r, err := b.Run(t.Context(), f, c)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		if !r.Passed() {
			t.Errorf("%s: %s", c.Name, strings.Join(r.Failures, "\n"))
			continue
		}
		tool, _ := b.Manifest().Tool(c.Tool)
		if is := tool.Declared(); is == toolabi.Pure || is == toolabi.ReadOnly {
			continue
		}
		crashed := crash(t, b, f, c)
		if len(crashed.Lies) > 0 || crashed.Repeated+crashed.Lost > 0 || crashed.Moments == 0 || len(crashed.Notes) > 0 {
			t.Errorf("%s: %d lies, %+v", c.Name, len(crashed.Lies), crashed)
		}
	}
	return results
}
