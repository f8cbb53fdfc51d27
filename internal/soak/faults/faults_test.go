package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/soak/faults"
)

// run makes a share of tier 1 and wants that everything held.
func run(t *testing.T, only string, share float64) *faults.Report {
	t.Helper()
	return runTags(t, "", only, share)
}

func runTags(t *testing.T, tags, only string, share float64) *faults.Report {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED, nothing was tested: windows has no kill -9")
	}
	readSources(t)
	cfg := faults.Config{Tier: 1, Share: share, Only: only, Seed: 7, Dir: t.TempDir(), Tags: tags}
	report, err := faults.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	if err := report.Err(); err != nil {
		t.Errorf("seed %d: %v", report.Seed, err)
	}
	for _, row := range report.Rows {
		if row.Skipped != "" {
			t.Skip("SKIPPED: ", row.Skipped)
		}
	}
	return report
}

// readSources reads what the programs are built from, so that go test notices when it changes.
func readSources(t *testing.T) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{end}}{{end}}", "github.com/wrun-dev/wrun/cmd/wrun")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if path = strings.TrimSpace(path); filepath.Ext(path) != ".go" {
			continue
		}
		if _, err := os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
}
