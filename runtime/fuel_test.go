package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// metered enters tools that are Go functions and counts ten units of fuel for each use of a host function.
type metered struct {
	*goInvoker
	costs uint64
	seen  []toolabi.Limits
}

func (i *metered) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	i.seen = append(i.seen, inv.Limits)
	used := uint64(0)
	out, err := i.goInvoker.Invoke(ctx, inv, func(ctx context.Context, name string, request []byte) (toolabi.Answer, error) {
		if used += i.costs; inv.Limits.Fuel != 0 && used > inv.Limits.Fuel {
			panic(errOutOfFuel)
		}
		return host(ctx, name, request)
	})
	if out.Err != nil && out.Err.Message == errOutOfFuel.Error() {
		out.Err = toolabi.NewError(toolabi.LimitFuel, "out of fuel")
		used = inv.Limits.Fuel
	}
	out.Fuel = used
	return out, err
}

var errOutOfFuel = toolabi.NewError(toolabi.LimitFuel, "out of fuel")

// fueled drives a run of one call that sends twice, with these limits of the run and of the manifest.
func fueled(t *testing.T, m *machine, p *process, run, module uint64) (runtime.Result, error) {
	spec, modules := m.spec(`{}`)
	spec.Limits.Fuel, spec.Modules[0].Manifest.Limits.Fuel = run, module
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		return runtime.Result{}, err
	}
	return p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("two")}})
}

func twice(t *testing.T) *machine {
	return newMachine(t, map[string]tool{"two": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncHTTPSend, "b")
		return `1`
	}})
}

func meter(m *machine, costs uint64) (*metered, func(*runtime.Config)) {
	i := &metered{goInvoker: &goInvoker{tools: m.tools, entered: map[string]int{}}, costs: costs}
	return i, func(c *runtime.Config) { c.Invoker = i }
}

func TestTheLowestLimitOfFuelCounts(t *testing.T) {
	for _, c := range []struct {
		run, module, want uint64
		fails             string // what is said of the limit, "" when it is enough
	}{
		{0, 0, 0, ""}, {20, 0, 20, ""}, {0, 20, 20, ""}, {30, 20, 20, ""},
		{15, 0, 15, "the call used up its 15 units of fuel; the limit is the run's (--fuel)"},
		{15, 20, 15, "the limit is the run's (--fuel)"},
		{20, 15, 15, "the call used up its 15 units of fuel; the limit is that of the manifest of m"},
		{15, 15, 15, "the limit is the run's (--fuel)"},
	} {
		m := twice(t)
		i, change := meter(m, 10)
		res, err := fueled(t, m, m.process(m.mem.Handle(), change), c.run, c.module)
		if i.seen[0].Fuel != c.want {
			t.Errorf("%+v: entered with %d", c, i.seen[0].Fuel)
		}
		used, recorded := uint64(20), m.fuel()
		if c.fails != "" {
			used = c.want
			if !errors.Is(err, toolabi.LimitFuel) || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: ended with %v", c, err)
			}
		} else if err != nil {
			t.Errorf("%+v: ended with %v", c, err)
		}
		if recorded != used || res.Usage.Fuel != used {
			t.Errorf("%+v: fuel %d is recorded and %d told, want %d", c, recorded, res.Usage.Fuel, used)
		}
	}
}

// fuel is what the log holds of the only call.
func (m *machine) fuel() (fuel uint64) {
	m.t.Helper()
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		fuel += e.Fuel
	}
	return fuel
}

// A call that is entered again has the same limit, counts from the start, and so comes to the same.
func TestACallThatIsEnteredAgainUsesTheSameFuel(t *testing.T) {
	for limit, used := range map[uint64]uint64{0: 20, 20: 20, 19: 19} {
		m := twice(t)
		handle := m.mem.Handle()
		m.world.during = func(request string) {
			if request == "a" {
				handle.Kill()
			}
		}
		_, change := meter(m, 10)
		if _, err := fueled(t, m, m.process(handle, change), limit, 0); !errors.Is(err, journal.ErrUnusable) {
			t.Fatal(err)
		}
		i, change := meter(m, 10)
		p := m.process(m.mem.Handle(), change)
		if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true, Reply: []byte("done a"), By: "me"}); err != nil {
			t.Fatal(err)
		}
		_, err := fueled(t, m, p, limit, 0)
		if enough := used == 20; enough != (err == nil) || enough == errors.Is(err, toolabi.LimitFuel) {
			t.Errorf("limit %d: ended with %v", limit, err)
		}
		if got := m.fuel(); got != used || i.seen[0].Fuel != limit {
			t.Errorf("limit %d: %d is recorded, entered with %d", limit, got, i.seen[0].Fuel)
		}
	}
}

