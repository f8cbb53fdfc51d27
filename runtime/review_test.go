package runtime_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// say appends an entry at the end of the run's log, as another process would.
func (m *machine) say(e journal.Entry) {
	m.t.Helper()
	for s, err := range m.mem.List(context.Background(), journal.Query{Run: "r"}) {
		if err != nil {
			m.t.Error(err)
		}
		e.Time = max(e.Time, s.Time)
		if err := m.mem.Append(context.Background(), "r", s.Len, e); err != nil {
			m.t.Error(err)
		}
	}
}

// steal claims the run for a process that does not live, whoever drives it.
func (m *machine) steal() {
	m.t.Helper()
	h := m.mem.Handle()
	owner, err := h.Owner()
	if err != nil {
		m.t.Error(err)
	}
	m.say(journal.Entry{Kind: journal.Claimed, Owner: owner})
	h.Kill()
}

func (m *machine) status() journal.Status {
	m.t.Helper()
	for s, err := range m.mem.List(m.t.Context(), journal.Query{Run: "r"}) {
		if err != nil {
			m.t.Fatal(err)
		}
		return s.Status()
	}
	return ""
}

// A late outcome stops a run that is being driven before it starts anything else.
func TestALateOutcomeStopsTheRun(t *testing.T) {
	m := newMachine(t, map[string]tool{"two": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncHTTPSend, "b")
		return `1`
	}})
	m.world.during = func(request string) {
		m.world.during = nil
		m.say(journal.Entry{Kind: journal.Late, Step: "s1/2", Name: "http_send", Outcome: journal.OK, Owner: "somebody"})
	}
	p := m.start(nil)
	_, err := m.drive(p, steps("two"))
	var late *runtime.LateError
	if !errors.As(err, &late) || m.world.count("b") != 0 || m.status() != journal.Uncertain {
		t.Fatalf("ended with %v, b sent %d times, status %s", err, m.world.count("b"), m.status())
	}
	if _, err := m.drive(m.start(nil), steps("two")); !errors.As(err, &late) {
		t.Errorf("resumed with %v", err)
	}
	if err := p.Acknowledge(t.Context(), "r", "somebody", "looked at it"); err != nil {
		t.Fatal(err)
	}
	if err := p.Acknowledge(t.Context(), "r", "somebody", ""); !errors.Is(err, runtime.ErrNotOpen) {
		t.Errorf("acknowledged twice: %v", err)
	}
	if _, err := m.drive(m.start(nil), steps("two")); err != nil || m.world.total() != 2 {
		t.Errorf("after the acknowledgement: %v, %d effects", err, m.world.total())
	}
}

// Of two replies that come to a fenced process, both are kept.
func TestEveryReplyOfAFencedOwnerIsKept(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a"), "y": one("b")})
	bothSent, aLate := make(chan struct{}), make(chan struct{})
	m.world.during = func(request string) {
		if request == "a" {
			<-bothSent
			m.steal()
			return
		}
		close(bothSent)
		<-aLate
	}
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		results := make(chan error, 2)
		go func() {
			_, err := r.Call(ctx, "s1", "m.x", []byte(`{}`))
			close(aLate)
			results <- err
		}()
		go func() {
			_, err := r.Call(ctx, "s2", "m.y", []byte(`{}`))
			results <- err
		}()
		return nil, errors.Join(<-results, <-results)
	})
	var busy *runtime.BusyError
	if !errors.As(err, &busy) {
		t.Errorf("ended with %v", err)
	}
	log := m.log()
	if want := []string{"late s1/1", "late s2/1"}; !slices.Equal(log[len(log)-2:], want) {
		t.Errorf("log %v, want %v at its end", log, want)
	}
}

// What a fenced process learned of an effect whose outcome it does not know is kept too.
func TestEvidenceOfAFencedOwnerIsKept(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	m.world.drop = 1
	m.world.during = func(string) { m.steal() }
	if _, err := m.drive(m.start(nil), steps("x")); err == nil {
		t.Fatal("want an error")
	}
	_, err := m.drive(m.start(nil), steps("x"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Evidence == nil || u.Evidence.Sent != 1 {
		t.Errorf("resumed with %v", err)
	}
}

// A keyed tool that repeats a request because its outcome is unknown repeats its key.
func TestAToolsOwnRepetitionHasTheSameKey(t *testing.T) {
	m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
		if _, err := g.ask(toolabi.FuncHTTPSend, "k"); err != nil {
			g.must(toolabi.FuncHTTPSend, "k")
		}
		g.must(toolabi.FuncHTTPSend, "k") // this one is meant as another
		return `1`
	}})
	m.world.drop = 1
	if _, err := m.drive(m.start(nil), steps("keyed")); err != nil {
		t.Fatal(err)
	}
	if k := m.world.keys["k"]; len(k) != 3 || k[0] != k[1] || k[1] == k[2] {
		t.Errorf("keys %v, want the first two to be the same and the third another", k)
	}
}

