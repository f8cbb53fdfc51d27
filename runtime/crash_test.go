package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// shape is a run with known effects.
type shape struct {
	name    string
	tools   map[string]tool
	driver  runtime.Driver
	effects map[string]int // what the world must have seen in the end
	output  string
	fails   toolabi.Code
	// grants is what the tools may do, kept what the journal has to hold in the end; nil for nothing in particular.
	grants hostfuncs.Grants
	kept   func(*machine)
	// prepare changes the machine before anything is driven; nil leaves it.
	prepare func(*machine)
}

func shapes() []shape {
	charge := func(refs ...string) tool {
		return func(g *guest, _ string) string {
			for _, ref := range refs {
				g.must(toolabi.FuncClock, "")
				g.must(toolabi.FuncHTTPSend, ref)
			}
			return `"` + refs[0] + `"`
		}
	}
	pure := func(*guest, string) string { return `"pure"` }
	return []shape{
		{
			name: "one call with two sends", tools: map[string]tool{"pair": charge("a", "b")},
			driver: steps("pair"), effects: map[string]int{"a": 1, "b": 1}, output: `["a"]`,
		},
		{
			name: "five steps",
			tools: map[string]tool{
				"one": charge("a"), "pure": pure, "two": charge("b"),
				"read": func(g *guest, _ string) string { g.must(toolabi.FuncClock, ""); return `"read"` },
				"keyed": func(g *guest, _ string) string {
					g.must(toolabi.FuncHTTPSend, "k")
					return `"k"`
				},
			},
			driver:  steps("one", "pure", "two", "read", "keyed"),
			effects: map[string]int{"a": 1, "b": 1, "k": 1}, output: `["a","pure","b","read","k"]`,
		},
		{
			name: "a tool that fails",
			tools: map[string]tool{"one": charge("a"), "fails": func(g *guest, _ string) string {
				g.must(toolabi.FuncHTTPSend, "b")
				panic(toolabi.NewError(toolabi.Failed, "no"))
			}},
			driver: steps("one", "fails"), effects: map[string]int{"a": 1, "b": 1}, fails: toolabi.Failed,
		},
	}
}

func (s shape) check(t *testing.T, m *machine, res runtime.Result, err error) {
	t.Helper()
	if s.fails != 0 {
		if !errors.Is(err, s.fails) {
			t.Errorf("ended with %v, want %v", err, s.fails)
		}
	} else if err != nil || string(res.Output) != s.output {
		t.Errorf("ended with %q, %v, want %q", res.Output, err, s.output)
	}
	if s.kept != nil {
		s.kept(m)
	}
	for ref, want := range s.effects {
		n := m.world.count(ref)
		keyed := ref == "k"
		if n < want || n > want && !keyed {
			t.Errorf("effect %q took place %d times, want %d", ref, n, want)
		}
		for _, k := range m.world.keys[ref] {
			if k != m.world.keys[ref][0] {
				t.Errorf("effect %q was asked for under the keys %v", ref, m.world.keys[ref])
			}
		}
	}
}

// Every crash point: instead of each append, and after it was made and before anyone was told.
func TestNoCrashPointRepeatsOrLosesAnything(t *testing.T) {
	all := append(shapes(), tallies(), askedAgain())
	for _, s := range append(all, slowly(append(shapes(), tallies()))...) {
		appends := 0
		// Time stands still in the bubble unless a tool takes its time, so that the appends are always the same.
		synctest.Test(t, func(t *testing.T) {
			m := s.machine(t)
			counter := journaltest.CrashBefore(m.mem.Handle(), 0)
			res, err := m.drive(m.start(func(journaltest.Store) journaltest.Store { return counter }), s.driver)
			s.check(t, m, res, err)
			appends = counter.Appends()
			counter.Close()
		})
		if appends < 4 {
			t.Fatalf("%s makes %d appends", s.name, appends)
		}
		for n := 1; n <= appends; n++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d of %d/after %v", s.name, n, appends, after), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { crashAt(t, s, n, after) })
				})
			}
		}
	}
}

func (s shape) machine(t *testing.T) *machine {
	m := newMachine(t, s.tools)
	m.grants = s.grants
	if s.prepare != nil {
		s.prepare(m)
	}
	return m
}

// slowly makes every tool wait before each of its requests, so that nothing rides along: more appends, more crash points.
func slowly(shapes []shape) []shape {
	for i := range shapes {
		slow := map[string]tool{}
		for name, it := range shapes[i].tools {
			slow[name] = func(g *guest, input string) string {
				host := g.host
				g.host = func(ctx context.Context, name string, request []byte) (toolabi.Answer, error) {
					time.Sleep(time.Second)
					return host(ctx, name, request)
				}
				defer time.Sleep(time.Second)
				return it(g, input)
			}
		}
		shapes[i].name, shapes[i].tools = shapes[i].name+", slowly", slow
	}
	return shapes
}

