package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// A cancellation between the judging of an intent and its append: the intent is judged again, and refused.
func TestACancellationStopsTheNextIntent(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		return `1`
	}})
	other := m.start(nil)
	p := m.start(beforeAppend(2, func() { // 1 is created, 2 the intents of s1 and s1/1
		if err := other.Cancel(context.Background(), "r", "someone", "changed my mind"); err != nil {
			t.Error(err)
		}
	}))
	_, err := m.drive(p, steps("charge"))
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
		t.Errorf("ended with %v, want cancelled", err)
	}
	if n := m.world.count("a"); n != 0 {
		t.Errorf("charged %d times after the cancellation", n)
	}
	if got, want := m.log(), []string{"created", "claimed", "cancel", "finished"}; !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
}

// A reply that comes after the cancellation is recorded, and starts nothing.
func TestAReplyAfterTheCancellationIsRecordedAndStartsNothing(t *testing.T) {
	m := newMachine(t, map[string]tool{"pair": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncHTTPSend, "b")
		return `1`
	}})
	other := m.start(nil)
	m.world.during = func(string) {
		if err := other.Cancel(context.Background(), "r", "someone", ""); err != nil {
			t.Error(err)
		}
	}
	_, err := m.drive(m.start(nil), steps("pair"))
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
		t.Errorf("ended with %v, want cancelled", err)
	}
	if m.results()["s1/1"] != "done a" || m.world.count("b") != 0 {
		t.Errorf("recorded %v, b sent %d times", m.results(), m.world.count("b"))
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
				time.Sleep(2 * rideAlong) // of the bubble's time: nothing rides along for longer
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

// An interruption leaves the run resumable, and an effect in flight is waited for.
func TestAnInterruptionLosesNothing(t *testing.T) {
	m := newMachine(t, map[string]tool{"pair": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncHTTPSend, "b")
		return `1`
	}})
	ctx, cancel := context.WithCancel(t.Context())
	m.world.during = func(string) { cancel() }
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("pair")}})
	if !errors.Is(err, runtime.ErrInterrupted) {
		t.Fatalf("ended with %v", err)
	}
	if m.results()["s1/1"] != "done a" {
		t.Errorf("the reply that came was not recorded: %v", m.log())
	}
	m.world.during = nil
	res, uncertain, err := m.finish(steps("pair"))
	if err != nil || uncertain != 0 || string(res.Output) != `[1]` || m.world.total() != 2 {
		t.Errorf("%s, %v, %d uncertain, %v", res.Output, err, uncertain, m.world.effects)
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

// A cancelled run can be closed whatever else is wrong with it.
func TestACancelledRunCanAlwaysBeClosed(t *testing.T) {
	for _, late := range []bool{false, true} {
		m := newMachine(t, nil)
		p := m.start(nil)
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
			t.Fatal(err)
		}
		if late {
			m.say(journal.Entry{Kind: journal.Late, Step: "s1/1", Outcome: journal.OK, Owner: "somebody"})
		}
		if err := p.Cancel(t.Context(), "r", "somebody", ""); err != nil {
			t.Fatal(err)
		}
		var failed *runtime.FailedError
		if _, err := p.Drive(t.Context(), "r", runtime.DriveOptions{}); !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
			t.Errorf("late %v: %v", late, err)
		}
	}
}

// A cancellation that comes before what rides along is on the disk: the run does not end as if that had happened.
func TestAnEndWithoutItsStepsIsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"read": func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncClock, "") + `"` }})
		other := m.start(nil)
		_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			out, err := r.Call(ctx, "s1", "m.read", []byte(`{}`))
			return out, errors.Join(err, other.Cancel(ctx, "r", "somebody", ""))
		})
		var failed *runtime.FailedError
		if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
			t.Errorf("ended with %v and the log %v", err, m.log())
		}
	})
}

// Flush does not say that all is on the disk when a cancellation has taken something back.
func TestFlushSaysWhatACancellationTookBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
		other := m.start(nil)
		_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			out, err := r.Call(ctx, "s1", "m.pure", []byte(`{}`))
			if err := errors.Join(err, other.Cancel(ctx, "r", "somebody", "")); err != nil {
				t.Error(err)
			}
			if err := r.Flush(); !errors.Is(err, journal.ErrCancelled) {
				t.Errorf("flush: %v", err)
			}
			return out, nil
		})
		var failed *runtime.FailedError
		if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
			t.Errorf("ended with %v", err)
		}
	})
}
