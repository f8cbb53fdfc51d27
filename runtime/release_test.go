package runtime_test

import (
	"context"
	"errors"
	"fmt"
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

// However driving ends, a process that goes on living does not keep the run to itself.
func TestNoClaimIsHeldByNobody(t *testing.T) {
	pure := map[string]tool{"pure": func(*guest, string) string { return `1` }}
	drive := func(p *process, ctx context.Context, d runtime.Driver, g hostfuncs.Grants) error {
		_, err := p.Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: d}, Grants: g})
		return err
	}
	for _, tt := range []struct {
		name string
		try  func(t *testing.T, m *machine) error
		want error // nil: any
	}{
		{"interrupted between the claim and the first step", func(t *testing.T, m *machine) error {
			ctx, cancel := context.WithCancel(t.Context())
			store := journaltest.HookAppends(m.mem.Handle(), func(_ int, committed bool) {
				if committed {
					cancel()
				}
			})
			return drive(m.process(store, nil), ctx, steps("pure"), hostfuncs.Grants{})
		}, runtime.ErrInterrupted},
		{"no space for the output", func(t *testing.T, m *machine) error {
			store := &full{Store: m.mem.Handle()}
			return drive(m.process(store, nil), t.Context(), func(context.Context, *runtime.Run) ([]byte, error) {
				store.blobs = true
				return []byte(`"` + strings.Repeat("x", 2*journal.MaxInline) + `"`), nil
			}, hostfuncs.Grants{})
		}, journal.ErrNoSpace},
		{"no such driver", func(t *testing.T, m *machine) error {
			_, err := m.process(m.mem.Handle(), nil).Drive(t.Context(), "r", runtime.DriveOptions{})
			return err
		}, nil},
		{"a driver that panics with what is no text", func(t *testing.T, m *machine) error {
			return drive(m.process(m.mem.Handle(), nil), t.Context(), func(context.Context, *runtime.Run) ([]byte, error) { panic("\xff") }, hostfuncs.Grants{})
		}, nil},
		{"a step name that is none", func(t *testing.T, m *machine) error {
			return drive(m.process(m.mem.Handle(), nil), t.Context(), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				return r.Call(ctx, "a/b", "m.pure", []byte(`{}`))
			}, hostfuncs.Grants{})
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, pure)
			spec, modules := m.spec(`{}`)
			if _, err := m.start(nil).Start(t.Context(), "r", spec, modules, false); err != nil {
				t.Fatal(err)
			}
			if err := tt.try(t, m); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("ended with %v, want %v", err, tt.want)
			}
			if err := drive(m.start(nil), t.Context(), steps("pure"), hostfuncs.Grants{}); err != nil {
				t.Errorf("another process, while the first lives: %v", err)
			}
		})
	}
}

// Grants that are too long for an entry are recorded all the same.
func TestManyGrantsAreRecorded(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	var g hostfuncs.Grants
	for i := range 4000 {
		g.HTTP = append(g.HTTP, fmt.Sprintf("https://host-number-%d.example.com", i))
	}
	spec, modules := m.spec(`{}`)
	p := m.start(nil)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("pure")}, Grants: g}); err != nil {
		t.Error(err)
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

func TestWatchOfAFinishedRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
		p := m.start(nil)
		if _, err := m.drive(p, steps("pure")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for e, err := range p.Watch(ctx, "r", uint64(len(m.log()))) {
			t.Errorf("behind the end there is %v, %v", e.Kind, err)
		}
	})
}

// What provably did not leave is not in doubt, so that Work goes on with it.
func TestWorkGoesOnWithWhatWasNotSent(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	first := true
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: steps("x")}}
		sending(func(ctx context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
			if first {
				first = false
				return nil, &runtime.JournalError{Run: "r", Err: journal.ErrBusy} // as BeforeSend answers
			}
			return m.world.send(ctx, c, request)
		})(c)
	})
	if _, err := m.drive(p, steps("x")); !errors.Is(err, journal.ErrBusy) || m.status() != journal.Interrupted {
		t.Fatalf("ended with %v, status %s", err, m.status())
	}
	if err := p.Work(t.Context(), nil); err != nil || m.world.count("a") != 1 || m.status() != journal.Done {
		t.Errorf("%v, sent %d times, status %s", err, m.world.count("a"), m.status())
	}
}

// Where claims are leases, a run that lasts longer stops and can be driven again; it does not fail.
func TestARunLongerThanItsLeaseStops(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a"), "y": one("b")})
	now := time.Now()
	m.world.during = func(string) { now = now.Add(2 * time.Minute) }
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Journal, c.Now = noOwners{c.Journal}, func() time.Time { return now }
	})
	if _, err := m.drive(p, steps("x", "y")); err == nil || m.status() != journal.Interrupted {
		t.Errorf("ended with %v, status %s", err, m.status())
	}
	if res, err := m.drive(p, steps("x", "y")); err != nil || m.world.total() != 2 {
		t.Errorf("again: %s, %v, %d effects", res.Output, err, m.world.total())
	}
}

// Two steps of one name at once are the driver's mistake, and leave the run as it was.
func TestOneNameTwiceAtOnceIsRefused(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	entered := make(chan struct{})
	m.world.during = func(string) {
		close(entered)
	}
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		done := make(chan error)
		hold := make(chan struct{})
		m.world.during = func(string) { close(entered); <-hold }
		go func() {
			_, err := r.Call(ctx, "s1", "m.x", []byte(`{}`))
			done <- err
		}()
		<-entered
		_, err := r.Call(ctx, "s1", "m.x", []byte(`{}`))
		close(hold)
		return nil, errors.Join(err, <-done)
	})
	if err == nil || !strings.Contains(err.Error(), "twice at once") || m.status() != journal.Interrupted || m.world.total() != 1 {
		t.Errorf("ended with %v, status %s, %d effects", err, m.status(), m.world.total())
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

// Errors of a driver are recorded so that they can be read again.
func TestADriversErrorsCanBeReadAgain(t *testing.T) {
	bad := &toolabi.Error{Message: "\xff", Detail: strings.Repeat("d", 100)}
	m := newMachine(t, nil)
	d := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Do(ctx, "ask", runtime.Act{Name: "ask", Class: toolabi.Read, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return nil, bad }}); err == nil {
			t.Error("want an error")
		}
		return nil, bad
	}
	for range 2 {
		var failed *runtime.FailedError
		if _, err := m.drive(m.start(nil), d); !errors.As(err, &failed) || errors.Is(err, journal.ErrDamaged) {
			t.Errorf("ended with %v", err)
		}
	}
	journaltest.Check(t, m.mem)
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
