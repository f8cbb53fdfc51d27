package runtime_test

import (
	"context"
	"errors"
	"fmt"
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

// unavailable fails so many sends before their first byte.
func unavailable(m *machine, times int) func(*runtime.Config) {
	return sending(func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
		if times > 0 {
			times--
			e := toolabi.NewError(toolabi.Unavailable, "nothing was sent")
			e.Retry = toolabi.RetrySafe
			return nil, e
		}
		return m.world.send(ctx, c, req)
	})
}

// passing is a tool that passes on what a send failed with.
func passing(requests ...string) tool {
	return func(g *guest, _ string) string {
		for _, r := range requests {
			if _, err := g.ask(toolabi.FuncHTTPSend, r); err != nil {
				panic(err)
			}
		}
		return `"sent"`
	}
}

// failing makes the errors of tools outcomes as they are.
func failing(i *goInvoker) runtime.Invoker { return passOn{i} }

type passOn struct{ *goInvoker }

func (p passOn) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (out toolabi.Outcome, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case unwound:
			out, err = toolabi.Outcome{}, e.err
		case *toolabi.Error:
			out = toolabi.Outcome{Err: e}
		default:
			panic(e)
		}
	}()
	p.mu.Lock()
	p.entered[inv.Tool]++
	p.mu.Unlock()
	return toolabi.Outcome{Output: []byte(p.tools[inv.Tool](&guest{ctx, host, inv}, string(inv.Input)))}, nil
}

func (m *machine) passing(change func(*runtime.Config)) *process {
	var inv *goInvoker
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		inv = c.Invoker.(*goInvoker)
		c.Invoker = failing(inv)
		if change != nil {
			change(c)
		}
	})
	p.invoker = inv
	return p
}

func retrying(attempts uint32, backoff time.Duration) func(*toolabi.Tool) {
	return func(t *toolabi.Tool) {
		t.Retry = toolabi.RetryPolicy{Attempts: attempts, BackoffMS: uint64(backoff.Milliseconds()), MaxBackoffMS: 3_600_000}
	}
}

func TestACallIsTriedAgainAsItsPolicySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pay": passing("a")})
		m.declare = retrying(3, 2*time.Second)
		began := time.Now()
		p := m.passing(unavailable(m, 2))
		res, err := m.drive(p, steps("pay"))
		if err != nil || string(res.Output) != `["sent"]` || m.world.count("a") != 1 || p.invoker.entered["pay"] != 3 {
			t.Fatalf("%s, %v, %v, entered %v", res.Output, err, m.world.effects, p.invoker.entered)
		}
		// Two pauses, of 2 s and 4 s, each between half and all of it.
		if took := time.Since(began); took < 3*time.Second || took > 6*time.Second {
			t.Errorf("the pauses took %s", took)
		}
		want := []string{
			"created", "claimed", "intent s1", "intent s1/1", "result s1/1", "result s1",
			"intent s1~2", "intent s1~2/1", "result s1~2/1", "result s1~2", "intent s1~3", "intent s1~3/1", "result s1~3/1", "result s1~3", "finished",
		}
		if got := m.log(); !slices.Equal(got, want) {
			t.Errorf("log %v, want %v", got, want)
		}
		in := m.intents()
		if a, b := in["s1"], in["s1~3"]; a.Started != b.Started || a.Seed != b.Seed {
			t.Error("an attempt does not inherit seed and start")
		}
		if a, b := in["s1/1"], in["s1~3/1"]; a.Key != b.Key || a.Key == "" {
			t.Errorf("the keys are %q and %q", a.Key, b.Key)
		}
	})
}

func TestTheLastAttemptsFailureIsTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pay": passing("a")})
		m.declare = retrying(2, time.Second)
		p := m.passing(unavailable(m, 9))
		if _, err := m.drive(p, steps("pay")); !errors.Is(err, toolabi.Unavailable) || p.invoker.entered["pay"] != 2 {
			t.Errorf("%v, entered %v", err, p.invoker.entered)
		}
	})
}

