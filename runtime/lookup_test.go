package runtime_test

import (
	"context"
	"encoding/json"
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

// looking is a machine whose tool "pay" has a look-up "read_pay" and a settle time of a minute. verdict is what the
// look-up says; the default is the truth.
func looking(t *testing.T, verdict func(in toolabi.LookupInput) string) *machine {
	var m *machine
	m = newMachine(t, map[string]tool{
		"pay": func(g *guest, input string) string {
			return `"` + g.must(toolabi.FuncHTTPSend, "pay "+input) + `"`
		},
		"read_pay": func(g *guest, input string) string {
			g.must(toolabi.FuncClock, "")
			var in toolabi.LookupInput
			if err := json.Unmarshal([]byte(input), &in); err != nil {
				panic(toolabi.NewError(toolabi.Failed, err.Error()))
			}
			if verdict != nil {
				return verdict(in)
			}
			var request string
			_ = json.Unmarshal(in.Request, &request)
			if m.world.count(request) > 0 {
				return fmt.Sprintf(`{"verdict":"happened","reply":%q,"note":"found it"}`, "done "+request)
			}
			return `{"verdict":"did_not_happen","note":"not there"}`
		},
	})
	m.declare = func(tool *toolabi.Tool) {
		if tool.Name == "pay" {
			tool.Lookup, tool.SettleMS = "read_pay", 60_000
		}
	}
	return m
}

func pay(ctx context.Context, r *runtime.Run) ([]byte, error) {
	return r.Call(ctx, "s", "m.pay", []byte(`1`))
}

// cutOff drives the run in a process that dies while its effect is on its way. The effect takes place if happens.
func (m *machine) cutOff(t *testing.T, happens bool) {
	t.Helper()
	h := m.mem.Handle()
	m.world.during = func(request string) {
		h.Kill()
		if !happens {
			m.world.effects[request]--
		}
	}
	if _, err := m.drive(m.start(func(journaltest.Store) journaltest.Store { return h }), pay); !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the kill shows as %v", err)
	}
	m.world.during = nil
}

func TestALookupSettlesWhatHappened(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, true)
	res, err := m.drive(m.start(nil), pay)
	if err != nil || string(res.Output) != `"done pay 1"` || m.world.count("pay 1") != 1 {
		t.Errorf("%s, %v, %v", res.Output, err, m.world.effects)
	}
	want := []string{
		"created", "claimed", "intent s", "intent s/1", "claimed",
		"intent s/1/1", "result s/1/1/1", "result s/1/1", "result s/1", "result s", "finished",
	}
	if got := m.log(); !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
	for e := range m.mem.Read(t.Context(), "r", 0) {
		if e.Kind == journal.Result && e.Step == "s/1" && (e.By != "look-up m.read_pay" || e.Note != "found it" || e.Effect != journal.EffectApplied) {
			t.Errorf("the verdict is recorded as %+v", e)
		}
	}
}

func TestALookupThatSeesNothingWaitsUntilTheRequestHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := looking(t, nil)
		m.cutOff(t, false)
		began := time.Now()
		_, err := m.drive(m.start(nil), pay)
		var w *runtime.WaitingError
		// 30 s to be sent, 30 s on its way, 60 s to settle.
		if !errors.As(err, &w) || w.Due.Sub(began) != 120*time.Second || m.status() != journal.Waiting {
			t.Fatalf("ended with %v, status %s", err, m.status())
		}
		var soon *runtime.TooSoonError
		if err := m.start(nil).Resolve(t.Context(), "r", "s/1", runtime.Resolution{}); !errors.As(err, &soon) {
			t.Errorf("somebody says so before: %v", err)
		}
		time.Sleep(time.Until(w.Due) + 1)
		res, err := m.drive(m.start(nil), pay)
		if err != nil || string(res.Output) != `"done pay 1"` || m.world.count("pay 1") != 1 {
			t.Errorf("%s, %v, %v", res.Output, err, m.world.effects)
		}
		if keys := m.world.keys["pay 1"]; len(keys) != 2 || keys[0] != keys[1] {
			t.Errorf("the attempts had the keys %v", keys)
		}
		if !slices.Contains(m.log(), "void s/1") || !slices.Contains(m.log(), "intent s/1~2") {
			t.Errorf("log %v", m.log())
		}
	})
}

