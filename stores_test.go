package wrun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const twoTallies = `tools: { stores: stores.wasm }
steps:
  - { id: one, tool: stores.tally, with: { name: a, lines: 3 } }
  - { id: two, tool: stores.tally, with: { name: a, lines: 20000 } }
output: [ "${ .one.own }", "${ .two.own }", "${ .two.shared }", "${ .one.report }", "${ .two.report }", "${ .two.keys }" ]
`

var storesGrants = hostfuncs.Grants{KV: []hostfuncs.KVGrant{{Store: "stores", Write: true}}, Artifacts: 1 << 30}

// report is what the guest keeps.
func report(name string, own, lines int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%s %d\n", name, own), lines)
}

// twoReports is a run that counts to two, with a short report and one that is longer than what is kept in a log.
func twoReports(k *kit) shape {
	short, long := journal.DigestOf(report("a", 1, 3)), journal.DigestOf(report("a", 2, 20000))
	return shape{
		name:   "counts and reports",
		spec:   runtime.Spec{Driver: plan.Name, Version: plan.Version, Plan: []byte(twoTallies), Modules: k.modules("stores"), Grants: storesGrants, Input: []byte(`{}`)},
		output: fmt.Sprintf(`[1,2,2,"%s","%s",["a/own"]]`, short, long),
	}
}

// Every crash point of a run that counts in a store and keeps artifacts, with a real module and a real file: the counters are
// exact after it, and every artifact that the log names is there and whole, which is looked at in the cleanup.
func TestNoCrashPointOfRealModulesLosesOrDoublesAWrite(t *testing.T) {
	k := newKit(t, "stores")
	crashEverywhere(t, k, twoReports(k), time.Hour) // package runtime has it with nothing that waits, too
}

// A tool that traps after a put leaves bytes that no result names, and a run has what its results name and nothing else.
func TestAPutBeforeATrapIsTheRunsAndWhatOthersHaveIsNot(t *testing.T) {
	k := newKit(t, "stores")
	store := openBolt(t, filepath.Join(t.TempDir(), "journal.db"))
	defer store.Close()
	e, err := runtime.New(runtime.Config{Journal: store, Invoker: k.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	spec := runtime.Spec{Driver: "one call", Input: []byte(`{"name":"a","lines":2,"trap":true}`), Modules: k.modules("stores"), Grants: storesGrants}
	_, err = tallyIn(t.Context(), e, k, "r", spec)
	if !errors.Is(err, toolabi.Trapped) && !errors.Is(err, toolabi.Failed) && !errors.Is(err, toolabi.Exited) {
		t.Fatalf("ended with %v, want a trap", err)
	}
	d := journal.DigestOf(report("a", 1, 2))
	kept, err := e.Artifacts(t.Context(), "r")
	if err != nil || len(kept) != 1 || kept[0].Digest != toolabi.Digest(d) || kept[0].Size != 8 || kept[0].Name != "a-1.txt" || kept[0].Step != "call/7" {
		t.Errorf("the run has %+v, %v", kept, err)
	}
	spec.Input, spec.Grants.Artifacts = []byte(`{"name":"a","lines":1,"trap":true}`), 3
	if _, err := tallyIn(t.Context(), e, k, "small", spec); err == nil || !strings.Contains(err.Error(), "granted 3") {
		t.Errorf("over its quota: %v", err)
	}
	if kept, err := e.Artifacts(t.Context(), "small"); err != nil || len(kept) != 0 {
		t.Errorf("over its quota it has %+v, %v", kept, err)
	}
	if _, _, err := e.OpenArtifact(t.Context(), "small", toolabi.Digest(d)); !errors.Is(err, runtime.ErrNoArtifact) {
		t.Errorf("another run's artifact: %v", err)
	}
}

// tallyIn starts a run of one call and drives it.
func tallyIn(ctx context.Context, e *runtime.Engine, k *kit, run string, spec runtime.Spec) (runtime.Result, error) {
	if _, err := e.Start(ctx, run, spec, k.wasm, true); err != nil {
		return runtime.Result{}, err
	}
	return e.Drive(ctx, run, runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "call", "stores.tally", r.Input())
	}}})
}