// No policy lets a call be done again in which an effect took place that must not be repeated.
func TestNoPolicyRepeatsAnEffect(t *testing.T) {
	for _, name := range []string{"pay", "idem_pay"} {
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(t, map[string]tool{name: func(g *guest, _ string) string {
				g.must(toolabi.FuncHTTPSend, "a")
				e := toolabi.NewError(toolabi.Failed, "afterwards")
				e.Retry = toolabi.RetrySafe
				panic(e)
			}})
			m.declare = retrying(3, time.Second)
			p := m.passing(nil)
			driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				return r.Invoke(ctx, runtime.CallSpec{Step: "s", Tool: "m." + name, Input: []byte(`{}`), Retry: toolabi.RetryPolicy{Attempts: 5}})
			}
			_, err := m.drive(p, driver)
			want := 1
			if name == "idem_pay" {
				want = 5 // it says that it may be done again, under the same key
			}
			if !errors.Is(err, toolabi.Failed) || m.world.count("a") != want {
				t.Errorf("%s: %v, the effect took place %d times, want %d", name, err, m.world.count("a"), want)
			}
			for _, k := range m.world.keys["a"] {
				if k != m.world.keys["a"][0] {
					t.Errorf("%s: the keys are %v", name, m.world.keys["a"])
				}
			}
		})
	}
}

// What a tool says must not be tried again is not, by its own policy; a driver's policy is about whatever fails.
func TestWhatMayBeTriedAgain(t *testing.T) {
	fails := func(e toolabi.Error) tool { return func(*guest, string) string { panic(&e) } }
	for _, c := range []struct {
		err          toolabi.Error
		tool, driver int
	}{
		{toolabi.Error{Code: toolabi.Failed, Retry: toolabi.RetryNever}, 1, 3},
		{toolabi.Error{Code: toolabi.Failed, Retry: toolabi.RetrySafe}, 3, 3},
		{toolabi.Error{Code: toolabi.Failed, Retry: toolabi.RetryAfter, RetryAfterMS: 1000}, 3, 3},
		{toolabi.Error{Code: toolabi.Failed, Retry: toolabi.RetryAfter, RetryAfterMS: 1 << 40}, 1, 1}, // nobody waits for decades
		{toolabi.Error{Code: toolabi.Denied, Retry: toolabi.RetryNever}, 1, 1},
		{toolabi.Error{Code: toolabi.Trapped, Retry: toolabi.RetryNever}, 1, 3},
		{toolabi.Error{Code: toolabi.Protocol, Retry: toolabi.RetryNever}, 1, 1},
	} {
		for _, own := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t, map[string]tool{"fails": fails(c.err)})
				policy, want := toolabi.RetryPolicy{Attempts: 3}, c.driver
				if own {
					m.declare, policy, want = retrying(3, 0), toolabi.RetryPolicy{}, c.tool
				}
				p := m.passing(nil)
				_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
					return r.Invoke(ctx, runtime.CallSpec{Step: "s", Tool: "m.fails", Input: []byte(`{}`), Retry: policy})
				})
				if !errors.Is(err, c.err.Code) || p.invoker.entered["fails"] != want {
					t.Errorf("%+v, the tool's own policy %v: %v, entered %d times, want %d", c.err, own, err, p.invoker.entered["fails"], want)
				}
			})
		}
	}
}

// A long pause suspends the run; a resume before its end goes on waiting.
func TestALongPauseSuspendsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pay": passing("a")})
		m.declare = retrying(2, time.Hour)
		change := unavailable(m, 1)
		_, err := m.drive(m.passing(change), steps("pay"))
		var w *runtime.WaitingError
		if !errors.As(err, &w) || time.Until(w.Due) < time.Minute*30 || time.Until(w.Due) > time.Hour || m.status() != journal.Waiting {
			t.Fatalf("ended with %v, status %s", err, m.status())
		}
		due := w.Due
		if _, err := m.drive(m.passing(nil), steps("pay")); !errors.As(err, &w) || !w.Due.Equal(due) {
			t.Fatalf("resumed before its time: %v", err)
		}
		time.Sleep(time.Until(due))
		if _, err := m.drive(m.passing(nil), steps("pay")); err != nil || m.world.count("a") != 1 {
			t.Errorf("%v, %v", err, m.world.effects)
		}
	})
}

