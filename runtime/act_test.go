package runtime_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// model answers as it is told, and notes the keys that it was asked under.
type model struct {
	mu      sync.Mutex
	answers []answer // what it says, one after the other; the last one for ever
	keys    []string
}

// answer is what comes of one attempt.
type answer struct {
	err    *toolabi.Error
	unsent bool // it fails before anything leaves
	during func(ctx context.Context, a runtime.Attempt)
}

func (m *model) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.keys)
}

func (m *model) do(ctx context.Context, a runtime.Attempt) ([]byte, error) {
	m.mu.Lock()
	says := m.answers[min(len(m.keys), len(m.answers)-1)]
	m.keys = append(m.keys, a.Key)
	m.mu.Unlock()
	if says.unsent {
		return nil, says.err
	}
	if err := a.BeforeSend(); err != nil {
		return nil, err
	}
	if says.during != nil {
		says.during(ctx, a)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if says.err != nil {
		return nil, says.err
	}
	return []byte(`"answer"`), nil
}

// asking is a driver that asks the model, and then calls a tool for every name.
func asking(m *model, act runtime.Act, then ...string) runtime.Driver {
	act.Name, act.Do = "ask", m.do
	if act.Request == nil {
		act.Request = []byte("question")
	}
	if act.Class == 0 {
		act.Class = toolabi.Effect
	}
	return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		out, err := r.Do(ctx, "model[0]", act)
		if err != nil {
			return nil, err
		}
		if _, err := steps(then...)(ctx, r); err != nil {
			return nil, err
		}
		return out, nil
	}
}

func busyModel(retry toolabi.Retry, after time.Duration) *toolabi.Error {
	e := toolabi.NewError(toolabi.Unavailable, "the model is overloaded")
	e.Retry, e.RetryAfterMS = retry, uint64(after.Milliseconds())
	return e
}

var patient = toolabi.RetryPolicy{Attempts: 3, BackoffMS: 1000}

// What failed in a way that permits it is tried again under the same key, also where nobody knows whether it took place.
func TestAnActIsTriedAgainUnderItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, asked := newMachine(t, nil), &model{answers: []answer{
			{err: busyModel(toolabi.RetrySafe, 0)}, {err: busyModel(toolabi.RetryAfter, 7*time.Second), unsent: true}, {},
		}}
		began := time.Now()
		res, err := m.drive(m.start(nil), asking(asked, runtime.Act{Retry: patient}))
		if err != nil || string(res.Output) != `"answer"` {
			t.Fatalf("%s, %v", res.Output, err)
		}
		// A pause between half and all of 1 s, and one of the 7 s that were asked for.
		if took := time.Since(began); took < 7500*time.Millisecond || took > 8*time.Second {
			t.Errorf("the pauses took %s", took)
		}
		want := []string{
			"created", "claimed", "intent model[0]", "result model[0]", "intent model[0]~2", "result model[0]~2",
			"intent model[0]~3", "result model[0]~3", "finished",
		}
		if got := m.log(); !slices.Equal(got, want) {
			t.Errorf("log %v, want %v", got, want)
		}
		if k := asked.keys; len(k) != 3 || k[0] == "" || k[0] != k[1] || k[1] != k[2] {
			t.Errorf("asked under the keys %q", k)
		}
	})
}

// The last attempt alone does not say what became of the step.
func TestAnActThatMayHaveHappenedOnceIsUnknownInTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  answer
		effect toolabi.EffectState
	}{
		{"sent before", answer{err: busyModel(toolabi.RetrySafe, 0)}, toolabi.EffectUnknown},
		{"never sent", answer{err: busyModel(toolabi.RetrySafe, 0), unsent: true}, toolabi.EffectNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t, nil)
				unsent := answer{err: busyModel(toolabi.RetrySafe, 0), unsent: true}
				asked := &model{answers: []answer{tt.first, unsent, unsent}}
				_, err := m.drive(m.start(nil), asking(asked, runtime.Act{Retry: patient}))
				var failed *toolabi.Error
				if !errors.As(err, &failed) || max(failed.Effect, toolabi.EffectNone) != tt.effect || asked.asked() != 3 {
					t.Errorf("ended with %+v after %d attempts, want effect %d", failed, asked.asked(), tt.effect)
				}
			})
		})
	}
}

// Whoever knows exactly what became of each attempt is believed, attempt by attempt; the error of the step is about all of them.
func TestAnExactActSaysWhatIsKnownOfEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := busyModel(toolabi.RetrySafe, 0)
		lost.Effect = toolabi.EffectUnknown
		refused := answer{err: busyModel(toolabi.RetrySafe, 0)}
		for _, tt := range []struct {
			answers []answer
			want    []journal.Effect
			effect  toolabi.EffectState
		}{
			{[]answer{refused, refused, refused}, []journal.Effect{journal.EffectNone, journal.EffectNone, journal.EffectNone}, toolabi.EffectNone},
			{[]answer{refused, {err: lost}, refused}, []journal.Effect{journal.EffectNone, journal.EffectUnknown, journal.EffectNone}, toolabi.EffectUnknown},
		} {
			m := newMachine(t, nil)
			_, err := m.drive(m.start(nil), asking(&model{answers: tt.answers}, runtime.Act{Retry: patient, Exact: true}))
			var failed *toolabi.Error
			if !errors.As(err, &failed) || max(failed.Effect, toolabi.EffectNone) != tt.effect {
				t.Errorf("ended with %+v, want effect %d", failed, tt.effect)
			}
			var got []journal.Effect
			for e, err := range m.mem.Read(t.Context(), "r", 0) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == journal.Result {
					got = append(got, e.Effect)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("the attempts have the effects %d, want %d", got, tt.want)
			}
		}
	})
}