// A limit of fuel is the call's own, so that a replay reaches it too, at the same place; a version that uses more of it reaches it sooner.
func TestAReplayReachesTheLimitOfFuel(t *testing.T) {
	for _, c := range []struct {
		limit, price uint64
		want         runtime.ReplayVerdict
		fuel         uint64
	}{
		{0, 10, runtime.ReplaySame, 20}, {20, 10, runtime.ReplaySame, 20}, {19, 10, runtime.ReplaySame, 19}, {20, 15, runtime.ReplayLess, 20},
		{19, 5, runtime.ReplayMore, 0},
	} {
		m := twice(t)
		_, change := meter(m, 10)
		if _, err := fueled(t, m, m.process(m.mem.Handle(), change), c.limit, 0); err != nil && !errors.Is(err, toolabi.LimitFuel) {
			t.Fatal(err)
		}
		again, _ := meter(m, c.price)
		for res, err := range m.replayer(nil).Replay(t.Context(), "r", runtime.ReplayOptions{Invoker: again}) {
			var fuel uint64
			if res.Came != nil {
				fuel = res.Came.Fuel
			}
			if err != nil || res.Verdict != c.want || fuel != c.fuel || res.Result.Fuel != m.fuel() || again.seen[0].Fuel != c.limit {
				t.Errorf("limit %d, price %d: %s, fuel %d, entered with %d, %v", c.limit, c.price, res.Verdict, fuel, again.seen[0].Fuel, err)
			}
		}
		if len(again.seen) != 1 {
			t.Errorf("limit %d: entered %d times", c.limit, len(again.seen))
		}
	}
}

// Fuel is the same every time, so a limit that is reached before the log ends is not the call's: this host counts otherwise.
func TestALimitOfFuelInAReplayIsTheHosts(t *testing.T) {
	m := twice(t)
	handle := m.mem.Handle()
	m.world.during = func(request string) {
		if request == "b" {
			handle.Kill()
		}
	}
	_, change := meter(m, 10)
	if _, err := fueled(t, m, m.process(handle, change), 20, 0); !errors.Is(err, journal.ErrUnusable) {
		t.Fatal(err)
	}
	m.world.during = nil
	_, dear := meter(m, 25)
	p := m.process(m.mem.Handle(), dear)
	var limit *runtime.LimitError
	if _, err := fueled(t, m, p, 20, 0); !errors.As(err, &limit) || !strings.Contains(err.Error(), "counts fuel otherwise") {
		t.Fatalf("with other prices: %v", err)
	}
	if got := m.fuel(); got != 0 {
		t.Errorf("%d is recorded", got)
	}
	p.store.Close()
	_, cheap := meter(m, 10)
	p = m.process(m.mem.Handle(), cheap)
	if err := p.Resolve(t.Context(), "r", "s1/2", runtime.Resolution{Happened: true, Reply: []byte("done b"), By: "me"}); err != nil {
		t.Fatal(err)
	}
	if _, err := fueled(t, m, p, 20, 0); err != nil || m.fuel() != 20 {
		t.Errorf("with the prices that it began with: %v, fuel %d", err, m.fuel())
	}
}

// A run is made of its limits: under the same id with others it is another run, and a resume cannot say any.
func TestALimitOfFuelBelongsToTheRun(t *testing.T) {
	m := twice(t)
	_, change := meter(m, 10)
	p := m.process(m.mem.Handle(), change)
	if _, err := fueled(t, m, p, 20, 0); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []uint64{0, 19, 21} {
		var other *runtime.OtherRunError
		if _, err := fueled(t, m, p, limit, 0); !errors.As(err, &other) || other.Differs != "set of limits" {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if res, err := fueled(t, m, p, 20, 0); err != nil || !res.Replayed || res.Usage != (runtime.Usage{}) {
		t.Errorf("the same again: %+v, %v", res, err)
	}
}
