package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func one(request string) tool {
	return func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, request) + `"` }
}

// What the log holds and what is asked for must be the same; where they differ nothing is executed.
func TestDivergenceStopsBeforeAnythingIsExecuted(t *testing.T) {
	tests := []struct {
		name   string
		second tool
		driver runtime.Driver
		step   journal.Step
	}{
		{name: "another request", second: one("b"), driver: steps("charge"), step: "s1/1"},
		{name: "another function", second: func(g *guest, _ string) string { return g.must(toolabi.FuncClock, "") }, driver: steps("charge"), step: "s1/1"},
		{name: "the tool returns too early", second: func(*guest, string) string { return `1` }, driver: steps("charge"), step: "s1/1"},
		{name: "another tool", second: one("a"), driver: steps("other"), step: "s1"},
		{name: "the driver leaves a step out", second: one("a"), driver: func(context.Context, *runtime.Run) ([]byte, error) { return nil, nil }, step: "s1"},
		{name: "the driver fails before the step", second: one("a"), driver: func(context.Context, *runtime.Run) ([]byte, error) { return nil, errors.New("no") }, step: "s1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{"charge": one("a"), "other": one("c")})
			// Dies before the call's result, so that the call is entered again.
			p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 4) })
			if _, err := m.drive(p, steps("charge")); !errors.Is(err, journal.ErrUnusable) {
				t.Fatalf("the crash shows as %v", err)
			}
			m.tools["charge"] = tt.second
			_, err := m.drive(m.start(nil), tt.driver)
			var d *runtime.DivergedError
			if !errors.As(err, &d) || d.Step != tt.step {
				t.Fatalf("ended with %v, want diverged at %s", err, tt.step)
			}
			if n := m.world.total(); n != 1 {
				t.Errorf("%d effects", n)
			}
			m.tools["charge"] = one("a")
			if _, err := m.drive(m.start(nil), steps("charge")); err != nil {
				t.Errorf("with the first tool again: %v", err)
			}
		})
	}
}

// Inputs are judged before anything is written, outputs after the result is recorded.
func TestSchemasAreHeldAgainstInputAndOutput(t *testing.T) {
	m := newMachine(t, map[string]tool{"it": func(*guest, string) string { return `"text"` }})
	spec, modules := m.spec(`{}`)
	d := &spec.Modules[0].Manifest.Tools[0]
	d.Input, d.Output = toolabi.RawJSON(`{"type":"object","required":["n"]}`), toolabi.RawJSON(`{"type":"number"}`)
	p := m.start(nil)
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Call(ctx, "bad", "m.it", []byte(`{"m":1}`)); !errors.Is(err, toolabi.BadInput) || !strings.Contains(err.Error(), "n") {
			t.Errorf("input: %v", err)
		}
		if _, err := r.Call(ctx, "nojson", "m.it", []byte(`{"n"`)); !errors.Is(err, toolabi.BadInput) {
			t.Errorf("no JSON: %v", err)
		}
		_, err := r.Call(ctx, "good", "m.it", []byte(`{"n":9007199254740993}`))
		return nil, err
	}}})
	if !errors.Is(err, toolabi.BadOutput) {
		t.Errorf("output: %v", err)
	}
	want := []string{"created", "claimed", "intent good", "result good", "finished"}
	if got := m.log(); !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
	if got := string(m.intents()["good"].Body); got != `{"n":9007199254740993}` {
		t.Errorf("the input was recorded as %s", got)
	}
}

func TestARunOfTheSameIDIsTheSameOrRefused(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if begun, err := p.Start(t.Context(), "r", spec, modules, true); err != nil || !begun {
		t.Fatal(begun, err)
	}
	if begun, err := p.Start(t.Context(), "r", spec, modules, true); err != nil || begun {
		t.Errorf("the same again: %v, %v", begun, err)
	}
	for _, change := range []func(*runtime.Spec){
		func(s *runtime.Spec) { s.Input = []byte(`1`) },
		func(s *runtime.Spec) { s.Plan = []byte(`x`) },
		func(s *runtime.Spec) { s.Driver = "other" },
		func(s *runtime.Spec) { s.Limits.TimeoutMS = 1 },
	} {
		other, _ := m.spec(`{}`)
		change(&other)
		_, err := p.Start(t.Context(), "r", other, modules, true)
		var o *runtime.OtherRunError
		if !errors.As(err, &o) || o.Differs == "" {
			t.Errorf("another run: %v", err)
		}
	}
	for _, id := range []string{"", "..", "A", "a/b", "-x", "é", "a\x00", strings.Repeat("a", 200)} {
		if _, err := p.Start(t.Context(), id, spec, modules, true); err == nil {
			t.Errorf("run id %q is accepted", id)
		}
	}
}

func TestAnotherDriverVersionDiverges(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	spec.Version = "1"
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	drive := func(v string) error {
		_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Version: v, Drive: steps("pure")}})
		return err
	}
	var d *runtime.DivergedError
	if err := drive("2"); !errors.As(err, &d) {
		t.Errorf("version 2: %v", err)
	}
	if err := drive("1"); err != nil {
		t.Errorf("version 1: %v", err)
	}
}