// A pause that is long suspends the run, and whoever drives it afterwards makes the next attempt.
func TestALongPauseOfAnActSuspendsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, asked := newMachine(t, nil), &model{answers: []answer{{err: busyModel(toolabi.RetryAfter, time.Hour)}, {}}}
		driver := asking(asked, runtime.Act{Retry: patient})
		var w *runtime.WaitingError
		if _, err := m.drive(m.start(nil), driver); !errors.As(err, &w) || time.Until(w.Due) != time.Hour || m.status() != journal.Waiting {
			t.Fatalf("ended with %v, status %s", err, m.status())
		}
		if _, err := m.drive(m.start(nil), driver); !errors.As(err, &w) || asked.asked() != 1 {
			t.Fatalf("too early: %v, asked %d times", err, asked.asked())
		}
		time.Sleep(time.Hour)
		res, err := m.drive(m.start(nil), driver)
		if err != nil || string(res.Output) != `"answer"` || asked.asked() != 2 || asked.keys[0] != asked.keys[1] {
			t.Errorf("%s, %v, asked under %q", res.Output, err, asked.keys)
		}
	})
}

// What must not be repeated is tried again only when nothing happened.
func TestAnActThatMustNotBeRepeatedIsTriedAgainOnlyIfNothingHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := runtime.Act{Class: toolabi.Once, Retry: patient}
		m, asked := newMachine(t, nil), &model{answers: []answer{{err: busyModel(toolabi.RetrySafe, 0), unsent: true}, {}}}
		if _, err := m.drive(m.start(nil), asking(asked, once)); err != nil || asked.asked() != 2 {
			t.Errorf("nothing happened: %v, asked %d times", err, asked.asked())
		}
		m, asked = newMachine(t, nil), &model{answers: []answer{{err: busyModel(toolabi.RetrySafe, 0)}, {}}}
		var u *runtime.UncertainError
		if _, err := m.drive(m.start(nil), asking(asked, once)); !errors.As(err, &u) || asked.asked() != 1 {
			t.Errorf("it may have happened: %v, asked %d times", err, asked.asked())
		}
		applied := busyModel(toolabi.RetrySafe, 0)
		applied.Effect = toolabi.EffectApplied
		m, asked = newMachine(t, nil), &model{answers: []answer{{err: applied}, {}}}
		if _, err := m.drive(m.start(nil), asking(asked, once)); !errors.Is(err, toolabi.Unavailable) || asked.asked() != 1 {
			t.Errorf("it happened: %v, asked %d times", err, asked.asked())
		}
	})
}

// A long request is not in the log, and identifies the step all the same. What it is for is there, and is said to people.
func TestABulkyActKeepsTheDigestOfItsRequest(t *testing.T) {
	m, asked := newMachine(t, nil), &model{answers: []answer{{during: func(_ context.Context, a runtime.Attempt) { a.Progress("half of it") }}}}
	var seen []runtime.Event
	observing := func(c *runtime.Config) { c.Observe = func(e runtime.Event) { seen = append(seen, e) } }
	act := runtime.Act{Bulky: true, Note: "to decide what is next", Request: []byte("a long question")}
	h := m.mem.Handle()
	driver := asking(asked, act)
	_, err := m.drive(m.process(h, observing), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := driver(ctx, r); err != nil {
			return nil, err
		}
		h.Kill()
		return nil, nil
	})
	if err == nil {
		t.Fatal("the kill went by unseen")
	}
	in := m.intents()["model[0]"]
	if len(in.Body) != 0 || !in.Blob.IsZero() || in.Request.IsZero() || in.Note != act.Note {
		t.Errorf("the intent is %+v", in)
	}
	told := func(p runtime.Phase, text string) bool {
		return slices.ContainsFunc(seen, func(e runtime.Event) bool { return e.Step == "model[0]" && e.Phase == p && e.Text == text })
	}
	if !told(runtime.Begun, act.Note) || !told(runtime.Progressed, "half of it") || !told(runtime.Ended, act.Note) {
		t.Errorf("observed %+v", seen)
	}
	for _, e := range seen {
		if size := int64(len(`"answer"`)); e.Time.IsZero() || e.Phase == runtime.Ended && e.Size != size || e.Phase == runtime.Begun && e.Size != 0 {
			t.Errorf("observed %+v, want a time, and %d bytes in the end", e, size)
		}
	}
	act.Request = []byte("another long question")
	var diverged *runtime.DivergedError
	if _, err := m.drive(m.start(nil), asking(asked, act)); !errors.As(err, &diverged) {
		t.Errorf("another request: %v", err)
	}
	if res, err := m.drive(m.start(nil), driver); err != nil || string(res.Output) != `"answer"` || asked.asked() != 1 {
		t.Errorf("%s, %v, asked %d times", res.Output, err, asked.asked())
	}
}

