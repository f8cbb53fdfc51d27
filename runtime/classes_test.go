package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// What a tool's declaration does not allow is denied at the call, recorded, and served from then on.
func TestADeclarationIsEnforced(t *testing.T) {
	try := func(g *guest, _ string) string {
		_, err := g.ask(toolabi.FuncHTTPSend, "a")
		return fmt.Sprintf("%q", fmt.Sprint(errors.Is(err, toolabi.Denied)))
	}
	for _, name := range []string{"read", "pure"} {
		m := newMachine(t, map[string]tool{name: try})
		res, err := m.drive(m.start(nil), steps(name))
		if err != nil || string(res.Output) != `["true"]` || m.world.total() != 0 {
			t.Errorf("%s: %s, %v, %d effects", name, res.Output, err, m.world.total())
		}
		want := []string{"created", "claimed", "intent s1", "result s1/1", "result s1", "finished"}
		if got := m.log(); !slices.Equal(got, want) {
			t.Errorf("%s: log %v, want %v", name, got, want)
		}
	}
}

func TestAFunctionThatTheHostLacksIsAValue(t *testing.T) {
	m := newMachine(t, map[string]tool{"asks": func(g *guest, _ string) string {
		_, err := g.ask("fly", "")
		return fmt.Sprint(errors.Is(err, toolabi.Unsupported))
	}})
	if res, err := m.drive(m.start(nil), steps("asks")); err != nil || string(res.Output) != `[true]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// A driver's own steps are recorded like a tool's.
func TestDoIsServedFromTheLog(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	asked, keys := 0, map[string]bool{}
	driver := func(after func()) runtime.Driver {
		return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			out, err := r.Do(ctx, "model", runtime.Act{Name: "ask", Class: toolabi.Effect, Request: []byte("question"), Do: func(_ context.Context, a runtime.Attempt) ([]byte, error) {
				if err := a.BeforeSend(); err != nil {
					return nil, err
				}
				asked++
				keys[a.Key] = true
				return []byte("answer"), nil
			}})
			after()
			if err != nil {
				return nil, err
			}
			if _, err := r.Call(ctx, "s", "m.pure", []byte(`{}`)); err != nil {
				return nil, err
			}
			return out, nil
		}
	}
	h := m.mem.Handle()
	p := m.start(func(journaltest.Store) journaltest.Store { return h })
	if _, err := m.drive(p, driver(h.Kill)); err == nil {
		t.Fatal("the kill went by unseen")
	}
	res, err := m.drive(m.start(nil), driver(func() {}))
	if err != nil || string(res.Output) != "answer" || asked != 1 || len(keys) != 1 || keys[""] {
		t.Errorf("%s, %v, asked %d times under %v", res.Output, err, asked, keys)
	}
}

// The state of tools changes in the transaction that records the function's outcome; where somebody else was faster, the
// function is asked again.
func TestLocalFunctionsChangeStateWithTheirEntry(t *testing.T) {
	m := newMachine(t, map[string]tool{"count": func(g *guest, _ string) string { return `"` + g.must("bump", "n") + " " + g.must("bump", "n") + `"` }})
	other, asked := m.mem.Handle(), 0
	bump := hostfuncs.Func{Name: "bump", Class: toolabi.Local, Call: func(_ context.Context, c hostfuncs.Call, key []byte) ([]byte, error) {
		value, version, _, err := c.Get("space", string(key))
		if err != nil {
			return nil, err
		}
		if asked++; asked == 2 { // between the look and the append of the second use
			elsewhere := []journal.Entry{{Kind: journal.Created, Name: "d"}, {
				Kind: journal.Record, Name: "n",
				Writes: []journal.Write{{Space: "space", Key: "n", Value: []byte("xxxxx"), Expect: version}},
			}}
			if err := other.Append(context.Background(), "elsewhere", 0, elsewhere...); err != nil {
				t.Error(err)
			}
		}
		value = append(value, '1')
		c.Stage("space", string(key), value, false, version)
		return value, nil
	}}
	inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
	e, err := runtime.New(runtime.Config{Journal: m.mem.Handle(), Invoker: inv, Funcs: []hostfuncs.Func{bump}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.drive(&process{Engine: e, invoker: inv}, steps("count"))
	if err != nil || string(res.Output) != `["1 xxxxx1"]` || asked != 3 {
		t.Errorf("%s, %v, asked %d times", res.Output, err, asked)
	}
	value, version, err := m.mem.Get(t.Context(), "space", "n")
	if string(value) != "xxxxx1" || version != 3 || err != nil {
		t.Errorf("state %q, version %d, %v", value, version, err)
	}
}

// A step that waits is answered from outside, also while the run is not driven, and the run goes on with the answer.
func TestAStepThatWaitsIsAnsweredFromOutside(t *testing.T) {
	m := newMachine(t, map[string]tool{"asks": func(g *guest, _ string) string { return `"` + g.must("approve", "ok?") + `"` }})
	start := func() *process {
		inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
		e, err := runtime.New(runtime.Config{Journal: m.mem.Handle(), Invoker: inv, Funcs: []hostfuncs.Func{{Name: "approve", Class: toolabi.Wait}}})
		if err != nil {
			t.Fatal(err)
		}
		return &process{Engine: e, invoker: inv}
	}
	for range 2 {
		_, err := m.drive(start(), steps("asks"))
		var w *runtime.WaitingError
		if !errors.As(err, &w) || w.Step != "s1/1" || m.status() != journal.Waiting {
			t.Fatalf("ended with %v, status %s", err, m.status())
		}
	}
	if err := start().Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true}); !errors.Is(err, runtime.ErrNotOpen) {
		t.Errorf("settled like an effect: %v", err)
	}
	say := runtime.Answer{Yes: true, Reply: []byte("yes"), By: "somebody"}
	if err := start().Answer(t.Context(), "r", "s1/1", say); err != nil {
		t.Fatal(err)
	}
	var answered *runtime.AnsweredError
	if err := start().Answer(t.Context(), "r", "s1/1", say); !errors.As(err, &answered) || !answered.Yes || answered.By != "somebody" {
		t.Errorf("answered twice: %v", err)
	}
	if res, err := m.drive(start(), steps("asks")); err != nil || string(res.Output) != `["yes"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// No is an answer too: the tool sees it as a denial.
func TestAStepThatWaitsCanBeDenied(t *testing.T) {
	m := newMachine(t, map[string]tool{"asks": func(g *guest, _ string) string {
		if _, err := g.ask("approve", "ok?"); errors.Is(err, toolabi.Denied) {
			return `"no"`
		}
		return `"yes"`
	}})
	e, err := runtime.New(runtime.Config{
		Journal: m.mem.Handle(), Invoker: &goInvoker{tools: m.tools, entered: map[string]int{}},
		Funcs: []hostfuncs.Func{{Name: "approve", Class: toolabi.Wait}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Engine: e}
	if _, err := m.drive(p, steps("asks")); err == nil {
		t.Fatal("want waiting")
	}
	if err := p.Answer(t.Context(), "r", "s1/1", runtime.Answer{By: "somebody", Note: "too dear"}); err != nil {
		t.Fatal(err)
	}
	if res, err := m.drive(p, steps("asks")); err != nil || string(res.Output) != `["no"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// A driver's own effect that must not be repeated is settled by the same rules as a tool's.
func TestADriversOwnOnceIsInDoubtForItsTime(t *testing.T) {
	m := newMachine(t, nil)
	ask := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Do(ctx, "ask", runtime.Act{Name: "model", Class: toolabi.Once, Request: []byte("q"), Do: func(_ context.Context, a runtime.Attempt) ([]byte, error) {
			return []byte("1"), a.BeforeSend()
		}})
	}
	p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 3) })
	if _, err := m.drive(p, ask); err == nil {
		t.Fatal("the crash went by unseen")
	}
	p = m.start(nil)
	var u *runtime.UncertainError
	if _, err := m.drive(p, ask); !errors.As(err, &u) {
		t.Fatalf("resumed with %v", err)
	}
	var soon *runtime.TooSoonError
	if err := p.Resolve(t.Context(), "r", "ask", runtime.Resolution{}); !errors.As(err, &soon) {
		t.Errorf("did not happen, at once: %v", err)
	}
}

// A function that was allowed to send and then failed in a way of its own may have sent.
func TestAFaultAfterTheFirstByteIsInDoubt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		call  func(c hostfuncs.Call) error
		doubt bool
	}{
		{"before", func(hostfuncs.Call) error { return errors.New("boom") }, false},
		{"after", func(c hostfuncs.Call) error { return errors.Join(c.BeforeSend(), errors.New("boom")) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{"x": one("a")})
			send := hostfuncs.Func{Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Call: func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
				return nil, tt.call(c)
			}}
			inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
			e, err := runtime.New(runtime.Config{Journal: m.mem.Handle(), Invoker: inv, Funcs: []hostfuncs.Func{send}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.drive(&process{Engine: e, invoker: inv}, steps("x"))
			var u *runtime.UncertainError
			if errors.As(err, &u) != tt.doubt {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// The check before the first byte waits for a journal that is busy, and when it gives up, nothing is in doubt.
func TestWhatWasNotAllowedToLeaveIsNotInDoubt(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.start(func(j journaltest.Store) journaltest.Store { return busyList{j} })
	_, err := m.drive(p, steps("x"))
	if !errors.Is(err, journal.ErrBusy) || m.world.total() != 0 {
		t.Fatalf("ended with %v after %d effects", err, m.world.total())
	}
	res, err := m.drive(m.start(nil), steps("x"))
	if err != nil || string(res.Output) != `["done a"]` || m.world.count("a") != 1 {
		t.Errorf("resumed with %s, %v, sent %d times", res.Output, err, m.world.count("a"))
	}
}

// busyList is a journal that another process holds whenever it is read.
type busyList struct{ journaltest.Store }

func (b busyList) List(context.Context, journal.Query) iter.Seq2[journal.State, error] {
	return func(yield func(journal.State, error) bool) { yield(journal.State{}, journal.ErrBusy) }
}

// Log lines of what is answered from the log are not said again.
func TestAReplayIsSilent(t *testing.T) { synctest.Test(t, aReplayIsSilent) }

func aReplayIsSilent(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
		g.must(toolabi.FuncLog, "before")
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncLog, "after")
		return `1`
	}})
	p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 4) })
	if _, err := m.drive(p, steps("charge")); err == nil {
		t.Fatal("the crash went by unseen")
	}
	var said []string
	inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
	e, err := runtime.New(runtime.Config{Journal: m.mem.Handle(), Invoker: inv, Funcs: m.funcs(), Observe: func(ev runtime.Event) {
		if ev.Phase == runtime.Said {
			said = append(said, ev.Text)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(&process{Engine: e, invoker: inv}, steps("charge")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"after"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

// After the first byte an error of a driver's own function does not say that nothing happened.
func TestAnErrorOfADriversOwnOnceIsInDoubt(t *testing.T) {
	m := newMachine(t, nil)
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Do(ctx, "pay", runtime.Act{Name: "pay", Class: toolabi.Once, Do: func(_ context.Context, a runtime.Attempt) ([]byte, error) {
			return nil, errors.Join(a.BeforeSend(), toolabi.NewError(toolabi.Timeout, "no reply"))
		}})
	})
	var u *runtime.UncertainError
	if !errors.As(err, &u) {
		t.Errorf("ended with %v", err)
	}
}