// The effect of a request that took its time is found by the second look-up, not done again after the first.
func TestARequestThatArrivesLateIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := looking(t, nil)
		m.cutOff(t, false)
		if _, err := m.drive(m.start(nil), pay); err == nil {
			t.Fatal("it did not wait")
		}
		m.world.effects["pay 1"]++ // now it arrives
		if _, err := m.drive(m.start(nil), pay); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("%v, %v", err, m.world.effects)
		}
	})
}

func TestALookupThatCannotTellLeavesItToAPerson(t *testing.T) {
	for name, verdict := range map[string]func(toolabi.LookupInput) string{
		"unknown":    func(toolabi.LookupInput) string { return `{"verdict":"unknown","note":"the ledger is down"}` },
		"fails":      func(toolabi.LookupInput) string { panic(toolabi.NewError(toolabi.Failed, "the ledger is down")) },
		"no verdict": func(toolabi.LookupInput) string { return `{"verdict":"the ledger is down"}` },
		"an unusable reply": func(toolabi.LookupInput) string {
			return `{"verdict":"happened","reply":5,"note":"the ledger is down"}`
		},
		"happened, no reply": func(toolabi.LookupInput) string { return `{"verdict":"happened","note":"the ledger is down"}` },
	} {
		t.Run(name, func(t *testing.T) {
			m := looking(t, verdict)
			m.cutOff(t, true)
			for range 2 {
				_, err := m.drive(m.start(nil), pay)
				var u *runtime.UncertainError
				if !errors.As(err, &u) || u.Step != "s/1" || !strings.Contains(u.Why, "look-up m.read_pay") || m.status() != journal.Uncertain {
					t.Fatalf("ended with %v (%+v)", err, u)
				}
			}
			p := m.start(nil)
			if err := p.Resolve(t.Context(), "r", "s/1", runtime.Resolution{Happened: true, Reply: []byte("said")}); err != nil {
				t.Fatal(err)
			}
			if res, err := m.drive(p, pay); err != nil || string(res.Output) != `"said"` || m.world.count("pay 1") != 1 {
				t.Errorf("%s, %v", res.Output, err)
			}
		})
	}
}

func TestALookupIsToldWhatItNeeds(t *testing.T) {
	var got toolabi.LookupInput
	m := looking(t, func(in toolabi.LookupInput) string {
		got = in
		return `{"verdict":"unknown"}`
	})
	m.cutOff(t, true)
	_, _ = m.drive(m.start(nil), pay)
	announced, err := time.Parse(time.RFC3339Nano, got.Announced)
	in := m.intents()["s/1"]
	if got.Tool != "pay" || string(got.Input) != `1` || got.Function != toolabi.FuncHTTPSend || string(got.Request) != `"pay 1"` ||
		got.Key != in.Key || err != nil || announced.UnixNano() != in.Time {
		t.Errorf("the look-up got %+v, %v", got, err)
	}
}

// A reply that is lost in a living process is looked up at once, and the tool goes on as if it had come.
func TestALostReplyIsLookedUpAtOnce(t *testing.T) {
	m := looking(t, nil)
	m.world.drop = 1
	p := m.start(nil)
	res, err := m.drive(p, pay)
	if err != nil || string(res.Output) != `"done pay 1"` || m.world.count("pay 1") != 1 || p.invoker.entered["pay"] != 1 {
		t.Errorf("%s, %v, %v, entered %v", res.Output, err, m.world.effects, p.invoker.entered)
	}
}

// A look-up that is cut off itself is gone on with.
func TestALookupThatIsCutOffIsGoneOnWith(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, true)
	for n := 2; n <= 4; n++ {
		p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, n) })
		_, _ = m.drive(p, pay)
	}
	res, err := m.drive(m.start(nil), pay)
	if err != nil || string(res.Output) != `"done pay 1"` || m.world.count("pay 1") != 1 {
		t.Errorf("%s, %v, %v", res.Output, err, m.world.effects)
	}
	if slices.Contains(m.log(), "intent s/1/2") {
		t.Errorf("log %v", m.log())
	}
}

func TestReconcileSettlesWithoutGoingOn(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, true)
	p := m.start(nil)
	found, err := p.Reconcile(t.Context(), "r")
	if err != nil || len(found) != 1 || !found[0].Settled || !found[0].Happened || found[0].Step != "s/1" {
		t.Fatalf("found %+v, %v", found, err)
	}
	if p.invoker.entered["pay"] != 0 || m.status() != journal.Interrupted {
		t.Errorf("entered %v, status %s", p.invoker.entered, m.status())
	}
	if found, err := p.Reconcile(t.Context(), "r"); err != nil || len(found) != 0 {
		t.Errorf("once more: %+v, %v", found, err)
	}
	if _, err := m.drive(p, pay); err != nil || m.world.count("pay 1") != 1 {
		t.Error(err)
	}
}

