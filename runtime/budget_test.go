package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// within is a driver that keeps to a budget of steps, of two unless a resume says otherwise.
func within(r *runtime.Run, done int64) error {
	limit := runtime.Budget{Steps: 2}.Raised(r.Budget()).Steps
	if done < limit {
		return nil
	}
	return &runtime.BudgetError{Run: r.ID(), What: "steps", Used: "2", Limit: "2"}
}

func frugal(ctx context.Context, r *runtime.Run) ([]byte, error) {
	for i, step := range []journal.Step{"a", "b", "c"} {
		if err := within(r, int64(i)); err != nil {
			return nil, err
		}
		if _, err := r.Call(ctx, step, "m.x", []byte(`1`)); err != nil {
			return nil, err
		}
	}
	return []byte(`1`), nil
}

// A run that has taken as much as it may stops, and goes on when somebody allows more.
func TestARunAtItsLimitGoesOnWhenMoreIsAllowed(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: frugal}}
	})
	var limit *runtime.BudgetError
	for range 2 {
		if _, err := m.drive(p, frugal); !errors.As(err, &limit) || limit.What != "steps" || m.status() != journal.Limited || m.world.total() != 2 {
			t.Fatalf("ended with %v, status %s, %d effects", err, m.status(), m.world.total())
		}
	}
	if got := work(t, p); len(got) != 0 {
		t.Errorf("drove %v, which are at their limit", got)
	}
	if err := p.Await(t.Context(), "r"); err != nil {
		t.Errorf("waiting for it ended with %v", err)
	}
	more := func(b runtime.Budget) error {
		_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Budget: b, By: "ann"})
		return err
	}
	if err := more(runtime.Budget{Steps: -1}); err == nil || errors.As(err, &limit) || m.status() != journal.Limited {
		t.Errorf("less than nothing: %v", err)
	}
	for range 2 { // what changes nothing is not recorded
		if err := more(runtime.Budget{Tokens: 7}); !errors.As(err, &limit) {
			t.Errorf("more of something else: %v", err)
		}
	}
	if err := more(runtime.Budget{Steps: 3}); err != nil || m.world.total() != 3 {
		t.Errorf("more steps: %v, %d effects", err, m.world.total())
	}
	var said []string
	for e := range m.mem.Read(t.Context(), "r", 0) {
		if e.Kind == journal.Record && e.Name == runtime.RecordBudget {
			said = append(said, e.By)
		}
	}
	if !slices.Equal(said, []string{"ann", "ann"}) {
		t.Errorf("%d budgets are recorded, by %v", len(said), said)
	}
}

// The latest word of each field counts, also of an earlier resume.
func TestABudgetIsTheLatestOfEachField(t *testing.T) {
	m := newMachine(t, nil)
	var saw []runtime.Budget
	driver := func(_ context.Context, r *runtime.Run) ([]byte, error) {
		saw = append(saw, r.Budget())
		return nil, &runtime.BudgetError{Run: r.ID(), What: "cost"}
	}
	p := m.start(nil)
	_, _ = m.drive(p, driver)
	for _, b := range []runtime.Budget{{Steps: 5, Cost: 1}, {}, {Cost: 2_500_000, Time: time.Hour}} {
		_, _ = p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}, Budget: b})
	}
	want := []runtime.Budget{{}, {Steps: 5, Cost: 1}, {Steps: 5, Cost: 1}, {Steps: 5, Cost: 2_500_000, Time: time.Hour}}
	if !slices.Equal(saw, want) {
		t.Errorf("the driver saw %+v, want %+v", saw, want)
	}
}

func TestACancelClosesARunAtItsLimit(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: frugal}}
	})
	_, _ = m.drive(p, frugal)
	if err := p.Cancel(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if got := work(t, p); !slices.Equal(got, []string{"r"}) || m.status() != journal.CancelledUp {
		t.Errorf("drove %v, status %s", got, m.status())
	}
	// One that comes when the driver has just found out.
	m = newMachine(t, nil)
	_, err := m.drive(m.start(nil), func(_ context.Context, r *runtime.Run) ([]byte, error) {
		m.say(journal.Entry{Kind: journal.Cancel, By: "ann"})
		return nil, &runtime.BudgetError{Run: r.ID(), What: "time"}
	})
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || m.status() != journal.CancelledUp {
		t.Errorf("ended with %v, status %s", err, m.status())
	}
}

// What counts is how long it was driven, by whomever: not how long it waited, what others wrote meanwhile, nor what a fork copied.
func TestSpentIsHowLongARunWasDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string { time.Sleep(3 * time.Second); return `1` }})
		var spent []time.Duration
		driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			spent = append(spent, r.Spent())
			if _, err := r.Call(ctx, "a", "m.x", []byte(`1`)); err != nil {
				return nil, err
			}
			if err := r.Flush(); err != nil {
				return nil, err
			}
			spent = append(spent, r.Spent())
			_, err := r.Approve(ctx, "b", runtime.Question{Text: "go on?"})
			return nil, err
		}
		p := m.start(nil)
		if _, err := m.drive(p, driver); err == nil {
			t.Fatal("it did not wait")
		}
		time.Sleep(time.Hour)
		m.say(journal.Entry{Kind: journal.Record, Name: "note", By: "ann", Time: time.Now().UnixNano()})
		time.Sleep(time.Hour)
		h := m.mem.Handle()
		_, _ = m.drive(m.process(h, nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			if _, err := driver(ctx, r); err == nil {
				t.Error("it did not wait")
			}
			time.Sleep(2 * time.Second)
			spent = append(spent, r.Spent())
			_, err := r.Do(ctx, "c", runtime.Act{Name: "note", Class: toolabi.Read, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return nil, nil }})
			err = errors.Join(err, r.Flush())
			time.Sleep(5 * time.Second) // of which the log does not know
			h.Kill()
			return nil, err
		})
		time.Sleep(time.Hour)
		m.say(journal.Entry{Kind: journal.Record, Name: "note", By: "ann", Time: time.Now().UnixNano()})
		_, _ = m.drive(m.start(nil), driver)
		s := time.Second
		if want := []time.Duration{0, 3 * s, 3 * s, 3 * s, 5 * s, 5 * s, 5 * s}; !slices.Equal(spent, want) {
			t.Errorf("spent %v, want %v", spent, want)
		}
		if _, err := p.Fork(t.Context(), "r", "b", "r2", "ann", ""); err != nil {
			t.Fatal(err)
		}
		spent = nil
		if _, err := driveFork(t, p, "r2", driver); err == nil || !slices.Equal(spent, []time.Duration{0, 0}) {
			t.Errorf("the fork spent %v (%v)", spent, err)
		}
	})
}
