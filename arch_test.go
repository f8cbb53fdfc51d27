package wrun_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/wrun-dev/wrun"

// allowed says which packages of wrun a package may import. A pattern ending in /... stands for everything below. Each
// package may import what lies below it under internal/.
var allowed = []struct {
	pkg string
	may []string
}{
	{"toolabi", nil},
	{"sdk", []string{"toolabi"}},
	{"sdk/...", []string{"toolabi", "sdk", "sdk/internal/..."}},
	{"hostfuncs", []string{"internal/failpoint", "toolabi"}},
	{"journal", nil},
	{"journal/boltdb", []string{"internal/failpoint", "journal", "journal/bundle"}},
	{"journal/bundle", []string{"journal"}},
	{"journal/journaltest", []string{"journal"}},
	{"runtime", []string{"internal/failpoint", "journal", "hostfuncs", "toolabi"}},
	{"runtime/sandbox", []string{"toolabi", "runtime/sandbox/memory", "runtime/sandbox/wasm"}},
	{"runtime/sandbox/memory", nil},
	{"runtime/sandbox/wasm", nil},
	{"policy", []string{"internal/jq", "internal/strictyaml"}},
	{"drivers/plan", []string{"runtime", "journal", "toolabi", "internal/jq", "internal/modref", "internal/strictyaml"}},
	{"drivers/agent", []string{"runtime", "journal", "hostfuncs", "toolabi", "policy", "drivers/agent/model", "drivers/agent/script", "internal/modref", "internal/strictyaml"}},
	{"drivers/agent/model", []string{"toolabi"}},
	{"drivers/agent/script", []string{"drivers/agent/model", "internal/jq", "internal/strictyaml", "toolabi"}},
	{"drivers/...", []string{"runtime", "journal", "hostfuncs", "toolabi"}},
	{"tools/...", []string{"sdk", "toolabi"}},
	{"examples/recipes/...", []string{"sdk", "toolabi"}},
	{"cmd/wrun", []string{"...", ""}},
	{"internal/abivectors", []string{"toolabi"}},
	{"internal/authority", []string{"hostfuncs", "toolabi"}},
	{"internal/docpage", nil},
	{"internal/crashtest", []string{"drivers/agent", "drivers/agent/model", "drivers/agent/script", "hostfuncs", "internal/fakemodel", "internal/offer", "internal/strictyaml", "internal/world", "journal", "runtime", "toolabi"}},
	{"internal/failpoint", nil},
	{"internal/grantfile", []string{"hostfuncs", "internal/strictyaml", "toolabi"}},
	{"internal/jq", nil},
	{"internal/modref", nil},
	{"internal/offer", []string{"hostfuncs", "internal/authority", "internal/grantfile", "internal/world", "toolabi"}},
	{"internal/scaffold", []string{"toolabi"}},
	{"internal/scaffold/pack", nil},
	{"internal/screen", nil},
	{"internal/standin", nil},
	{"internal/strictyaml", nil},
	{"internal/toolbuild", []string{"internal/tooltoml", "runtime/sandbox"}},
	{"internal/telemetry", []string{"drivers/agent", "drivers/agent/model", "journal", "runtime", "toolabi"}},
	{"internal/toolpack", []string{"toolabi"}},
	{"internal/tooltoml", []string{"internal/strictyaml", "toolabi"}},
	{"internal/toolcase", []string{"hostfuncs", "internal/grantfile", "internal/strictyaml", "internal/world", "toolabi"}},
	{"internal/tooltest", []string{"drivers/call", "drivers/rollback", "hostfuncs", "internal/authority", "internal/jq", "internal/offer", "internal/toolcase", "internal/world", "journal", "journal/journaltest", "runtime", "runtime/sandbox", "toolabi"}},
	{"internal/toolbox", []string{"internal/grantfile", "internal/strictyaml", "toolabi"}},
	{"internal/world", []string{"hostfuncs", "internal/jq", "internal/mailserver", "internal/strictyaml", "toolabi"}},
	{"internal/watch", nil},
	{"internal/wasmtest/guests/...", []string{"internal/wasmtest/guests/internal/...", "sdk", "toolabi"}},
	{"internal/wasmtest", []string{"runtime/sandbox", "toolabi"}},
	{"internal/wasmtest/hostile", []string{"internal/wasmtest", "runtime/sandbox", "toolabi"}},
	{"internal/fakemodel/...", []string{"internal/fakemodel", "internal/standin", "drivers/agent/model", "drivers/agent/script"}},
	{"internal/feedserver/...", []string{"internal/feedserver", "internal/standin"}},
	{"internal/ledger/...", []string{"internal/ledger", "internal/standin"}},
	{"internal/mailserver/...", []string{"internal/mailserver"}},
	{"internal/soak/mixed", []string{"", "internal/wasmtest", "runtime", "runtime/sandbox", "toolabi"}},
	{"internal/soak/agents", []string{"drivers/agent/script", "internal/...", "journal", "journal/boltdb"}},
	{"internal/soak/faults", []string{"internal/...", "journal", "journal/boltdb", "toolabi"}},
	{"internal/soak/...", []string{"internal/...", "journal", "journal/boltdb"}},
	{"internal/explore", []string{"internal/explore/..."}},
	{"internal/explore/...", []string{"hostfuncs", "journal", "runtime", "toolabi"}},
	{"", []string{"hostfuncs", "journal", "journal/boltdb", "journal/bundle", "runtime", "runtime/sandbox", "toolabi"}},
}