func crashAt(t *testing.T, s shape, n int, after bool) {
	m := s.machine(t)
	p := m.start(func(j journaltest.Store) journaltest.Store {
		if after {
			return journaltest.CrashAfter(j, n)
		}
		return journaltest.CrashBefore(j, n)
	})
	_, err := m.drive(p, s.driver)
	if !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the crash shows as %v", err)
	}
	before := m.world.total()
	results := m.results()
	res, uncertain, err := m.finish(s.driver)
	s.check(t, m, res, err)
	if uncertain > 1 {
		t.Errorf("%d steps were uncertain after one crash", uncertain)
	}
	for step, body := range results {
		if got := m.results()[step]; got != body {
			t.Errorf("the recorded result of %s was %q and is %q", step, body, got)
		}
	}
	if before > m.world.total() {
		t.Errorf("effects were lost")
	}
	again, err := m.drive(m.start(nil), s.driver)
	if !again.Replayed || again.Counts != (runtime.Counts{}) {
		t.Errorf("the finished run was driven again: %+v, %v", again, err)
	}
}

func (m *machine) results() map[journal.Step]string {
	got := map[journal.Step]string{}
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			break // the run was never written
		}
		if e.Kind == journal.Result {
			got[e.Step] = string(e.Body)
		}
	}
	return got
}

// A crash between the sending of a request and the recording of its reply is the one that nobody can see through.
func TestACutOffSendIsUncertainAndSettled(t *testing.T) {
	for _, happened := range []bool{true, false} {
		t.Run(fmt.Sprint("happened ", happened), func(t *testing.T) {
			m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
				return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"`
			}})
			handle := m.mem.Handle()
			p := m.start(func(journaltest.Store) journaltest.Store { return handle })
			m.world.during = func(string) {
				handle.Kill()
				if !happened {
					m.world.effects["a"]-- // the provider never saw it
				}
			}
			if _, err := m.drive(p, steps("charge")); !errors.Is(err, journal.ErrUnusable) {
				t.Fatalf("the kill shows as %v", err)
			}
			m.world.during = nil
			var u *runtime.UncertainError
			_, err := m.drive(m.start(nil), steps("charge"))
			if !errors.As(err, &u) || u.Step != "s1/1" || u.Intent.Name != toolabi.FuncHTTPSend || u.Evidence != nil {
				t.Fatalf("resumed with %v, want uncertain s1/1 without evidence", err)
			}
			res, uncertain, err := m.finish(steps("charge"))
			if err != nil || string(res.Output) != `["done a"]` || uncertain != 1 {
				t.Errorf("finished with %q, %v, %d uncertain", res.Output, err, uncertain)
			}
			if n := m.world.count("a"); n != 1 {
				t.Errorf("charged %d times", n)
			}
			if keys := m.world.keys["a"]; len(keys) > 1 && keys[0] != keys[1] {
				t.Errorf("the second attempt has another key: %v", keys)
			}
		})
	}
}

// An unknown outcome in a living process is not a result: the tool never sees it, so it cannot try again by itself.
func TestAnUnknownOutcomeIsNotShownToTheTool(t *testing.T) {
	m := newMachine(t, map[string]tool{"stubborn": func(g *guest, _ string) string {
		for {
			if reply, err := g.ask(toolabi.FuncHTTPSend, "a"); err == nil {
				return `"` + reply + `"`
			}
		}
	}})
	m.world.drop = 1
	p := m.start(nil)
	_, err := m.drive(p, steps("stubborn"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Evidence == nil || u.Evidence.Sent != 1 {
		t.Fatalf("ended with %v, want uncertain with the bytes sent", err)
	}
	if n := m.world.count("a"); n != 1 {
		t.Fatalf("sent %d times", n)
	}
	res, _, err := m.finish(steps("stubborn"))
	if err != nil || string(res.Output) != `["done a"]` || m.world.count("a") != 1 {
		t.Errorf("finished with %q, %v after %d sends", res.Output, err, m.world.count("a"))
	}
}

func TestAFinishedCallIsNotEnteredAgain(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"one": func(g *guest, _ string) string { g.must(toolabi.FuncHTTPSend, "a"); return `1` },
		"two": func(g *guest, _ string) string { g.must(toolabi.FuncHTTPSend, "b"); return `2` },
	})
	handle := m.mem.Handle()
	p := m.start(func(journaltest.Store) journaltest.Store { return handle })
	stop := errors.New("stop")
	_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := steps("one")(ctx, r); err != nil {
			return nil, err
		}
		if err := r.Flush(); err != nil {
			return nil, err
		}
		handle.Kill()
		return nil, stop
	})
	if !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the kill shows as %v", err)
	}
	p = m.start(nil)
	res, err := m.drive(p, steps("one", "two"))
	if err != nil || string(res.Output) != `[1,2]` {
		t.Fatalf("resumed with %q, %v", res.Output, err)
	}
	if p.invoker.entered["one"] != 0 || p.invoker.entered["two"] != 1 {
		t.Errorf("entered %v", p.invoker.entered)
	}
	if want := (runtime.Counts{Executed: 2, Served: 1, Entered: 1}); res.Counts != want {
		t.Errorf("counts %+v, want %+v", res.Counts, want)
	}
}
