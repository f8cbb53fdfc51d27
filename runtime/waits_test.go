package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := toolabi.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// napping is a tool that sends, sleeps and sends again.
func napping(t *testing.T, d time.Duration) tool {
	req := encoded(t, toolabi.SleepRequest{MS: uint64(d.Milliseconds())})
	return func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "before")
		g.must(toolabi.FuncSleep, req)
		g.must(toolabi.FuncHTTPSend, "after")
		return `"rested"`
	}
}

func TestASleepSuspendsTheRunUntilItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"nap": napping(t, time.Hour)})
		_, err := m.drive(m.start(nil), steps("nap"))
		var w *runtime.WaitingError
		if !errors.As(err, &w) || w.Step != "s1/2" || !w.Due.Equal(time.Now().Add(time.Hour)) {
			t.Fatalf("ended with %v", err)
		}
		want := []string{"created", "claimed", "intent s1", "intent s1/1", "result s1/1", "intent s1/2", "released"}
		if got := m.log(); !slices.Equal(got, want) || m.status() != journal.Waiting {
			t.Errorf("log %v, status %s", got, m.status())
		}
		p := m.start(nil)
		if worked := work(t, p); len(worked) != 0 {
			t.Errorf("driven before it was due: %v", worked)
		}
		time.Sleep(time.Hour - time.Second) // the bubble's clock
		if _, err := m.drive(p, steps("nap")); err != nil {
			t.Errorf("a second before it is due, which is waited for: %v", err)
		}
		if m.world.count("before") != 1 || m.world.count("after") != 1 {
			t.Errorf("effects %v", m.world.effects)
		}
	})
}

// work lets a process do what can be done by itself, and returns the runs that it drove.
func work(t *testing.T, p *process) (runs []string) {
	t.Helper()
	if err := p.Work(t.Context(), func(run string, _ runtime.Result, _ error) bool {
		runs = append(runs, run)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestWhatIsDueIsDrivenByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"nap": napping(t, time.Hour)})
		drivers := func(c *runtime.Config) {
			c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: steps("nap")}}
		}
		if _, err := m.drive(m.process(m.mem.Handle(), drivers), steps("nap")); err == nil {
			t.Fatal("it did not wait")
		}
		p := m.process(m.mem.Handle(), drivers)
		if got := work(t, p); len(got) != 0 {
			t.Errorf("drove %v before anything was due", got)
		}
		time.Sleep(time.Hour)
		if err := p.Await(t.Context(), "r"); err != nil {
			t.Error(err)
		}
		if got := work(t, p); !slices.Equal(got, []string{"r"}) || m.status() != journal.Done {
			t.Errorf("drove %v, status %s", got, m.status())
		}
	})
}

func TestAShortSleepIsWaitedForAndIsNotTheCallsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"nap": napping(t, time.Second)})
		m.declare = func(tool *toolabi.Tool) { tool.TimeoutMS = 500 }
		if _, err := m.drive(m.start(nil), steps("nap")); err != nil {
			t.Error(err)
		}
	})
}

// The log knows no time before 1970, and takes 0 for none.
func TestASleepUntilBefore1970WakesAtOnce(t *testing.T) {
	for _, until := range []int64{-1, -1 << 63} {
		req := encoded(t, toolabi.SleepRequest{Until: until})
		m := newMachine(t, map[string]tool{"nap": func(g *guest, _ string) string {
			g.must(toolabi.FuncSleep, req)
			return `"rested"`
		}})
		if _, err := m.drive(m.start(nil), steps("nap")); err != nil {
			t.Errorf("until %d: %v", until, err)
		}
	}
	for _, when := range []time.Time{time.Unix(0, 0), time.Unix(-1, 0)} {
		m := newMachine(t, nil)
		if _, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			return nil, r.SleepUntil(ctx, "s", when)
		}); err != nil {
			t.Errorf("a driver until %s: %v", when.UTC(), err)
		}
	}
}

