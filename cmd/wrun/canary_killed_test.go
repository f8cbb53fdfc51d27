package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime"
)

// What the process that is killed is told.
const envCanary = "WRUN_CANARY"

// A process that is killed while the server has the secret leaves none behind, nor does the one that goes on.
func TestTheCanaryIsNotLeftByAKilledProcess(t *testing.T) {
	if text := os.Getenv(envCanary); text != "" {
		var spec struct {
			Journal string
			Spec    runtime.Spec
		}
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		h, err := wrun.Open(t.Context(), wrun.Config{
			Journal: spec.Journal, Create: true, Cache: wasmtest.CodeCache(t), Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver()},
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := h.AddModule(wasmtest.Tool(t, "internal/wasmtest/guests/parrot"))
		if err != nil {
			t.Fatal(err)
		}
		spec.Spec.Modules = []runtime.Module{m}
		_, err = h.Run(t.Context(), "r1", spec.Spec, runtime.DriveOptions{})
		t.Fatalf("nobody has killed this process: %v", err)
	}
	for _, tool := range []string{"once", "again"} {
		a := newAviary(t)
		out := a.killed(a.spec(tool, order{Method: "POST", URL: "/hold-once", TimeoutMS: 60_000, Put: places}))
		if !a.server.sent(canaryValue) {
			t.Fatal("it was killed before the server had the secret")
		}
		a.absent("killed in "+tool, told{output: out})
		core := controlCore + "changed" // the value has changed since
		if err := os.WriteFile(a.source, []byte(around(core)), 0o600); err != nil {
			t.Fatal(err)
		}
		a.open(nil)
		res, err := a.host.Resume(t.Context(), "r1")
		var doubt *runtime.UncertainError
		if again := tool == "again"; errors.As(err, &doubt) == again || a.server.sent(core) != again {
			t.Errorf("%s was resumed with %v; it was sent again: %v", tool, err, a.server.sent(core))
		}
		// The key is made of the request before values are filled in, so it is the same with another value.
		if keys := a.server.under(); len(keys) != 1 || keys[0] == "" {
			t.Errorf("%s was sent under the keys %q", tool, keys)
		}
		a.absent("resumed "+tool, told{err: err, output: string(res.Output)})
		if found := needlesOf(core).below(t, a.dir, nil); found != nil {
			t.Errorf("resumed %s: the new value is in %v", tool, found)
		}
	}
}

// killed drives a run in another process, kills that while the server holds its request, and returns what it wrote.
func (a *aviary) killed(spec runtime.Spec) string {
	a.t.Helper()
	if err := a.host.Close(); err != nil {
		a.t.Fatal(err)
	}
	a.host = nil
	spec.Modules = nil
	text, err := json.Marshal(map[string]any{"Journal": filepath.Join(a.dir, "journal.db"), "Spec": spec})
	if err != nil {
		a.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestTheCanaryIsNotLeftByAKilledProcess$")
	cmd.Env = append(os.Environ(), envCanary+"="+string(text))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-a.server.held:
	case err := <-ended:
		a.t.Fatalf("the process ended by itself: %v\n%s", err, out.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		a.t.Error(err)
	}
	<-ended
	return out.String()
}
