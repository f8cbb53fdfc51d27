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
	for i := range hostfuncs.MaxGrants {
		g.HTTP = append(g.HTTP, fmt.Sprintf("https://%s%d.example.com", strings.Repeat("host-number-", 5)[1:], i))
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

// A driver that returns while a step of its is under way does not lose what comes of it.
func TestAStepThatTheDriverDoesNotWaitForIsRecorded(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("charge")})
	inFlight, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	m.world.during = func(string) { close(inFlight); <-goOn }
	ctx, cancel := context.WithCancel(t.Context())
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(ctx, "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	var late error
	_, err := p.Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		go func() {
			_, err := r.Call(ctx, "s1", "m.x", []byte(`{}`))
			_, late = r.Call(ctx, "s2", "m.x", []byte(`{}`))
			ended <- err
		}()
		<-inFlight
		cancel()
		close(goOn)
		return nil, ctx.Err()
	}}})
	<-ended
	if !errors.Is(err, runtime.ErrInterrupted) || m.results()["s1/1"] != "done charge" || late == nil {
		t.Errorf("ended with %v, and then %v; the log is %v", err, late, m.log())
	}
}

// No room for the output of a run: what rode along is on the disk all the same.
func TestNoRoomForTheOutputLosesNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"keyed": one("charge")})
		store := &full{Store: m.mem.Handle()}
		_, err := m.drive(m.process(store, nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			_, err := r.Call(ctx, "s1", "m.keyed", []byte(`{}`))
			store.blobs = true
			return []byte(`"` + strings.Repeat("x", 2*journal.MaxInline) + `"`), err
		})
		if !errors.Is(err, journal.ErrNoSpace) || m.results()["s1/1"] != "done charge" || m.status() != journal.Interrupted {
			t.Errorf("ended with %v, status %s, log %v", err, m.status(), m.log())
		}
	})
}

// A run that Start has claimed is free again when it is not driven after all.
func TestAClaimOfStartIsGivenBack(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := p.Start(ctx, "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	cancel()
	opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("pure")}}
	if _, err := p.Drive(ctx, "r", opts); !errors.Is(err, runtime.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
	if _, err := m.start(nil).Drive(t.Context(), "r", opts); err != nil {
		t.Errorf("another process: %v", err)
	}
}

// A run that failed has failed, also when somebody interrupts the process in that moment.
func TestAFailedRunIsNotInterrupted(t *testing.T) {
	m := newMachine(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	p := m.process(journaltest.HookAppends(m.mem.Handle(), func(n int, committed bool) {
		if n == 2 && committed {
			cancel()
		}
	}), nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(ctx, "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{
		Drive: func(context.Context, *runtime.Run) ([]byte, error) { return nil, errors.New("no") },
	}})
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || errors.Is(err, runtime.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
}