func TestReconcileSettlesWhatAClosedRunLeft(t *testing.T) {
	for _, happened := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := looking(t, nil)
			m.cutOff(t, happened)
			p := m.start(nil)
			if err := p.Cancel(t.Context(), "r", "somebody", ""); err != nil {
				t.Fatal(err)
			}
			_, _ = m.drive(p, pay)
			if m.status() != journal.CancelledUp {
				t.Fatalf("status %s", m.status())
			}
			time.Sleep(time.Hour)
			found, err := p.Reconcile(t.Context(), "r")
			if err != nil || len(found) != 1 || !found[0].Settled || found[0].Happened != happened {
				t.Fatalf("found %+v, %v", found, err)
			}
			log := m.log()
			if log[len(log)-1] != "late s/1" || m.status() != journal.CancelledUp {
				t.Errorf("log %v, status %s", log, m.status())
			}
			if found, err := p.Reconcile(t.Context(), "r"); err != nil || len(found) != 0 {
				t.Errorf("once more: %+v, %v", found, err)
			}
		})
	}
}

func TestWorkAsksLookups(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, true)
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: pay}}
	})
	if got := work(t, p); len(got) != 1 || m.status() != journal.Done {
		t.Errorf("drove %v, status %s", got, m.status())
	}
}