func TestBranchesThatDoNotWaitGoOn(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"nap":  napping(t, time.Hour),
		"work": func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "work") + `"` },
	})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		res := r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.nap", Input: []byte(`{}`)}})
		b, err := r.Call(ctx, "b", "m.work", []byte(`{}`))
		if err != nil {
			return nil, err
		}
		_ = res // a driver that takes no notice is suspended all the same
		return b, nil
	}
	_, err := m.drive(m.start(nil), driver)
	var w *runtime.WaitingError
	if !errors.As(err, &w) || w.Step != "a/2" {
		t.Errorf("ended with %v", err)
	}
	if m.world.count("work") != 1 {
		t.Error("the branch that had nothing to wait for did not go on")
	}
}

// agreeing is a machine whose tool "pay" wants somebody to agree to each call.
func agreeing(t *testing.T) *machine {
	m := newMachine(t, map[string]tool{"pay": func(g *guest, input string) string {
		return `"` + g.must(toolabi.FuncHTTPSend, "pay "+input) + `"`
	}})
	m.declare = func(tool *toolabi.Tool) { tool.Approval = tool.Name == "pay" }
	return m
}

func pays(inputs ...string) runtime.Driver {
	return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		specs := make([]runtime.CallSpec, len(inputs))
		for i, in := range inputs {
			specs[i] = runtime.CallSpec{Step: journal.Step([]string{"a", "b", "c"}[i]), Tool: "m.pay", Input: []byte(in)}
		}
		var outs []string
		for _, res := range r.CallAll(ctx, specs) {
			if res.Err != nil {
				return nil, res.Err
			}
			outs = append(outs, string(res.Output))
		}
		return []byte("[" + strings.Join(outs, ",") + "]"), nil
	}
}

func TestACallThatWantsApprovalIsNotEnteredBefore(t *testing.T) {
	m := agreeing(t)
	p := m.start(nil)
	_, err := m.drive(p, pays(`1`))
	var w *runtime.WaitingError
	if !errors.As(err, &w) || w.Step != "a?" || p.invoker.entered["pay"] != 0 {
		t.Fatalf("ended with %v, entered %v", err, p.invoker.entered)
	}
	if err := p.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true, By: "ann", Note: "fine"}); err != nil {
		t.Fatal(err)
	}
	res, err := m.drive(m.start(nil), pays(`1`))
	if err != nil || m.world.count("pay 1") != 1 {
		t.Errorf("%s, %v, %v", res.Output, err, m.world.effects)
	}
	want := []string{
		"created", "claimed", "intent a?", "released", "result a?", "claimed", "intent a", "intent a/1", "result a/1", "result a", "finished",
	}
	if got := m.log(); !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
}

