package crowd_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/crowd"
	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// Five seconds of a crowd; "go run ./internal/soak -crowd 10m" is the same for longer.
func TestACrowdLosesNothingAndNobodyWaitsLong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED, nothing was tested: windows has no kill -9")
	}
	built := t.TempDir()
	if err := trials.Build(context.Background(), built, ""); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "crowd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	report, err := crowd.Run(t.Context(), crowd.Config{
		Wrun: filepath.Join(built, "wrun"), Tool: filepath.Join(built, "payments.wasm"), Cache: wasmtest.CodeCache(t), Dir: dir,
		Duration: 5 * time.Second, Seed: 1,
	})
	t.Logf("%s", report)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	if report.Processes < 50 || report.Kills == 0 || report.Charges == 0 {
		t.Error("too little happened to show anything")
	}
}
