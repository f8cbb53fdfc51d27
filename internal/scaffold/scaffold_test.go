package scaffold_test

import (
	"go/format"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/scaffold"
	"github.com/wrun-dev/wrun/internal/toolbuild"
)

// names are such as manifests allow and something else might not: words and numbers of YAML and Go, and the longest one.
var names = []string{"invoices", "7", "1e3", "null", "true", "main", "internal", "vendor", "a-b", strings.Repeat("x", 64)}

func files(t *testing.T, lang scaffold.Lang, name string) map[string]string {
	t.Helper()
	list, err := scaffold.Files(lang, name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range list {
		all[f.Path] = string(f.Content)
	}
	if len(all) != len(list) {
		t.Fatalf("%d files have %d paths", len(list), len(all))
	}
	return all
}

func TestEveryNameGivesFilesInOrder(t *testing.T) {
	for _, lang := range scaffold.Langs {
		for _, name := range names {
			for path, text := range files(t, lang, name) {
				if strings.HasPrefix(path, "vendor/") {
					continue
				}
				if strings.Contains(text, "NAME") && !strings.HasSuffix(path, ".h") {
					t.Errorf("%s of %s has a place without a name", path, name)
				}
				if strings.HasSuffix(path, ".go") {
					if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
						t.Errorf("%s of %s is not formatted, %v", path, name, err)
					}
				}
				if strings.HasSuffix(path, ".yaml") {
					var doc struct {
						Cases []struct {
							World struct {
								KV map[string]map[string]string `yaml:"kv"`
							} `yaml:"world"`
						} `yaml:"cases"`
					}
					if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Cases) == 0 {
						t.Fatalf("%s of %s: %d cases, %v", path, name, len(doc.Cases), err)
					}
					for _, c := range doc.Cases {
						if _, ok := c.World.KV[name]; !ok {
							t.Errorf("%s of %s has stores %v", path, name, c.World.KV)
						}
					}
				}
			}
		}
	}
}

func TestNamesThatNoManifestHasAreRefused(t *testing.T) {
	for _, name := range []string{"", "A", "a b", "-a", "a-", "a_b", "a/b", "..", "é", strings.Repeat("x", 65), "con", "lpt1"} {
		if list, err := scaffold.Files(scaffold.Go, name); err == nil {
			t.Errorf("%q gives %d files", name, len(list))
		}
	}
	if _, err := scaffold.Files("rust", "a"); err == nil || !strings.Contains(err.Error(), `"go"`) {
		t.Errorf("an unknown language: %v", err)
	}
}

// offline is a machine without a network that never saw a module.
func offline(t *testing.T) {
	for name, value := range map[string]string{"GOPROXY": "off", "GOFLAGS": "", "GOMODCACHE": t.TempDir(), "GOWORK": "off", "GOTOOLCHAIN": "local"} {
		t.Setenv(name, value)
	}
}

func TestANewToolInGoPassesItsTestsWithoutANetwork(t *testing.T) {
	offline(t)
	dir := filepath.Join(t.TempDir(), "new")
	list, err := scaffold.Files(scaffold.Go, "numbers-2")
	if err != nil {
		t.Fatal(err)
	}
	if err := scaffold.Write(dir, list); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func build(t *testing.T, dir string) []byte {
	t.Helper()
	wasm, err := toolbuild.Build(t.Context(), dir)
	var failed *toolbuild.FailedError
	if errorsAs(err, &failed) {
		t.Fatalf("%v\n%s", err, failed.Output)
	}
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}