// Each of these has one outcome, and says which.
func TestApprovalsHaveOneOutcome(t *testing.T) {
	yes := runtime.Answer{Yes: true, By: "ann"}
	no := runtime.Answer{By: "bob", Note: "too dear"}
	t.Run("answered in the other order", func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		_, err := m.drive(p, pays(`1`, `2`))
		var w *runtime.WaitingError
		if !errors.As(err, &w) || len(w.Also) != 1 {
			t.Fatalf("ended with %v", err)
		}
		if err := errors.Join(p.Answer(t.Context(), "r", "b", yes), p.Answer(t.Context(), "r", "a", no)); err != nil {
			t.Fatal(err)
		}
		_, err = m.drive(m.start(nil), pays(`1`, `2`))
		if !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "bob said no: too dear") {
			t.Errorf("ended with %v", err)
		}
		if m.world.count("pay 1") != 0 || m.world.count("pay 2") != 1 {
			t.Errorf("effects %v", m.world.effects)
		}
	})
	t.Run("with edited arguments", func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		_, _ = m.drive(p, pays(`1`))
		if err := p.Answer(t.Context(), "r", "a", yes); err != nil {
			t.Fatal(err)
		}
		var d *runtime.DivergedError
		if _, err := m.drive(m.start(nil), pays(`2`)); !errors.As(err, &d) || d.Step != "a?" {
			t.Errorf("ended with %v", err)
		}
		if m.world.total() != 0 {
			t.Error("it was executed")
		}
		if _, err := m.drive(m.start(nil), pays(`1`)); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("with the arguments that were agreed to: %v", err)
		}
	})
	t.Run("after the module has changed", func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		_, _ = m.drive(p, pays(`1`))
		if err := p.Answer(t.Context(), "r", "a", yes); err != nil {
			t.Fatal(err)
		}
		spec, _ := m.spec(`{}`)
		other := []byte("another module m")
		spec.Modules[0].Digest = toolabi.DigestOf(other)
		var taken *runtime.OtherRunError
		_, err := p.Start(t.Context(), "r", spec, map[toolabi.Digest][]byte{spec.Modules[0].Digest: other}, true)
		if !errors.As(err, &taken) || !strings.Contains(err.Error(), "module m") || m.world.total() != 0 {
			t.Errorf("with another module under the same id: %v", err)
		}
		if _, err := m.drive(p, pays(`1`)); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("with the module that was agreed to: %v, %v", err, m.world.effects)
		}
	})
	t.Run("after more was granted", func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		_, _ = m.drive(p, pays(`1`))
		if err := p.Answer(t.Context(), "r", "a", yes); err != nil {
			t.Fatal(err)
		}
		opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: pays(`1`)}}
		opts.Grants.HTTP = []string{"https://example.com"}
		var w *runtime.WaitingError
		if _, err := p.Drive(t.Context(), "r", opts); !errors.As(err, &w) || w.Step != "a?~2" || m.world.total() != 0 {
			t.Fatalf("ended with %v", err)
		}
		var shown *runtime.ShownError
		if err := p.Answer(t.Context(), "r", "a", yes); !errors.As(err, &shown) {
			t.Errorf("answered unseen: %v", err)
		}
		again := yes
		again.Shown = shown.Shown.Short()
		if err := p.Answer(t.Context(), "r", "a", again); err != nil {
			t.Error(err)
		}
		if _, err := m.drive(p, pays(`1`)); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("%v", err)
		}
	})
	t.Run("after it expired", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := agreeing(t)
			p := m.start(nil)
			spec, modules := m.spec(`{}`)
			if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
				t.Fatal(err)
			}
			opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: pays(`1`)}, ApproveBy: time.Now().Add(time.Hour)}
			if _, err := p.Drive(t.Context(), "r", opts); err == nil {
				t.Fatal("it did not wait")
			}
			time.Sleep(time.Hour + time.Second)
			if err := p.Answer(t.Context(), "r", "a", yes); !errors.Is(err, journal.ErrExpired) {
				t.Errorf("answered with %v", err)
			}
			_, err := m.drive(p, pays(`1`))
			var e *toolabi.Error
			if !errors.As(err, &e) || e.Code != toolabi.Denied || e.Detail != toolabi.DetailExpired || m.world.total() != 0 {
				t.Errorf("ended with %v", err)
			}
		})
	})
	t.Run("agreed to in time and used too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := agreeing(t)
			p := m.start(nil)
			spec, modules := m.spec(`{}`)
			if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
				t.Fatal(err)
			}
			opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: pays(`1`)}, ApproveBy: time.Now().Add(time.Hour)}
			_, _ = p.Drive(t.Context(), "r", opts)
			if err := p.Answer(t.Context(), "r", "a", yes); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour + time.Second)
			if _, err := m.drive(p, pays(`1`)); !errors.Is(err, toolabi.Denied) || m.world.total() != 0 {
				t.Errorf("ended with %v", err)
			}
		})
	})
	t.Run("twice, and by two people", func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		_, _ = m.drive(p, pays(`1`))
		errs := make(chan error, 2)
		for _, a := range []runtime.Answer{{Yes: true, By: "ann"}, {Yes: true, By: "bob"}} {
			go func() { errs <- m.start(nil).Answer(t.Context(), "r", "a", a) }()
		}
		first, second := <-errs, <-errs
		if first != nil {
			first, second = second, first
		}
		var answered *runtime.AnsweredError
		if first != nil || !errors.As(second, &answered) || !answered.Yes || answered.By == "" {
			t.Errorf("answered with %v and %v", first, second)
		}
		if _, err := m.drive(p, pays(`1`)); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("%v, %v", err, m.world.effects)
		}
		if err := p.Answer(t.Context(), "r", "a", no); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
	t.Run("withdrawn before it was used", func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		_, _ = m.drive(p, pays(`1`))
		if err := errors.Join(p.Answer(t.Context(), "r", "a", yes), p.Answer(t.Context(), "r", "a", no)); err != nil {
			t.Fatal(err)
		}
		var answered *runtime.AnsweredError
		if err := p.Answer(t.Context(), "r", "a", yes); !errors.As(err, &answered) || answered.Yes || answered.By != "bob" {
			t.Errorf("agreed to again: %v", err)
		}
		_, err := m.drive(p, pays(`1`))
		if !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "withdrawn by bob") || m.world.total() != 0 {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestThePolicyDecidesWhetherACallBegins(t *testing.T) {
	for _, c := range []struct {
		name     string
		decision runtime.Decision
		waits    bool
		denied   bool
	}{
		{"nothing said, and the tool asks", runtime.Decision{}, true, false},
		{"allowed, although the tool asks", runtime.Decision{Verdict: runtime.Allow}, false, false},
		{"asked", runtime.Decision{Verdict: runtime.AskFirst, Reason: "dear"}, true, false},
		{"denied", runtime.Decision{Verdict: runtime.Deny, Reason: "never"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := agreeing(t)
			p := m.process(m.mem.Handle(), func(cfg *runtime.Config) {
				cfg.Policy = func(_ context.Context, can runtime.Candidate) runtime.Decision {
					if can.Tool != "pay" || can.Step != "a" || string(can.Input) != `1` || !can.Approval {
						t.Errorf("asked about %+v", can)
					}
					return c.decision
				}
			})
			_, err := m.drive(p, pays(`1`))
			var w *runtime.WaitingError
			if errors.As(err, &w) != c.waits || errors.Is(err, toolabi.Denied) != c.denied {
				t.Errorf("ended with %v", err)
			}
			if want := 0; c.waits || c.denied {
				if m.world.total() != want {
					t.Errorf("effects %v", m.world.effects)
				}
			}
		})
	}
}

// What an operator denies is denied, also when somebody has agreed before.
func TestADenialOfThePolicyWinsOverAnApproval(t *testing.T) {
	m := agreeing(t)
	p := m.start(nil)
	_, _ = m.drive(p, pays(`1`))
	if err := p.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true}); err != nil {
		t.Fatal(err)
	}
	deny := m.process(m.mem.Handle(), func(cfg *runtime.Config) {
		cfg.Policy = func(context.Context, runtime.Candidate) runtime.Decision {
			return runtime.Decision{Verdict: runtime.Deny, Reason: "not today"}
		}
	})
	_, err := m.drive(deny, pays(`1`))
	if !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "not today") || m.world.total() != 0 {
		t.Errorf("ended with %v", err)
	}
}

