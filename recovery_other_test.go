package wrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// onBolt says how many cells are visited on a journal in a file too: one for each rule.
const onBolt = 64

// The same with a journal in a file, for the first cell of every rule.
func TestTheRecoveryTableHoldsInAFile(t *testing.T) {
	k := newKit(t, "recovery")
	seen := map[int]bool{}
	visited := 0
	for _, c := range cells() {
		i := ruleOf(c)
		if i < 0 || seen[i] || rules[i].want == impossible {
			continue
		}
		seen[i] = true
		visited++
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "journal.db")
			newScene(t, k, c, func() journaltest.Store { return openBolt(t, file) }).visit(rules[i].want)
			store := openBolt(t, file)
			defer store.Close()
			journaltest.Check(t, store)
		})
	}
	if visited != onBolt {
		t.Errorf("%d cells were visited, want %d", visited, onBolt)
	}
}

func openBolt(t *testing.T, file string) journaltest.Store {
	t.Helper()
	j, err := boltdb.Create(context.Background(), file, boltdb.Options{BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A module of which no tool may use a function that it imports is not loaded at all.
func TestAModuleIsRefusedAtLoad(t *testing.T) {
	var refused, loaded int
	for _, promise := range []toolabi.Idempotency{toolabi.Pure, toolabi.ReadOnly} {
		for _, f := range toolabi.Functions {
			want := f.Class != toolabi.Free && (promise == toolabi.Pure || f.Class != toolabi.Read && f.Class != toolabi.Call)
			_, err := sandbox.Inspect(importing(t, f, promise))
			switch {
			case (err != nil) != want:
				t.Errorf("a %s module that imports %s: %v", promise, f.Name, err)
			case want && !strings.Contains(err.Error(), "none of its tools may use"):
				t.Errorf("a %s module that imports %s is refused for another reason: %v", promise, f.Name, err)
			case want:
				refused++
			default:
				loaded++
			}
		}
	}
	if refused != 10 || loaded != 8 {
		t.Errorf("%d modules were refused and %d loaded, want 10 and 8", refused, loaded)
	}
}

// importing is a module with one tool and one import.
func importing(t *testing.T, f toolabi.Function, promise toolabi.Idempotency) []byte {
	t.Helper()
	m := new(wasmtest.Module)
	m.Import(toolabi.ImportModule, f.Name, []byte{wasmtest.I32, wasmtest.I32}, []byte{wasmtest.I64})
	m.Memory(1)
	m.ExportRaw(toolabi.ExportMemory, 2, 0)
	m.Export(toolabi.ExportInvoke, m.Func([]byte{wasmtest.I32}, []byte{wasmtest.I32}, 0, wasmtest.I32Const(0)))
	m.Export(toolabi.ExportMarker, m.Func(nil, nil, 0))
	manifest := &toolabi.Manifest{Name: "it", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "it", Idempotency: promise}}}
	if f.Capability {
		manifest.Capabilities = []toolabi.Capability{{Name: f.Name, Reason: "to test"}}
	}
	raw, err := toolabi.Encode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(m.Bytes(), wasmtest.Section(0, slices.Concat(wasmtest.Name(toolabi.ManifestSection), raw)))
}

// story is a row of the table that is about a whole run.
type story struct {
	row    string
	before func(*scene, *life)                // what is said before the run is resumed
	drive  func(*scene, *life) runtime.Driver // another driver than the run began with; nil for the same
	ends   func(error) bool
	after  func(*scene, *life) error // what lets the run go on; nil where nothing can
}

var stories = []story{
	{row: rowOther, drive: func(s *scene, _ *life) runtime.Driver {
		return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			return r.Call(ctx, "call", "recovery.once", []byte(`{"script":[]}`))
		}
	}, ends: diverged, after: func(*scene, *life) error { return nil }},
	{row: rowUnasked, drive: func(*scene, *life) runtime.Driver {
		return func(context.Context, *runtime.Run) ([]byte, error) { return []byte(`1`), nil }
	}, ends: diverged, after: func(*scene, *life) error { return nil }},
	{row: rowRestored, before: func(s *scene, _ *life) { s.append(journal.Entry{Kind: journal.Restored}) }, ends: func(err error) bool {
		var u *runtime.UnconfirmedError
		return errors.As(err, &u)
	}, after: func(s *scene, l *life) error { return l.Confirm(s.t.Context(), "r", "somebody", "") }},
	{row: rowLate, before: func(s *scene, _ *life) {
		s.append(journal.Entry{Kind: journal.Late, Step: "call/1", Name: toolabi.FuncHTTPSend, Outcome: journal.OK, Owner: "somebody"})
	}, ends: func(err error) bool {
		var l *runtime.LateError
		return errors.As(err, &l)
	}, after: func(s *scene, l *life) error { return l.Acknowledge(s.t.Context(), "r", "somebody", "") }},
	{row: rowCancel, before: func(s *scene, l *life) {
		if err := l.Cancel(s.t.Context(), "r", "somebody", ""); err != nil {
			s.t.Fatal(err)
		}
	}, ends: func(err error) bool {
		var f *runtime.FailedError
		return errors.As(err, &f) && f.Outcome == journal.Cancelled
	}},
}

