package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// A call that uses up its time has that as its outcome; what it sent is recorded.
func TestTheLimitOnTimeIsAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"slow": func(g *guest, _ string) string {
			g.must(toolabi.FuncHTTPSend, "a")
			<-g.ctx.Done()
			panic(unwound{context.Cause(g.ctx)})
		}})
		p := m.start(nil)
		p.invoker.tools["slow"] = func(g *guest, in string) string {
			g.must(toolabi.FuncHTTPSend, "a")
			<-g.ctx.Done()
			var limit *toolabi.Error
			if !errors.As(context.Cause(g.ctx), &limit) {
				t.Errorf("the call was ended by %v", context.Cause(g.ctx))
			}
			g.must(toolabi.FuncHTTPSend, "b") // too late
			return `1`
		}
		began := time.Now()
		_, err := m.drive(p, steps("slow"))
		if !errors.Is(err, toolabi.LimitTime) || time.Since(began) != time.Minute {
			t.Errorf("ended with %v after %v", err, time.Since(began))
		}
		if m.world.count("a") != 1 || m.world.count("b") != 0 {
			t.Errorf("effects %v", m.world.effects)
		}
	})
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

// A limit that is reached while the call is answered from the log is the host's, also when the last answer comes after it.
func TestALimitDuringReplayIsTheHosts(t *testing.T) {
	for _, kind := range []string{"last answer", "cut-off effect"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow, h := false, (*journaltest.Mem)(nil)
				m := newMachine(t, map[string]tool{
					"x": func(g *guest, _ string) string {
						g.must(toolabi.FuncClock, "1")
						if slow {
							<-g.ctx.Done() // an overloaded host: the replay takes longer than the limit
						}
						g.must(toolabi.FuncClock, "2")
						time.Sleep(time.Second) // of the bubble's time: both are on the disk
						if !slow {
							h.Kill()
						}
						g.must(toolabi.FuncHTTPSend, "a")
						return `1`
					},
					"idem": func(g *guest, _ string) string {
						if slow {
							<-g.ctx.Done()
						}
						g.must(toolabi.FuncHTTPSend, "a")
						return `1`
					},
				})
				call := map[string]string{"last answer": "x", "cut-off effect": "idem"}[kind]
				h = m.mem.Handle()
				m.world.during = func(string) { m.world.during = nil; h.Kill() }
				if _, err := m.drive(m.process(h, nil), steps(call)); err == nil {
					t.Fatal("the kill went by unseen")
				}
				slow = true
				_, err := m.drive(m.start(nil), steps(call))
				var limit *runtime.LimitError
				if !errors.As(err, &limit) || m.status() != journal.Interrupted {
					t.Errorf("resumed with %v, status %s, log %v", err, m.status(), m.log())
				}
				slow = false
				h = m.mem.Handle() // nobody's
				if _, err := m.drive(m.start(nil), steps(call)); err != nil {
					t.Errorf("when the host has time: %v", err)
				}
			})
		})
	}
}

// preparing is an invoker that takes long before it first enters a module.
type preparing struct{ runtime.Invoker }

func (preparing) Prepare(context.Context, toolabi.Digest) error {
	time.Sleep(10 * time.Minute) // of the bubble's time
	return nil
}

// The time that a module takes to be made ready is not the call's.
func TestPreparingAModuleIsNotChargedToTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pure": func(g *guest, _ string) string {
			time.Sleep(30 * time.Second) // of the bubble's time, half of what a call may take
			if g.ctx.Err() != nil {
				panic(unwound{context.Cause(g.ctx)})
			}
			return `1`
		}})
		p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Invoker = preparing{c.Invoker} })
		if _, err := m.drive(p, steps("pure")); err != nil {
			t.Error(err)
		}
	})
}

// What a call waits for on the host is not its time, nor that of the call that it is inside of.
func TestWaitingForTheHostIsNotTheCallsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string {
			resume := g.inv.Pause()
			time.Sleep(time.Hour)
			resume()
			time.Sleep(59 * time.Second)
			if g.ctx.Err() != nil {
				t.Errorf("ended after 59 s of its own: %v", context.Cause(g.ctx))
			}
			<-g.ctx.Done()
			panic(unwound{context.Cause(g.ctx)})
		}})
		began := time.Now()
		_, err := m.drive(m.start(nil), steps("x"))
		if !errors.Is(err, toolabi.LimitTime) || time.Since(began) != time.Hour+time.Minute {
			t.Errorf("ended with %v after %v", err, time.Since(began))
		}
	})
}