// An answer that comes while another branch is still at work is not lost on whoever drives the run next.
func TestAnAnswerThatComesWhileTheRunIsDrivenWakesIt(t *testing.T) {
	m := agreeing(t)
	m.tools["work"] = func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "work") + `"` }
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		res := r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.pay", Input: []byte(`1`)}, {Step: "b", Tool: "m.work", Input: []byte(`1`)}})
		return []byte(`1`), errors.Join(res[0].Err, res[1].Err)
	}
	other := m.start(nil)
	m.world.during = func(request string) {
		for request == "work" { // until the question is there
			err := other.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true, By: "ann"})
			if err == nil {
				return
			}
			if !errors.Is(err, runtime.ErrNotOpen) {
				t.Error(err)
				return
			}
		}
	}
	drivers := func(c *runtime.Config) {
		c.Drivers, c.RideAlong = map[string]runtime.DriverInfo{"test": {Drive: driver}}, 0
	}
	_, err := m.drive(m.process(m.mem.Handle(), drivers), driver)
	var w *runtime.WaitingError
	if !errors.As(err, &w) {
		t.Fatalf("ended with %v", err)
	}
	if got := work(t, m.process(m.mem.Handle(), drivers)); len(got) != 1 || m.status() != journal.Done || m.world.count("pay 1") != 1 {
		t.Errorf("drove %v, status %s, effects %v", got, m.status(), m.world.effects)
	}
}
