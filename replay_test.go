package wrun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// manyCalls is how many calls the replays of two versions compare.
const manyCalls = 1000

// A thousand recorded calls are replayed with another version, which differs for exactly some of them: these are named, and no
// host function runs.
func TestAReplayNamesExactlyTheCallsThatAnotherVersionChanges(t *testing.T) {
	k := newKit(t, "till", "till2")
	mem := journaltest.NewMem()
	recorded := k.byName["till"]
	engine := func(funcs []hostfuncs.Func) *runtime.Engine {
		e, err := runtime.New(runtime.Config{Journal: mem.Handle(), Invoker: k.sandbox, Funcs: funcs})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	funcs := func(call func(context.Context, hostfuncs.Call, []byte) ([]byte, error)) []hostfuncs.Func {
		return []hostfuncs.Func{{Name: toolabi.FuncClock, Class: toolabi.Read, Call: call}, {Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Call: call}}
	}
	replies := map[string]any{"till.clock": &toolabi.ClockReply{}, "": &toolabi.HTTPReply{Status: 201}}
	answering := engine(append(
		funcs(func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
			return toolabi.Encode(replies["till.clock"])
		})[:1],
		funcs(func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
			if err := c.BeforeSend(); err != nil {
				return nil, err
			}
			return toolabi.Encode(replies[""])
		})[1],
	))
	drive := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for cents := range manyCalls {
			input := fmt.Sprintf(`{"url":"https://pay.example/charges","cents":%d}`, cents)
			if _, err := r.Call(ctx, journal.Step(fmt.Sprintf("sale[%d]", cents)), "till.charge", []byte(input)); err != nil {
				return nil, err
			}
		}
		return []byte(`"sold"`), nil
	}
	spec := runtime.Spec{Driver: "test", Modules: []runtime.Module{recorded}}
	if _, err := answering.Start(t.Context(), "day", spec, k.wasm, false); err != nil {
		t.Fatal(err)
	}
	if _, err := answering.Drive(t.Context(), "day", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: drive}}); err != nil {
		t.Fatal(err)
	}

	refusing := engine(funcs(func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
		t.Errorf("%s asked the host", c.Step)
		return nil, errors.New("not to be asked")
	}))
	for name, c := range map[string]struct {
		tools []runtime.Module
		want  func(cents int) string
	}{
		"the same": {nil, func(int) string { return "same 0" }},
		"the next": {[]runtime.Module{k.byName["till2"]}, func(cents int) string {
			switch {
			case cents%11 == 0:
				return "other request 2"
			case cents%13 == 0:
				return "asks for more 3"
			case cents%7 == 0:
				return "other result 0"
			}
			return "same 0"
		}},
	} {
		n := 0
		for res, err := range refusing.Replay(t.Context(), "day", runtime.ReplayOptions{Tools: c.tools}) {
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %d", res.Verdict, res.At); got != c.want(n) || res.Step != journal.Step(fmt.Sprintf("sale[%d]", n)) {
				t.Errorf("%s: call %d (%s): %s %s, want %s", name, n, res.Step, got, res.Why, c.want(n))
			}
			n++
		}
		if n != manyCalls {
			t.Errorf("%s: %d calls were replayed, want %d", name, n, manyCalls)
		}
	}
}

func openHost(t *testing.T, path string) *wrun.Host {
	t.Helper()
	h, err := wrun.Open(t.Context(), wrun.Config{Journal: path, Create: true, Cache: wasmtest.CodeCache(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// replayed is what came of a replay, a line for each call.
func replayed(t *testing.T, h *wrun.Host, run string, opts runtime.ReplayOptions) string {
	t.Helper()
	var lines []string
	for res, err := range h.Replay(t.Context(), run, opts) {
		if err != nil {
			lines = append(lines, err.Error())
			break
		}
		line := fmt.Sprintf("%s %s", res.Step, res.Verdict)
		if res.Verdict != runtime.ReplaySame {
			line += fmt.Sprintf(" %+v %+v %s", res.Result, res.Came, res.Why)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// What a module draws while it starts depends on the journal. A replay elsewhere starts it as it was started.
func TestAReplayElsewhereStartsModulesAsTheyWereStarted(t *testing.T) {
	here := openHost(t, filepath.Join(t.TempDir(), "journal.db"))
	m, err := here.AddModule(wasmtest.Tool(t, "internal/wasmtest/guests/till"))
	if err != nil {
		t.Fatal(err)
	}
	draws := func(h *wrun.Host, run string, spec runtime.Spec, opts runtime.DriveOptions) {
		t.Helper()
		opts.Driver = &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			if _, err := r.Call(ctx, "first", "till.draw", []byte(`{}`)); err != nil {
				return nil, err
			}
			return r.Call(ctx, "second", "till.draw", []byte(`{}`))
		}}
		if _, err := h.Run(t.Context(), run, spec, opts); err != nil {
			t.Fatal(err)
		}
	}
	spec := runtime.Spec{Driver: "test", Modules: []runtime.Module{m}}
	draws(here, "r", spec, runtime.DriveOptions{})
	const same = "first same\nsecond same"
	if got := replayed(t, here, "r", runtime.ReplayOptions{}); got != same {
		t.Errorf("where it was recorded:\n%s", got)
	}
	var exported bytes.Buffer
	if _, err := here.Export(t.Context(), "r", &exported, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}

	there := openHost(t, filepath.Join(t.TempDir(), "journal.db"))
	if _, err := there.Import(t.Context(), bytes.NewReader(exported.Bytes()), boltdb.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := replayed(t, there, "r", runtime.ReplayOptions{}); got != same {
		t.Errorf("imported:\n%s", got)
	}
	if _, err := there.Fork(t.Context(), "r", "second", "f", "ann", ""); err != nil {
		t.Fatal(err)
	}
	draws(there, "f", spec, runtime.DriveOptions{})
	if got := replayed(t, there, "f", runtime.ReplayOptions{}); got != same {
		t.Errorf("forked there, with a call of its own:\n%s", got)
	}
	var again bytes.Buffer
	if _, err := there.Export(t.Context(), "f", &again, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}

	for run, bundle := range map[string][]byte{"r": exported.Bytes(), "f": again.Bytes()} {
		unpacked, of, err := wrun.OpenBundle(t.Context(), wrun.Config{Cache: wasmtest.CodeCache(t)}, bytes.NewReader(bundle), boltdb.ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := replayed(t, unpacked, of.Run, runtime.ReplayOptions{}); of.Run != run || got != same {
			t.Errorf("out of the bundle of %s (%s):\n%s", run, of.Run, got)
		}
		if err := unpacked.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := wrun.OpenBundle(t.Context(), wrun.Config{}, strings.NewReader("no bundle"), boltdb.ImportOptions{}); err == nil {
		t.Error("what is no bundle was opened")
	}
}
