package wrun_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

const twoEdits = `tools: { desk: desk.wasm }
steps:
  - { id: one, tool: desk.edit, with: { path: notes.txt, text: the notes } }
  - { id: two, tool: desk.edit, with: { path: out/report.md, text: the report } }
output: [ "${ .one.text }", "${ .two.text }", "${ .two.files }" ]
`

// A real module works with files and its process dies. The run goes on in an empty directory
// elsewhere, and has its files there.
func TestARealModuleHasItsFilesWhereverItsRunGoesOn(t *testing.T) {
	k := newKit(t, "desk")
	appends := driveDesk(t, k, 0, false)
	for n := 2; n <= appends; n += 3 { // package runtime has all of them
		driveDesk(t, k, n, n%2 == 0)
	}
	driveDesk(t, k, appends-1, true)
}

// driveDesk drives a run that dies at its n-th append, and goes on with it; with 0 it does not die. It returns the appends.
func driveDesk(t *testing.T, k *kit, n int, after bool) int {
	t.Helper()
	base := t.TempDir()
	file, dir := filepath.Join(base, "journal.db"), filepath.Join(base, "first")
	spec := runtime.Spec{Driver: plan.Name, Version: plan.Version, Plan: []byte(twoEdits), Modules: k.modules("desk"), Input: []byte(`{}`)}
	drive := func(store journaltest.Store) (runtime.Result, error) {
		e, err := runtime.New(runtime.Config{
			Journal: store, Invoker: k.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{}), Drivers: map[string]runtime.DriverInfo{plan.Name: plan.Driver()},
		})
		if err != nil {
			t.Fatal(err)
		}
		grants := hostfuncs.Grants{Workspace: hostfuncs.WorkspaceGrant{Path: dir, Write: true}}
		spec.Grants = grants
		if _, err := e.Start(t.Context(), "r", spec, k.wasm, true); err != nil {
			return runtime.Result{}, err
		}
		return e.Drive(t.Context(), "r", runtime.DriveOptions{Grants: grants})
	}
	crasher := journaltest.CrashBefore(openBolt(t, file), n)
	if after {
		crasher = journaltest.CrashAfter(openBolt(t, file), n)
	}
	res, err := drive(crasher)
	if err := crasher.Close(); err != nil {
		t.Fatal(err)
	}
	if crasher.Crashed() {
		if !errors.Is(err, journal.ErrUnusable) {
			t.Fatalf("the crash shows as %v", err)
		}
		dir = filepath.Join(base, "second")
		again := openBolt(t, file)
		res, err = drive(again)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const want = `["the notes","the report",["notes.txt","out","out/report.md"]]`
	if err != nil || string(res.Output) != want {
		t.Errorf("crashed at %d, after %v: %s, %v, want %s", n, after, res.Output, err, want)
	}
	if res.Replayed {
		return crasher.Appends() // it had ended
	}
	for path, text := range map[string]string{"notes.txt": "the notes", "out/report.md": "the report"} {
		if b, err := os.ReadFile(filepath.Join(dir, path)); string(b) != text {
			t.Errorf("crashed at %d, after %v: %s says %q, %v", n, after, path, b, err)
		}
	}
	for _, pattern := range []string{".wrun-*", "out/.wrun-*", "*.draft", "out/*.draft"} {
		if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("crashed at %d, after %v: %q is left, %v", n, after, left, err)
		}
	}
	return crasher.Appends()
}