// A reply that costs money is waited for when the process has to end, but not for ever.
func TestAnActInFlightIsWaitedForWhenDrivingEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes time.Duration
		again int // how often the model is asked in all
	}{{"shorter than the grace", time.Second, 1}, {"longer than the grace", time.Hour, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				m := newMachine(t, map[string]tool{"x": one("a")})
				slow := func(ctx context.Context, _ runtime.Attempt) {
					stop()
					select {
					case <-time.After(tt.takes):
					case <-ctx.Done():
					}
				}
				asked := &model{answers: []answer{{during: slow}, {}}}
				p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Grace = 5 * time.Second })
				spec, modules := m.spec(`{}`)
				if _, err := p.Start(ctx, "r", spec, modules, true); err != nil {
					t.Fatal(err)
				}
				driver := asking(asked, runtime.Act{Retry: patient}, "x")
				opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}}
				if _, err := p.Drive(ctx, "r", opts); !errors.Is(err, runtime.ErrInterrupted) || m.world.total() != 0 {
					t.Fatalf("ended with %v after %d effects", err, m.world.total())
				}
				if m.status() != journal.Interrupted {
					t.Errorf("the status is %s", m.status())
				}
				if _, err := p.Drive(t.Context(), "r", opts); err != nil || asked.asked() != tt.again || m.world.total() != 1 {
					t.Errorf("%v, asked %d times, %d effects", err, asked.asked(), m.world.total())
				}
				if k := asked.keys; k[0] != k[len(k)-1] {
					t.Errorf("asked under the keys %q", k)
				}
			})
		})
	}
}

// Attempts are one effect to whoever forks the run, and the one that was cut off is the one that is settled.
func TestAttemptsOfAnActAreOneEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"x": one("a")})
		h := m.mem.Handle()
		cut := func(context.Context, runtime.Attempt) { h.Kill() }
		asked := &model{answers: []answer{{err: busyModel(toolabi.RetrySafe, 0)}, {during: cut}, {}}}
		driver := asking(asked, runtime.Act{Retry: patient}, "x")
		if _, err := m.drive(m.process(h, nil), driver); err == nil {
			t.Fatal("the kill went by unseen")
		}
		p := m.start(nil)
		plan, err := p.PlanFork(t.Context(), "r", "model[0]")
		if err != nil || len(plan.Again) != 1 || plan.Again[0].Known {
			t.Errorf("the plan is %+v, %v", plan, err)
		}
		say := runtime.Resolution{Happened: true, Reply: []byte(`"found"`), By: "ann"}
		if err := p.Resolve(t.Context(), "r", "model[0]", say); err != nil {
			t.Fatal(err)
		}
		res, err := m.drive(p, driver)
		if err != nil || string(res.Output) != `"found"` || asked.asked() != 2 {
			t.Fatalf("%s, %v, asked %d times", res.Output, err, asked.asked())
		}
		plan, err = p.PlanFork(t.Context(), "r", "model[0]")
		if err != nil || len(plan.Again) != 2 || !plan.Again[0].Known || plan.Again[0].Step != "model[0]~2" {
			t.Errorf("the plan is %+v, %v", plan, err)
		}
		if _, err := p.Fork(t.Context(), "r", "s1", "r2", "ann", ""); err != nil {
			t.Fatal(err)
		}
		if res, err := driveFork(t, p, "r2", driver); err != nil || string(res.Output) != `"found"` || asked.asked() != 2 {
			t.Errorf("the fork: %s, %v, asked %d times", res.Output, err, asked.asked())
		}
	})
}

// askedAgain is a run whose model's first reply is lost.
func askedAgain() shape {
	var w *world
	return shape{
		name: "a model that is asked again", tools: map[string]tool{"x": one("a")},
		prepare: func(m *machine) { w, m.world.drop, m.world.dropOnly = m.world, 1, "k" },
		driver: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			out, err := r.Do(ctx, "model[0]", runtime.Act{
				Name: "ask", Class: toolabi.Effect, Request: []byte("question"), Bulky: true, Retry: toolabi.RetryPolicy{Attempts: 3},
				Do: func(ctx context.Context, a runtime.Attempt) ([]byte, error) {
					reply, err := w.send(ctx, hostfuncs.Call{BeforeSend: a.BeforeSend, Key: a.Key, Sent: func(int64) {}}, []byte("k"))
					var lost *toolabi.Error
					if errors.As(err, &lost) {
						lost.Retry = toolabi.RetrySafe
					}
					return reply, err
				},
			})
			if err != nil {
				return nil, err
			}
			if _, err := steps("x")(ctx, r); err != nil {
				return nil, err
			}
			return out, nil
		},
		effects: map[string]int{"k": 1, "a": 1}, output: "done k",
	}
}
