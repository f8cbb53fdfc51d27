package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/soak/agents"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// config builds the program with build tags, and the tool.
func config(t *testing.T, tags string, kills int) agents.Config {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED, nothing was tested: windows has no kill -9")
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool.wasm")
	if err := os.WriteFile(tool, wasmtest.Tool(t, "tools/payments"), 0o600); err != nil {
		t.Fatal(err)
	}
	return agents.Config{Kills: kills, Seed: 7, Wrun: build(t, tags), Tool: tool, Dir: dir, Cache: wasmtest.CodeCache(t)}
}

// build builds wrun, and reads its sources, so that go test notices when they change.
func build(t *testing.T, tags string) string {
	t.Helper()
	const pkg = "github.com/wrun-dev/wrun/cmd/wrun"
	wrun := filepath.Join(t.TempDir(), "wrun")
	goCommand(t, "build", "-tags", tags, "-o", wrun, pkg)
	const sources = "{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{$.Dir}}{{end}}{{end}}"
	for path := range strings.Lines(goCommand(t, "list", "-deps", "-tags", tags, "-f", sources, pkg)) {
		path = strings.TrimSpace(path)
		if _, err := os.ReadFile(path); path != "" && err != nil && filepath.Ext(path) == ".go" {
			t.Fatal(err)
		}
		_, _ = os.ReadDir(path) // so that a new file is noticed too
	}
	return wrun
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
