package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/internal/soak/faults"
)

// built are the programs that the tests share.
var built struct {
	once     sync.Once
	dir      string
	programs faults.Programs
	err      error
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// run makes a share of tier 1 and wants that everything held.
func run(t *testing.T, only string, share float64) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED, nothing was tested: windows has no kill -9")
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "wrun-faults-test-"); built.err == nil {
			built.programs, built.err = faults.MakePrograms(t.Context(), built.dir, "")
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	readSources(t)
	report, err := faults.Run(t.Context(), faults.Config{Tier: 1, Share: share, Only: only, Seed: 7, Dir: t.TempDir(), Programs: built.programs})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	if err := report.Err(); err != nil {
		t.Errorf("seed %d: %v", report.Seed, err)
	}
	if len(report.Rows) == 0 {
		t.Errorf("no fault has %q in its name", only)
	}
	for _, row := range report.Rows {
		if row.Skipped != "" {
			t.Skip("SKIPPED: ", row.Skipped)
		}
	}
}

// readSources reads what the programs are built from, so that go test notices when it changes.
func readSources(t *testing.T) {
	t.Helper()
	const files = "{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-f", files, "github.com/wrun-dev/wrun/cmd/wrun").Output()
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