// What is read after a cancellation is known of is a new step.
func TestACancelledRunReadsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, nil)
		m.tools = map[string]tool{"read": func(g *guest, _ string) string {
			for i := range 20 {
				if i == 2 {
					m.say(journal.Entry{Kind: journal.Cancel})
				}
				g.must(toolabi.FuncClock, "")
				time.Sleep(10 * time.Millisecond) // of the bubble's time: nothing rides along for longer
			}
			return `1`
		}}
		_, err := m.drive(m.start(nil), steps("read"))
		var failed *runtime.FailedError
		if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || m.reads > 3 {
			t.Errorf("ended with %v after %d reads", err, m.reads)
		}
	})
}

// A cancelled run is closed without being driven; what it leaves in doubt can still be settled.
func TestACancelledRunIsClosedAsItIs(t *testing.T) {
	for _, name := range []string{"charge", "keyed"} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{"charge": one("a"), "keyed": one("a")})
			p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 3) })
			if _, err := m.drive(p, steps(name)); !errors.Is(err, journal.ErrUnusable) {
				t.Fatal(err)
			}
			p = m.start(nil)
			if err := p.Cancel(t.Context(), "r", "somebody", ""); err != nil {
				t.Fatal(err)
			}
			_, err := m.drive(p, steps(name))
			var failed *runtime.FailedError
			if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || m.world.total() != 1 || len(p.invoker.entered) != 0 {
				t.Errorf("ended with %v, %d effects, entered %v", err, m.world.total(), p.invoker.entered)
			}
			if name == "keyed" {
				return
			}
			if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true, By: "somebody"}); err != nil {
				t.Errorf("settled afterwards: %v", err)
			}
			if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true}); !errors.Is(err, journal.ErrClosed) {
				t.Errorf("settled twice: %v", err)
			}
		})
	}
}

// An interruption between two steps that are served is no divergence.
func TestAnInterruptedReplayIsNoDivergence(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a"), "y": one("b")})
	p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 6) })
	if _, err := m.drive(p, steps("x", "y")); err == nil {
		t.Fatal("the crash went by unseen")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := m.start(nil).Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := r.Call(ctx, "s1", "m.x", []byte(`{}`))
		cancel()
		return nil, errors.Join(err, ctx.Err())
	}}})
	if !errors.Is(err, runtime.ErrInterrupted) || m.status() != journal.Interrupted {
		t.Errorf("ended with %v, status %s", err, m.status())
	}
}

// A call that is cut off behind its last host call still ends at its limit.
func TestALimitBehindTheLastAnswerIsAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string {
			g.must(toolabi.FuncHTTPSend, "a")
			<-g.ctx.Done()
			panic(unwound{context.Cause(g.ctx)})
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := m.start(nil)
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
			t.Fatal(err)
		}
		opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("x")}}
		if _, err := p.Drive(ctx, "r", opts); !errors.Is(err, runtime.ErrInterrupted) {
			t.Fatalf("interrupted: %v", err)
		}
		_, err := m.start(nil).Drive(t.Context(), "r", opts)
		var failed *runtime.FailedError
		if !errors.As(err, &failed) || !errors.Is(err, toolabi.LimitTime) {
			t.Errorf("resumed: %v, want a run that failed at its limit", err)
		}
	})
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

// A restored run says that a person is needed.
func TestARestoredRunAsks(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	m.say(journal.Entry{Kind: journal.Restored})
	_, err := m.drive(p, steps("x"))
	var u *runtime.UnconfirmedError
	if !errors.As(err, &u) || u.Step != "s1/1" || m.status() != journal.Uncertain || m.world.total() != 0 {
		t.Errorf("ended with %v, status %s, %d effects", err, m.status(), m.world.total())
	}
	m.say(journal.Entry{Kind: journal.Record, Name: journal.RecordConfirmed, By: "somebody"})
	if _, err := m.drive(p, steps("x")); err != nil {
		t.Errorf("confirmed: %v", err)
	}
}

// An interruption between crashes does not make anyone forget them.
func TestAnOrderlyStopIsNoProgress(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	p.store.Close()
	m.crashedClaims(2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.start(nil).Drive(context.WithoutCancel(ctx), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{
		Drive: func(_ context.Context, r *runtime.Run) ([]byte, error) { return r.Call(ctx, "s1", "m.x", []byte(`{}`)) },
	}})
	if !errors.Is(err, runtime.ErrInterrupted) {
		t.Fatal(err)
	}
	for s := range m.mem.List(t.Context(), journal.Query{Run: "r"}) {
		if s.Fuses() || s.Crashes < 2 {
			t.Errorf("%d crashes are remembered", s.Crashes)
		}
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
	if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{By: "somebody", Note: "too dear"}); err != nil {
		t.Fatal(err)
	}
	if res, err := m.drive(p, steps("asks")); err != nil || string(res.Output) != `["no"]` {
		t.Errorf("%s, %v", res.Output, err)
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
	say := runtime.Resolution{Happened: true, Reply: []byte("yes"), By: "somebody"}
	if err := start().Resolve(t.Context(), "r", "s1/1", say); err != nil {
		t.Fatal(err)
	}
	if err := start().Resolve(t.Context(), "r", "s1/1", say); !errors.Is(err, runtime.ErrNotOpen) {
		t.Errorf("answered twice: %v", err)
	}
	if res, err := m.drive(start(), steps("asks")); err != nil || string(res.Output) != `["yes"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}