// only says which package alone may import something of others, or of the standard library.
var only = map[string][]string{
	"github.com/tetratelabs/wazero": {"runtime/sandbox"},
	"go.etcd.io/bbolt":              {"journal/boltdb"},
	"github.com/fxamacker/cbor":     {"toolabi", "journal", "journal/boltdb", "journal/bundle"},
	"github.com/spf13":              {"cmd/wrun"},
	"go.yaml.in":                    {"internal/crashtest", "internal/grantfile", "internal/strictyaml", "internal/toolcase", "internal/world", "drivers/agent", "drivers/agent/script", "drivers/plan", "policy"},
	"github.com/itchyny/gojq":       {"internal/jq"},
	"golang.org/x/text":             {"internal/screen"},
	"github.com/pelletier/go-toml":  {"internal/tooltoml"},
	"github.com/santhosh-tekuri":    {"runtime"},
	"github.com/rogpeppe":           {"drivers/agent", "cmd/wrun"}, // its diff
}

// never says what a package may not import of the standard library.
var never = map[string][]string{"toolabi": {"os", "net", "net/http", "io/fs", "syscall"}}

// TestImports holds every file of the module against the table above. Tests may import more.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for file := range sourceFiles(t) {
		pkg := path.Dir(filepath.ToSlash(file))
		if pkg == "." {
			pkg = ""
		}
		may, ok := rule(pkg)
		if !ok {
			t.Errorf("package %q is not in the table", pkg)
			continue
		}
		seen[pkg] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := judge(pkg, imported, may); wrong != "" {
				t.Errorf("%s imports %s: %s", file, imported, wrong)
			}
		}
	}
	for _, r := range allowed {
		if !strings.HasSuffix(r.pkg, "/...") && !seen[r.pkg] {
			t.Errorf("the table names %q, and there is no such package", r.pkg)
		}
	}
}

func judge(pkg, imported string, may []string) string {
	if slices.Contains(never[pkg], imported) {
		return "this package must not"
	}
	for prefix, pkgs := range only {
		if (imported == prefix || strings.HasPrefix(imported, prefix+"/")) && !slices.Contains(pkgs, pkg) {
			return "only " + strings.Join(pkgs, ", ") + " may"
		}
	}
	rest, ours := strings.CutPrefix(imported, modulePath)
	rest = strings.TrimPrefix(rest, "/")
	if !ours || strings.HasPrefix(rest, pkg+"/internal/") {
		return ""
	}
	if !slices.ContainsFunc(may, func(pattern string) bool { return match(pattern, rest) }) {
		return "not in the table of arch_test.go"
	}
	return ""
}

func rule(pkg string) ([]string, bool) {
	for _, r := range allowed {
		if match(r.pkg, pkg) {
			return r.may, true
		}
	}
	return nil, false
}

func match(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == below || strings.HasPrefix(pkg, below+"/")
	}
	return pattern == pkg
}

// sourceFiles yields the Go files of the module but its tests, also those for other platforms. Nested modules are
// modules of their own.
func sourceFiles(t *testing.T) func(func(string) bool) {
	return func(yield func(string) bool) {
		err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && file != ".":
				_, nested := os.Stat(filepath.Join(file, "go.mod"))
				if nested == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
					return fs.SkipDir
				}
			case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go"):
				if !yield(file) {
					return fs.SkipAll
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
