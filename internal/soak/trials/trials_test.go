package trials_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

func config(t *testing.T, tags string, kills int) trials.Config {
	t.Helper()
	p := newPlace(t)
	return trials.Config{
		Kills: kills, Seed: 7, Wrun: wrun(t, tags), Tool: p.path("payments.wasm"), Dir: t.TempDir(), Cache: wasmtest.CodeCache(t),
	}
}

func TestKilledProcessesRepeatNothingAndLoseNothing(t *testing.T) {
	const kills = 25
	report, err := trials.Run(t.Context(), config(t, "", kills))
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	if err := report.Err(); err != nil {
		t.Errorf("seed %d: %v", report.Seed, err)
	}
	if report.Kills < kills || report.Uncertain == 0 || report.Uncertain != report.Happened+report.DidNotHappen {
		t.Errorf("%d kills, %d uncertain effects, %d and %d of them resolved", report.Kills, report.Uncertain, report.Happened, report.DidNotHappen)
	}
}

// The trials are worth something only if they see what a wrun does that writes no intents.
func TestAProgramThatForgetsItsIntentsIsFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program a second time")
	}
	cfg := config(t, "broken_nointent", 50)
	cfg.Provider = "ignores"
	report, err := trials.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if report.Err() == nil || len(report.Faults) == 0 {
		t.Errorf("after %d kills nothing was found:\n%s", report.Kills, report)
	}
}

func TestAReportWithTooFewKillsInTheRightPlaceIsAnError(t *testing.T) {
	r := &trials.Report{Kills: 20, Landed: map[trials.Moment]int{trials.InEffect: 2, trials.InDoubtAlready: 18}}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "10 %") {
		t.Errorf("error %v, want one that gives the share of 10 %%", err)
	}
	r.Landed[trials.InEffect] = 4
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	for _, broken := range []*trials.Report{{Repeated: 1}, {Silent: 1}, {Missing: 1}, {Lost: 1}, {Faults: []string{"x"}}} {
		broken.Kills, broken.Landed = r.Kills, r.Landed
		if broken.Err() == nil {
			t.Errorf("no error for %s", broken)
		}
	}
}

func TestTheProgramsCanBeBuiltFromInsideTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program again")
	}
	wrun(t, "") // for its sources, and the system that it does not run on
	dir := t.TempDir()
	if err := trials.Build(t.Context(), dir, ""); err != nil {
		t.Fatal(err)
	}
	p := trials.Program{Wrun: filepath.Join(dir, "wrun"), Journal: filepath.Join(dir, "journal.db"), Cache: wasmtest.CodeCache(t)}
	exit, err := p.Run(t.Context(), "tool", "inspect", filepath.Join(dir, "payments.wasm"))
	if err != nil || exit.Code != 0 || !strings.Contains(exit.Stdout, "tool     charge_pair (non_idempotent)") {
		t.Errorf("inspect: exit code %d, %v\n%s%s", exit.Code, err, exit.Stdout, exit.Stderr)
	}
}