func diverged(err error) bool {
	var d *runtime.DivergedError
	return errors.As(err, &d)
}

// A call that was cut off before it sent is not gone on with while one of these stands against it, and nothing is
// executed until that is settled.
func TestWhatStopsARunBeforeItSends(t *testing.T) {
	k := newKit(t, "recovery")
	for _, st := range stories {
		t.Run(st.row, func(t *testing.T) {
			t.Parallel()
			mem := journaltest.NewMem()
			journaltest.CheckOnCleanup(t, mem)
			s := newScene(t, k, cell{promise: "once", function: "send", moment: "announcing", attempt: "first"}, func() journaltest.Store { return mem.Handle() })
			cut := s.start()
			cut.at = func(use string, _ bool) { // in the call, before it sends
				if use == "before" {
					cut.flushed()
				}
			}
			if how, err := cut.drive(); how != "killed" {
				t.Fatalf("cut off: %s (%v)", how, err)
			}
			l := s.start()
			defer l.Close()
			if st.before != nil {
				st.before(s, l)
			}
			for range 2 {
				if st.drive != nil {
					l.driver = st.drive(s, l)
				}
				if _, err := l.drive(); !st.ends(err) {
					t.Fatalf("ended with %v", err)
				}
			}
			if s.world.count() != 0 || strings.Contains(s.about(0), "intent") {
				t.Errorf("%d requests, log %q", s.world.count(), s.about(0))
			}
			if st.after == nil {
				return
			}
			l.driver = nil
			if err := st.after(s, l); err != nil {
				t.Fatal(err)
			}
			if how, err := l.drive(); how != "done" || s.world.count() != 1 {
				t.Errorf("ended with %s (%v) after %d requests", how, err, s.world.count())
			}
		})
	}
}

// The question comes before the call: the module is entered once somebody has agreed, and not before.
func TestACallThatNobodyHasAgreedToIsNotEntered(t *testing.T) {
	k := newKit(t, "recovery")
	m := k.byName["recovery"]
	m.Manifest.Tools = slices.Clone(m.Manifest.Tools)
	for i := range m.Manifest.Tools {
		m.Manifest.Tools[i].Approval = m.Manifest.Tools[i].Name == "once"
	}
	k.byName["recovery"] = m
	mem := journaltest.NewMem()
	journaltest.CheckOnCleanup(t, mem)
	s := newScene(t, k, cell{promise: "once", function: "send", moment: "announcing", attempt: "first"}, func() journaltest.Store { return mem.Handle() })
	for range 2 {
		l := s.start()
		if how, err := l.drive(); how != "waiting" || len(l.entered) > 0 {
			t.Errorf("%s: ended with %s (%v), entered %v", rowAgree, how, err, l.entered)
		}
		l.Close()
	}
	l := s.start()
	defer l.Close()
	if err := l.Answer(t.Context(), "r", "call", runtime.Answer{Yes: true, By: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if how, err := l.drive(); how != "done" || s.world.count() != 1 || l.entered["once"] != 1 {
		t.Errorf("ended with %s (%v) after %d requests, entered %v", how, err, s.world.count(), l.entered)
	}
}

// append says something at the end of the log, as another process would.
func (p *scene) append(e journal.Entry) {
	p.t.Helper()
	store := p.open()
	defer store.Close()
	for s, err := range store.List(p.t.Context(), journal.Query{Run: "r"}) {
		if err != nil {
			p.t.Fatal(err)
		}
		e.Time = s.Time
		if err := store.Append(p.t.Context(), "r", s.Len, e); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Every row of the documented table is what some cell shows, and no rule quotes a row that is not there.
func TestEveryRowOfTheDocumentedTableIsShown(t *testing.T) {
	b, err := os.ReadFile("docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n| the log holds of a step | which means | resume |\n")
	if !ok {
		t.Fatal("docs/journal.md has no such table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for _, line := range strings.Split(table, "\n")[1:] {
		documented = append(documented, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	shown := map[string]bool{rowAgree: true} // by TestACallThatNobodyHasAgreedToIsNotEntered
	for _, r := range rules {
		if r.want != impossible && r.count > 0 {
			shown[r.row] = true
		}
	}
	for _, st := range stories {
		shown[st.row] = true
	}
	for _, row := range documented {
		if !shown[row] {
			t.Errorf("nothing shows %q", row)
		}
	}
	for row := range shown {
		if !slices.Contains(documented, row) {
			t.Errorf("%q is shown, and docs/journal.md does not have it", row)
		}
	}
}

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
			if want := 2 * c.holds; res.Counts.Entered != 1 || res.Counts.Served != want/2 {
				t.Errorf("counts %+v", res.Counts)
			}
		})
	}
}

// killHeld starts a process that drives the script, and kills it while the server holds its read.
func (w *world) killHeld(t *testing.T, file, script string) {
	t.Helper()
	w.held = make(chan struct{})
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

// hold holds the first read of its kind until whoever asks is gone.
func (w *world) hold(_ http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	first := !w.holding
	w.holding = true
	w.mu.Unlock()
	if first {
		close(w.held)
		<-r.Context().Done()
	}
}

func (w *world) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.queries)
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