// With another key a first request that comes late after all is another charge to the provider: a person has to want it.
func TestANewKeyIsForWhatDidNotHappen(t *testing.T) {
	m := newMachine(t, map[string]tool{"pay": func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"` }})
	m.world.drop = 1
	h := m.mem.Handle()
	m.world.during = func(string) { m.world.effects["a"]--; m.world.during = nil }
	if _, err := m.drive(m.start(func(journaltest.Store) journaltest.Store { return h }), steps("pay")); err == nil {
		t.Fatal("want uncertain")
	}
	p := m.start(func(journaltest.Store) journaltest.Store { return h })
	if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Now: true, NewKey: true, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, steps("pay")); err != nil {
		t.Fatal(err)
	}
	if keys := m.world.keys["a"]; len(keys) != 2 || keys[0] == keys[1] || keys[1] == "" {
		t.Errorf("the attempts had the keys %v", keys)
	}
}

// An interruption does not wait for an effect for ever: it is given up, and what is known of it is written down.
func TestAnInterruptionGivesAnEffectUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pay": func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"` }})
		p := m.process(m.mem.Handle(), sending(func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
			if err := c.BeforeSend(); err != nil {
				return nil, err
			}
			<-ctx.Done()
			c.Sent(7)
			e := toolabi.NewError(toolabi.Unavailable, "the call was given up")
			e.Effect = toolabi.EffectUnknown
			return nil, e
		}))
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute/2, func() { cancel(errors.New("stop")) })
		began := time.Now()
		_, err := p.Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("pay")}})
		var u *runtime.UncertainError
		if !errors.As(err, &u) || u.Evidence == nil || u.Evidence.Sent != 7 {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(began); took != time.Minute/2+750*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

// What an operator denies is not looked up either.
func TestAPolicyCanDenyALookup(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, true)
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Policy = func(_ context.Context, can runtime.Candidate) runtime.Decision {
			if can.Tool == "read_pay" {
				return runtime.Decision{Verdict: runtime.Deny, Reason: "not at night"}
			}
			return runtime.Decision{}
		}
	})
	_, err := m.drive(p, pay)
	var u *runtime.UncertainError
	if !errors.As(err, &u) || !strings.Contains(u.Why, "not at night") || p.invoker.entered["read_pay"] != 0 {
		t.Errorf("ended with %v", err)
	}
}

// A look-up that calls tools is bounded in depth like any other call, and what is too deep is a value.
func TestALookupsOwnCallsAreBounded(t *testing.T) {
	deep := 0
	m := looking(t, nil)
	pay := m.tools["pay"]
	for i := range 6 { // six calls around the effect
		next := fmt.Sprintf("m.t%d", i+1)
		if i == 5 {
			next = "m.pay"
		}
		m.tools[fmt.Sprintf("t%d", i)] = func(g *guest, _ string) string { return g.mustCall(next, `1`) }
	}
	for i := range 8 {
		next := fmt.Sprintf("m.read_%d", i+1)
		m.tools[fmt.Sprintf("read_%d", i)] = func(g *guest, _ string) string {
			deep = max(deep, i)
			if _, err := g.calls(next, `1`); err != nil && !errors.Is(err, toolabi.TooLarge) && !errors.Is(err, toolabi.NotFound) {
				panic(err)
			}
			return `1`
		}
	}
	m.tools["pay"] = pay
	m.tools["read_pay"] = func(g *guest, _ string) string {
		if _, err := g.calls("m.read_0", `1`); err != nil && !errors.Is(err, toolabi.TooLarge) {
			panic(err)
		}
		return `{"verdict":"unknown"}`
	}
	m.world.drop = 1
	_, err := m.drive(m.start(nil), steps("t0"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Step != "s1/1/1/1/1/1/1/1" {
		t.Errorf("ended with %v, %d deep", err, deep)
	}
}

// A run that is cancelled while it comes to wait is closed by the process that drives it.
func TestARunThatIsCancelledDoesNotGoOnWaiting(t *testing.T) {
	m := newMachine(t, map[string]tool{"nap": napping(t, time.Hour)})
	other := m.start(nil)
	m.world.during = func(string) {
		if err := other.Cancel(t.Context(), "r", "somebody", ""); err != nil {
			t.Error(err)
		}
	}
	_, err := m.drive(m.start(nil), steps("nap"))
	var f *runtime.FailedError
	if !errors.As(err, &f) || f.Outcome != journal.Cancelled || m.status() != journal.CancelledUp {
		t.Errorf("ended with %v, status %s", err, m.status())
	}
}

// A key that is no longer remembered makes an effect one that must not be repeated, and that is what look-ups are for.
func TestALookupIsAskedAboutAnEffectWhoseKeyHasExpired(t *testing.T) {
	for _, happened := range []bool{true, false} {
		t.Run(fmt.Sprintf("happened %v", happened), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := looking(t, nil)
				declare := m.declare
				m.declare = func(tool *toolabi.Tool) {
					if declare(tool); tool.Name == "pay" {
						tool.Idempotency, tool.KeyTTLMS = toolabi.Keyed, 3_600_000
					}
				}
				m.cutOff(t, happened)
				time.Sleep(2 * time.Hour) // of the bubble's time
				res, err := m.drive(m.start(nil), pay)
				var w *runtime.WaitingError
				if errors.As(err, &w) != !happened {
					t.Fatalf("ended with %v", err)
				}
				if !happened { // the last request may have left until now
					time.Sleep(time.Until(w.Due))
					res, err = m.drive(m.start(nil), pay)
				}
				if err != nil || string(res.Output) != `"done pay 1"` || m.world.count("pay 1") != 1 {
					t.Errorf("%s, %v, %v, log %v", res.Output, err, m.world.effects, m.log())
				}
			})
		})
	}
}

// Neither the look-up nor the wait until it can be believed is time of the call.
func TestALookupDoesNotUseUpTheTimeOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		m := looking(t, func(toolabi.LookupInput) string {
			looks++
			time.Sleep(300 * time.Millisecond) // of the bubble's time
			if looks == 1 {
				return `{"verdict":"did_not_happen"}`
			}
			return `{"verdict":"happened","reply":"found"}`
		})
		m.declare = func(tool *toolabi.Tool) {
			if tool.Name == "pay" {
				tool.Lookup, tool.SettleMS, tool.TimeoutMS = "read_pay", 100, 1000
			}
		}
		p := m.process(m.mem.Handle(), func(c *runtime.Config) {
			c.Funcs[0].Timeout = func([]byte) time.Duration { return 700 * time.Millisecond }
			c.Funcs[0].Call = func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
				if err := c.BeforeSend(); err != nil {
					return nil, err
				}
				time.Sleep(700 * time.Millisecond)
				e := toolabi.NewError(toolabi.Unavailable, "the connection was closed before a reply came")
				e.Effect = toolabi.EffectUnknown
				return nil, e
			}
		})
		if res, err := m.drive(p, pay); err != nil || string(res.Output) != `"found"` || looks != 2 {
			t.Errorf("%s, %v after %d look-ups, log %v", res.Output, err, looks, m.log())
		}
	})
}
