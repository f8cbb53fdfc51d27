package wrun_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime"
)

// What the process that is killed is told.
const (
	envFile   = "WRUN_RECOVERY_FILE"
	envOrigin = "WRUN_RECOVERY_ORIGIN"
	envScript = "WRUN_RECOVERY_SCRIPT"
)

// A process is killed with three sends of a tool that must not be repeated before it, and the next one does what is left.
func TestThreeSendsOfAKilledProcess(t *testing.T) {
	if file := os.Getenv(envFile); file != "" {
		_, err := threeSends(t, newKit(t, "recovery"), file, os.Getenv(envOrigin), os.Getenv(envScript))
		t.Fatalf("nobody has killed this process: %v", err)
	}
	k := newKit(t, "recovery")
	for name, c := range map[string]struct {
		holds int // before which send the process is killed
		left  []string
	}{
		"killed before the first left, it resumes without asking anyone":        {0, []string{"n=1", "n=2", "n=3"}},
		"killed after the second was answered, the resume sends only the third": {2, []string{"n=3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			file := filepath.Join(t.TempDir(), "journal.db")
			script := []map[string]any{}
			for i, n := range []string{"1", "2", "3"} {
				if i == c.holds {
					script = append(script, map[string]any{"do": "fetch", "what": w.URL + "/hold"})
				}
				script = append(script, map[string]any{"do": "send", "what": w.URL + "/act?n=" + n})
			}
			input, err := json.Marshal(map[string]any{"script": script})
			if err != nil {
				t.Fatal(err)
			}
			w.killHeld(t, file, string(input))
			before := len(w.sent())
			res, err := threeSends(t, k, file, w.URL, string(input))
			if err != nil {
				t.Fatalf("resumed with %v", err)
			}
			if got := w.sent()[before:]; !slices.Equal(got, c.left) || len(w.sent()) != 3 {
				t.Errorf("resumed, it sent %v after %v, want %v", got, w.sent()[:before], c.left)
			}
			if res.Counts.Entered != 1 || res.Counts.Served != c.holds {
				t.Errorf("entered %d times and served %d answers, want 1 and %d", res.Counts.Entered, res.Counts.Served, c.holds)
			}
		})
	}
}

// killHeld starts a process that drives the script, and kills it while the server holds its read.
func (w *world) killHeld(t *testing.T, file, script string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestThreeSendsOfAKilledProcess$")
	cmd.Env = append(os.Environ(), envFile+"="+file, envOrigin+"="+w.URL, envScript+"="+script)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-w.held:
	case err := <-ended:
		t.Fatalf("the process ended by itself: %v\n%s", err, output.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-ended
}

// threeSends drives the script on a journal in a file.
func threeSends(t *testing.T, k *kit, file, server, script string) (runtime.Result, error) {
	store := openBolt(t, file)
	defer store.Close()
	e, err := runtime.New(runtime.Config{Journal: store, Invoker: k.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	origin, err := hostfuncs.ParseOrigin(server)
	if err != nil {
		t.Fatal(err)
	}
	spec := runtime.Spec{
		Driver: "one call", Input: []byte(script), Modules: k.modules("recovery"), Grants: hostfuncs.Grants{HTTP: []string{origin}},
	}
	if _, err := e.Start(t.Context(), "r", spec, k.wasm, true); err != nil {
		return runtime.Result{}, err
	}
	return e.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "call", "recovery.once", r.Input())
	}}})
}
