package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Whatever a journal still takes: either an effect is not begun, and the run goes on once there is room, or what came of it is
// recorded.
func TestAnEffectIsBegunOnlyWhereItsOutcomeHasRoom(t *testing.T) {
	const longest = 100 << 10
	reply := bytes.Repeat([]byte("r"), longest)
	kinds := map[string]func(m *machine, c *runtime.Config) runtime.Driver{
		"what a tool must not repeat": func(m *machine, c *runtime.Config) runtime.Driver {
			c.Funcs[0].MaxReply = func([]byte) int64 { return longest }
			c.Funcs[0].Call = func(ctx context.Context, hc hostfuncs.Call, req []byte) ([]byte, error) {
				_, err := m.world.send(ctx, hc, req)
				return reply, err
			}
			return steps("x")
		},
		"a driver's own": func(m *machine, _ *runtime.Config) runtime.Driver { return asksModel(m, toolabi.Effect, reply) },
		"a driver's own that must not be repeated": func(m *machine, _ *runtime.Config) runtime.Driver { return asksModel(m, toolabi.Once, reply) },
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			began, refused := 0, 0
			for left := int64(0); left < 2*longest+8<<10; left += 4 << 10 {
				m := newMachine(t, map[string]tool{"x": one("a")})
				var driver runtime.Driver
				p := m.process(m.mem.Handle(), func(c *runtime.Config) {
					driver = kind(m, c)
					c.Rescue = func(string, journal.Step, []byte) { t.Errorf("%d bytes left: a reply is rescued", left) }
				})
				spec, modules := m.spec(`{}`)
				if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
					t.Fatal(err)
				}
				m.mem.SetRoom(left)
				_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}})
				switch n := m.world.total(); {
				case n == 0 && errors.Is(err, journal.ErrNoSpace):
					refused++
				case n == 1 && recorded(m, len(reply)):
					began++
				default:
					t.Errorf("%d bytes left: %d effects, log %v, %v", left, n, m.log(), err)
				}
				if held := m.mem.Held(); held != 0 {
					t.Errorf("%d bytes left: %d bytes are still held", left, held)
				}
				m.mem.SetRoom(1 << 40)
				if _, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}}); err != nil || m.world.total() != 1 {
					t.Errorf("%d bytes left, then enough: %d effects, %v", left, m.world.total(), err)
				}
				p.store.Close()
			}
			if began == 0 || refused == 0 {
				t.Errorf("%d times it was begun, %d times refused: want both", began, refused)
			}
		})
	}
}

// asksModel is a driver with an effect of its own.
func asksModel(m *machine, class toolabi.Class, reply []byte) runtime.Driver {
	return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := r.Do(ctx, "ask", runtime.Act{Name: "model", Request: []byte("a"), Class: class, MaxReply: int64(len(reply)), Do: func(ctx context.Context, a runtime.Attempt) ([]byte, error) {
			_, err := m.world.send(ctx, hostfuncs.Call{BeforeSend: a.BeforeSend, Key: a.Key, Sent: func(int64) {}}, []byte("a"))
			return reply, err
		}})
		return []byte(`1`), err
	}
}

// recorded says whether a log holds a reply of so many bytes.
func recorded(m *machine, n int) bool {
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err == nil && e.Kind == journal.Result && (e.Size == int64(n) || len(e.Body) == n) {
			return true
		}
	}
	return false
}

// What is known when nothing more may begin is recorded, although it waited for company: the append of both is made in two.
func TestAResultIsRecordedWhereTheNextStepHasNoRoom(t *testing.T) {
	m := newMachine(t, map[string]tool{"idem": one("a"), "x": one("b")})
	store := &full{Store: m.mem.Handle(), entry: func(e journal.Entry) bool { return e.Kind == journal.Intent && e.Step == "s2/1" }}
	p := m.process(store, func(c *runtime.Config) {
		c.Rescue = func(_ string, step journal.Step, reply []byte) { t.Errorf("the reply of %s is rescued", step) }
	})
	if _, err := m.drive(p, steps("idem", "x")); !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("the run ends with %v", err)
	}
	if got, want := fmt.Sprint(m.log()), "[created claimed intent s1 intent s1/1 result s1/1 result s1 released]"; got != want {
		t.Errorf("log %v, want %v", got, want)
	}
	store.Close()
	if _, uncertain, err := m.finish(steps("idem", "x")); err != nil || uncertain != 0 || m.world.count("a") != 1 || m.world.count("b") != 1 {
		t.Errorf("once there is room: %v, %d uncertain, effects %v", err, uncertain, m.world.effects)
	}
}

// A result is recorded as patiently where its body is a blob as where it is not: somebody who collects keeps others from storing blobs,
// and may be stopped while it does.
func TestAResultWaitsForWhoKeepsTheBlobsLocked(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	store := &locked{Store: m.mem.Handle()}
	p := m.process(store, func(c *runtime.Config) {
		c.Rescue = func(_ string, step journal.Step, _ []byte) { t.Errorf("the reply of %s is rescued", step) }
		c.Funcs[0].Call = func(ctx context.Context, hc hostfuncs.Call, req []byte) ([]byte, error) {
			_, err := m.world.send(ctx, hc, req)
			store.busy = 3
			return bytes.Repeat([]byte("r"), journal.MaxInline+1), err
		}
	})
	if _, err := m.drive(p, steps("x")); err != nil || store.busy != 0 {
		t.Errorf("the run ends with %v, %d attempts were left", err, store.busy)
	}
	if !recorded(m, journal.MaxInline+1) {
		t.Errorf("the reply is not in the log: %v", m.log())
	}
}

// Somebody who collects can keep others from holding space for a moment, too.
func TestSpaceIsHeldPatiently(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	store := &locked{Store: m.mem.Handle()}
	p := m.process(store, nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	store.busy = 3
	if _, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("x")}}); err != nil || store.busy != 0 {
		t.Errorf("the run ends with %v, %d attempts were left", err, store.busy)
	}
}
