package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func repeat(n int, name string) runtime.Driver {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = name
	}
	return steps(calls...)
}

// The budget of commits: created, claimed and finished cost at most two, a call without effects at most one, a call
// with one effect that must not be repeated two.
func TestCommitsStayInTheirBudget(t *testing.T) {
	const n = 20
	tests := []struct {
		name string
		tool tool
		most int
	}{
		{"pure", func(*guest, string) string { return `1` }, n + 2},
		{"pure that takes its time", func(*guest, string) string {
			time.Sleep(time.Second) // in the bubble of the test, where it takes no time
			return `1`
		}, n + 2},
		{"charge", func(g *guest, _ string) string { g.must(toolabi.FuncHTTPSend, "a"); return `1` }, 2*n + 2},
		{"readandsend", func(g *guest, _ string) string {
			g.must(toolabi.FuncClock, "")
			g.must(toolabi.FuncHTTPSend, "a")
			g.must(toolabi.FuncClock, "")
			return `1`
		}, 2*n + 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t, map[string]tool{"it": tt.tool})
				if _, err := m.drive(m.start(nil), repeat(n, "it")); err != nil {
					t.Fatal(err)
				}
				if got := m.mem.Commits(); got > tt.most {
					t.Errorf("%d calls took %d commits, at most %d are allowed", n, got, tt.most)
				}
			})
		})
	}
}

// What rides along is on the disk a few milliseconds later, also when nothing else is appended.
func TestWhatRidesAlongDoesNotWaitForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
		p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.RideAlong = 0 })
		_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			out, err := r.Call(ctx, "s", "m.pure", []byte(`{}`))
			time.Sleep(4 * time.Millisecond) // of the bubble's time
			if _, ok := m.results()["s"]; !ok {
				t.Error("the result is not in the log after 4 ms")
			}
			return out, err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// After a crash without progress a call's intent is on the disk before the module is entered.
func TestACrashWithoutProgressTurnsFusingOff(t *testing.T) {
	m := newMachine(t, nil)
	died := false
	m.tools = map[string]tool{"deadly": func(g *guest, _ string) string {
		if _, ok := m.intents()["s1"]; ok != died {
			t.Errorf("crashed before: %v, intent on disk: %v", died, ok)
		}
		if !died {
			panic(unwound{journal.ErrUnusable})
		}
		return `1`
	}}
	if _, err := m.drive(m.start(nil), steps("deadly")); err == nil {
		t.Fatal("the crash went by unseen")
	}
	// The release above is what an orderly stop writes. A kill writes nothing: two claims in a row.
	m.crashedClaims(2)
	died = true
	if _, err := m.drive(m.start(nil), steps("deadly")); err != nil {
		t.Fatal(err)
	}
}

// crashedClaims appends claims of processes that died.
func (m *machine) crashedClaims(n int) {
	m.t.Helper()
	for range n {
		h := m.mem.Handle()
		owner, err := h.Owner()
		if err != nil {
			m.t.Fatal(err)
		}
		for s, err := range h.List(m.t.Context(), journal.Query{Run: "r"}) {
			if err != nil {
				m.t.Fatal(err)
			}
			claim := journal.Entry{Kind: journal.Claimed, Owner: owner, Time: max(s.Time, time.Now().UnixNano())}
			if err := h.Append(m.t.Context(), "r", s.Len, claim); err != nil {
				m.t.Fatal(err)
			}
		}
		h.Kill()
	}
}

func (m *machine) intents() map[journal.Step]journal.Entry {
	got := map[journal.Step]journal.Entry{}
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err == nil && e.Kind == journal.Intent {
			got[e.Step] = e
		}
	}
	return got
}

// Automatic drivers stop at three crashes in a row; a person may always ask.
func TestWorkLeavesARunAloneAfterThreeCrashes(t *testing.T) {
	for crashes := range 5 {
		t.Run(fmt.Sprint(crashes), func(t *testing.T) {
			m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
			p := m.start(nil)
			spec, modules := m.spec(`{}`)
			if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
				t.Fatal(err)
			}
			p.store.Close()
			m.crashedClaims(crashes) // the first of them follows the claim of Start
			info := runtime.DriverInfo{Drive: steps("pure")}
			e, err := runtime.New(runtime.Config{
				Journal: m.mem.Handle(), Drivers: map[string]runtime.DriverInfo{"test": info}, Invoker: p.invoker,
			})
			if err != nil {
				t.Fatal(err)
			}
			driven := 0
			err = e.Work(t.Context(), func(run string, res runtime.Result, err error) bool {
				if err != nil {
					t.Errorf("%s: %v", run, err)
				}
				driven++
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			if want := crashes < 3; (driven == 1) != want {
				t.Errorf("after %d crashes %d runs were driven", crashes, driven)
			}
			if _, err := e.Drive(t.Context(), "r", runtime.DriveOptions{}); err != nil {
				t.Errorf("asked by a person: %v", err)
			}
		})
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
