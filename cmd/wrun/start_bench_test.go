package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// BenchmarkStart is the command as a process, from its start to its end: without a module, and with a small call of one that was
// written in Go and was called before.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	wrun := filepath.Join(dir, "wrun.exe")
	if out, err := exec.Command("go", "build", "-o", wrun, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	module := filepath.Join(dir, "text.wasm")
	if err := os.WriteFile(module, wasmtest.Tool(b, "tools/text"), 0o600); err != nil {
		b.Fatal(err)
	}
	empty := filepath.Join(dir, "empty", "journal.db")
	j, err := boltdb.Create(b.Context(), empty, boltdb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), "WRUN_CACHE="+filepath.Join(dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	for _, bb := range []struct {
		name, journal string
		args          []string
	}{
		{"version", empty, []string{"version"}},
		{"help", empty, []string{"help"}},
		{"ls", empty, []string{"ls"}},
		{"call", filepath.Join(dir, "calls", "journal.db"), []string{"call", module, "upper", `{"text":"hello"}`}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			start := func() {
				c := exec.Command(wrun, bb.args...)
				c.Env = append(env, "WRUN_JOURNAL="+bb.journal)
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
			start() // which compiles the module
			for b.Loop() {
				start()
			}
		})
	}
}
