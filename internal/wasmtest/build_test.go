package wasmtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

func TestToolBuildsAModuleThatCanBeLoaded(t *testing.T) {
	m, err := sandbox.Inspect(Tool(t, "internal/wasmtest/guests/everyday"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Manifest.Name != "everyday" {
		t.Errorf("manifest is of %s", m.Manifest.Name)
	}
}

func TestTheNameOfABuildFollowsItsSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := func(files ...string) string {
		key, err := hashSources([]pkg{{Dir: dir, ImportPath: "example.com/guest", GoFiles: files}})
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	write("a.go", "package main")
	write("b.go", "package main")
	one := name("a.go")
	if name("a.go") != one {
		t.Error("the same sources have two names")
	}
	if name("a.go", "b.go") == one {
		t.Error("another file changes nothing")
	}
	write("a.go", "package main // changed")
	if name("a.go") == one {
		t.Error("a changed file changes nothing")
	}
}