// Killed at any append, a call that is tried again has the effects of one.
func TestNoCrashPointOfARetryRepeatsAnything(t *testing.T) {
	drive := func(t *testing.T, wrap func(journaltest.Store) journaltest.Store) (*machine, int) {
		m := newMachine(t, map[string]tool{"pay": passing("a", "b")})
		m.declare = retrying(3, time.Second)
		fails := 1
		change := func(c *runtime.Config) {
			sending(func(ctx context.Context, call hostfuncs.Call, req []byte) ([]byte, error) {
				if string(req) == "a" && fails > 0 {
					fails--
					e := toolabi.NewError(toolabi.Unavailable, "nothing was sent")
					e.Retry = toolabi.RetrySafe
					return nil, e
				}
				return m.world.send(ctx, call, req)
			})(c)
		}
		start := func(wrap func(journaltest.Store) journaltest.Store) (*process, journaltest.Store) {
			var store journaltest.Store = m.mem.Handle()
			if wrap != nil {
				store = wrap(store)
			}
			return m.process(store, func(c *runtime.Config) { c.Invoker = failing(c.Invoker.(*goInvoker)); change(c) }), store
		}
		p, store := start(wrap)
		_, err := m.drive(p, steps("pay"))
		for range 10 {
			var u *runtime.UncertainError
			if err == nil {
				break
			}
			if errors.As(err, &u) {
				n := m.world.count(string(u.Intent.Body))
				if err := p.Resolve(t.Context(), "r", u.Step, runtime.Resolution{Happened: n > 0, Reply: []byte("x"), Now: true}); err != nil {
					t.Fatal(err)
				}
			} else if !errors.Is(err, journal.ErrUnusable) {
				t.Fatal(err)
			}
			p, _ = start(nil)
			_, err = m.drive(p, steps("pay"))
		}
		if err != nil || m.world.count("a") != 1 || m.world.count("b") != 1 {
			t.Errorf("%v, %v", err, m.world.effects)
		}
		if c, ok := store.(*journaltest.Crasher); ok {
			return m, c.Appends()
		}
		return m, 0
	}
	appends := 0
	synctest.Test(t, func(t *testing.T) {
		_, appends = drive(t, func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 0) })
	})
	if appends < 6 {
		t.Fatalf("%d appends", appends)
	}
	for n := 1; n <= appends; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d of %d, after %v", n, appends, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					drive(t, func(j journaltest.Store) journaltest.Store {
						if after {
							return journaltest.CrashAfter(j, n)
						}
						return journaltest.CrashBefore(j, n)
					})
				})
			})
		}
	}
}

// The pause between two attempts can be longer than the time for which a key is remembered. Where the first one is known
// to have sent nothing, the second does, as what must not be repeated any more; where it is not known, nothing is sent.
func TestAnAttemptAfterItsKeyHasExpired(t *testing.T) {
	for name, c := range map[string]struct {
		effect toolabi.EffectState
		sent   int
	}{"nothing was sent": {toolabi.EffectNone, 1}, "nobody knows": {toolabi.EffectUnknown, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t, map[string]tool{"keyed": passing("a")})
				m.declare = func(tool *toolabi.Tool) {
					tool.KeyTTLMS = uint64(time.Minute.Milliseconds())
					retrying(2, time.Hour)(tool)
				}
				failed := false
				send := sending(func(ctx context.Context, c2 hostfuncs.Call, req []byte) ([]byte, error) {
					if !failed {
						failed = true
						e := toolabi.NewError(toolabi.Unavailable, "not now")
						e.Retry, e.Effect = toolabi.RetrySafe, c.effect
						return nil, e
					}
					return m.world.send(ctx, c2, req)
				})
				var w *runtime.WaitingError
				if _, err := m.drive(m.passing(send), steps("keyed")); !errors.As(err, &w) {
					t.Fatalf("ended with %v", err)
				}
				time.Sleep(2 * time.Hour) // of the bubble's time
				_, err := m.drive(m.passing(send), steps("keyed"))
				if m.world.count("a") != c.sent || (err == nil) != (c.sent == 1) || c.sent == 0 && !errors.Is(err, toolabi.Expired) {
					t.Errorf("ended with %v, sent %d times", err, m.world.count("a"))
				}
				if in, ok := m.intents()["s1~2/1"]; c.sent == 1 && (!ok || in.OnCut != journal.Doubt || in.Key != m.intents()["s1/1"].Key) {
					t.Errorf("the second attempt is announced as %+v", in)
				}
			})
		})
	}
}