// Parallel calls end in any order; resuming gives the same, and one that fails does not break off the others.
func TestParallelCallsAreKeptApart(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"a": one("a"), "b": one("b"),
		"c": func(*guest, string) string { panic(toolabi.NewError(toolabi.Failed, "no")) },
	})
	all := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		res := r.CallAll(ctx, []runtime.CallSpec{{Step: "p[0]", Tool: "m.a", Input: []byte(`{}`)}, {Step: "p[1]", Tool: "m.c", Input: []byte(`{}`)}, {Step: "p[2]", Tool: "m.b", Input: []byte(`{}`)}})
		if !errors.Is(res[1].Err, toolabi.Failed) {
			return nil, fmt.Errorf("the failing one: %w", res[1].Err)
		}
		if res[0].Err != nil || res[2].Err != nil {
			return nil, errors.Join(res[0].Err, res[2].Err)
		}
		return fmt.Appendf(nil, "[%s,%s]", res[0].Output, res[2].Output), nil
	}
	res, err := m.drive(m.start(nil), all)
	if err != nil || string(res.Output) != `["done a","done b"]` || m.world.total() != 2 {
		t.Errorf("%s, %v, %v", res.Output, err, m.world.effects)
	}
}

// With one branch uncertain the others finish their step, and only the uncertain one is left open.
func TestAnUncertainBranchLetsTheOthersFinish(t *testing.T) {
	m := newMachine(t, map[string]tool{"a": one("a"), "b": one("b")})
	inDoubt, underWay := make(chan struct{}), make(chan struct{})
	m.world.drop, m.world.dropOnly = 1, "a"
	m.world.during = func(request string) {
		if request == "a" {
			<-underWay
			return
		}
		close(underWay)
		<-inDoubt // b's reply comes when a is known to be uncertain
	}
	p := m.start(func(j journaltest.Store) journaltest.Store {
		return journaltest.HookAppends(j, func(_ int, committed bool) {
			if !committed {
				return
			}
			// The result is what a broken build writes instead.
			if last := m.log()[len(m.log())-1]; last == "record a/1" || last == "result a/1" {
				close(inDoubt)
			}
		})
	})
	_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		res := r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.a", Input: []byte(`{}`)}, {Step: "b", Tool: "m.b", Input: []byte(`{}`)}})
		return nil, errors.Join(res[0].Err, res[1].Err)
	})
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Step != "a/1" {
		t.Errorf("ended with %v, want uncertain a/1", err)
	}
	if got := m.results()["b/1"]; got != "done b" {
		t.Errorf("the other branch left %q", got)
	}
}

// An operator's grants begin with the run, grow with a resume, and are recorded.
func TestGrantsGrowWithAResume(t *testing.T) {
	m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
		return fmt.Sprintf("%q", g.must("grants", ""))
	}})
	p := m.start(nil)
	shown := hostfuncs.Func{Name: "grants", Class: toolabi.Read, Call: func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
		return []byte(strings.Join(c.Grants.HTTP, " ")), nil
	}}
	e, err := runtime.New(runtime.Config{Journal: p.store, Invoker: p.invoker, Funcs: []hostfuncs.Func{shown}})
	if err != nil {
		t.Fatal(err)
	}
	spec, modules := m.spec(`{}`)
	spec.Grants.HTTP = []string{"https://a"}
	if _, err := e.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	hold := func(ctx context.Context, r *runtime.Run) ([]byte, error) { panic(stop) }
	for _, more := range []string{"https://b", "https://b", "https://c"} {
		e.Drive(t.Context(), "r", runtime.DriveOptions{Grants: hostfuncs.Grants{HTTP: []string{more}}, Driver: &runtime.DriverInfo{Drive: hold}})
	}
	res, err := e.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("it")}})
	if err != nil || string(res.Output) != `["https://a https://b https://c"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// "Did not happen" is not known while the request may still be on its way.
func TestDidNotHappenHasToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"charge": one("a")})
		m.world.drop = 1
		p := m.start(nil)
		if _, err := m.drive(p, steps("charge")); err == nil {
			t.Fatal("want uncertain")
		}
		var soon *runtime.TooSoonError
		if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{}); !errors.As(err, &soon) {
			t.Fatalf("at once: %v", err)
		}
		time.Sleep(time.Until(soon.Until))
		if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{}); err != nil {
			t.Errorf("when it has settled: %v", err)
		}
		if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true}); !errors.Is(err, runtime.ErrNotOpen) {
			t.Errorf("a second time: %v", err)
		}
		for _, step := range []journal.Step{"s1", "s9", "s1/7"} {
			if err := p.Resolve(t.Context(), "r", step, runtime.Resolution{Happened: true}); !errors.Is(err, runtime.ErrNotOpen) {
				t.Errorf("step %s: %v", step, err)
			}
		}
	})
}

func TestWatchEndsWithTheRun(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": one("a")})
	p, watcher := m.start(nil), m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	seen := make(chan []string)
	go func() {
		var words []string
		for e, err := range watcher.Watch(t.Context(), "r", 0) {
			if err != nil {
				t.Error(err)
			}
			words = append(words, e.Kind.String()+" "+string(e.Step))
		}
		seen <- words
	}()
	if _, err := m.drive(p, steps("charge")); err != nil {
		t.Fatal(err)
	}
	want := []string{"created ", "claimed ", "intent s1", "intent s1/1", "result s1/1", "result s1", "finished "}
	if got := <-seen; !slices.Equal(got, want) {
		t.Errorf("watched %q, want %q", got, want)
	}
}
