package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// three is a run of three charges, one after the other.
func three(t *testing.T) (*machine, runtime.Driver) {
	m := newMachine(t, map[string]tool{"charge": func(g *guest, input string) string {
		return `"` + g.must(toolabi.FuncHTTPSend, strings.Trim(input, `"`)) + `"`
	}})
	return m, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var last []byte
		for _, step := range []journal.Step{"a", "b", "c"} {
			var err error
			if last, err = r.Call(ctx, step, "m.charge", []byte(`"`+step+`"`)); err != nil {
				return nil, err
			}
		}
		return last, nil
	}
}

func driveFork(t *testing.T, p *process, id string, d runtime.Driver) (runtime.Result, error) {
	t.Helper()
	return p.Drive(t.Context(), id, runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: d}})
}

func TestAForkServesWhatWasBeforeAndDoesTheRestAgain(t *testing.T) {
	m, driver := three(t)
	p := m.start(nil)
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	plan, err := p.PlanFork(t.Context(), "r", "b")
	if err != nil || len(plan.Again) != 2 || plan.Again[0].Step != "b/1" || plan.Again[1].Step != "c/1" || plan.Again[0].Tool != "m.charge" {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	if _, err := p.Fork(t.Context(), "r", "b", "r2", "ann", "b was wrong"); err != nil {
		t.Fatal(err)
	}
	if m.world.total() != 3 {
		t.Error("forking executed something")
	}
	res, err := driveFork(t, p, "r2", driver)
	if err != nil || string(res.Output) != `"done c"` || res.Counts.Served != 1 {
		t.Errorf("%s, %v, %+v", res.Output, err, res.Counts)
	}
	for ref, want := range map[string]int{"a": 1, "b": 2, "c": 2} {
		if got := m.world.count(ref); got != want {
			t.Errorf("effect %q took place %d times, want %d", ref, got, want)
		}
	}
	if keys := m.world.keys["b"]; keys[0] == keys[1] {
		t.Error("what the fork does is under the key of the run")
	}
	if _, err := p.Fork(t.Context(), "r", "b", "r2", "ann", ""); err == nil {
		t.Error("the id is taken, and was forked to again")
	}
	if _, err := p.PlanFork(t.Context(), "r", "nothing"); !errors.Is(err, runtime.ErrNoStep) {
		t.Errorf("a step that is not there: %v", err)
	}
}

// An effect in doubt is in doubt in both, under one key.
func TestAForkKeepsWhatIsInDoubt(t *testing.T) {
	m, _ := three(t)
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		res := r.CallAll(ctx, []runtime.CallSpec{
			{Step: "a", Tool: "m.charge", Input: []byte(`"a"`)}, {Step: "b", Tool: "m.charge", Input: []byte(`"b"`)},
		})
		if err := errors.Join(res[0].Err, res[1].Err); err != nil {
			return nil, err
		}
		return r.Call(ctx, "c", "m.charge", []byte(`"c"`))
	}
	m.world.drop, m.world.dropOnly = 1, "a"
	p := m.start(nil)
	var u *runtime.UncertainError
	if _, err := m.drive(p, driver); !errors.As(err, &u) || u.Step != "a/1" {
		t.Fatal(err)
	}
	if err := p.Resolve(t.Context(), "r", "a/1", runtime.Resolution{Happened: true, Reply: []byte("settled")}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	f, err := p.Fork(t.Context(), "r", "c", "r2", "", "")
	if err != nil || len(f.InDoubt) != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := driveFork(t, p, "r2", driver); err != nil || m.world.count("a") != 1 || m.world.count("b") != 1 || m.world.count("c") != 2 {
		t.Errorf("%v, %v", err, m.world.effects)
	}

	m2, driver2 := three(t)
	h := m2.mem.Handle()
	m2.world.during = func(req string) {
		if req == "b" {
			h.Kill()
		}
	}
	_, _ = m2.drive(m2.start(func(journaltest.Store) journaltest.Store { return h }), driver2)
	m2.world.during = nil
	p2 := m2.start(nil)
	f, err = p2.Fork(t.Context(), "r", "b/1", "inner", "", "")
	if err != nil || len(f.InDoubt) != 0 || len(f.Again) != 1 || f.Again[0].Step != "b/1" || f.Again[0].Known {
		t.Errorf("forked at the very step: %+v, %v", f, err)
	}
	if _, err := p2.Fork(t.Context(), "r", "c", "r2", "", ""); !errors.Is(err, runtime.ErrNoStep) {
		t.Errorf("forked at a step that did not begin: %v", err)
	}
}

// A parallel branch that had begun before the step is taken whole, wherever its entries are.
func TestAForkTakesParallelBranchesWhole(t *testing.T) {
	m, _ := three(t)
	began := make(chan bool)
	m.world.during = func(req string) {
		if req == "a" {
			<-began // so that a's result comes after b's intent
		}
	}
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		done := make(chan error)
		go func() {
			_, err := r.Call(ctx, "a", "m.charge", []byte(`"a"`))
			done <- err
		}()
		for m.world.count("a") == 0 {
			if m.log(); slices.Contains(m.log(), "result a") {
				break
			}
		}
		_, err := r.Call(ctx, "b", "m.charge", []byte(`"b"`))
		if m.world.during != nil {
			close(began)
			m.world.during = nil
		}
		return []byte(`1`), errors.Join(err, <-done)
	}
	p := m.start(nil)
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	f, err := p.Fork(t.Context(), "r", "b", "r2", "", "")
	if err != nil || len(f.Again) != 1 || f.Again[0].Step != "b/1" {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := driveFork(t, p, "r2", driver); err != nil || m.world.count("a") != 1 || m.world.count("b") != 2 {
		t.Errorf("%v, %v", err, m.world.effects)
	}
}

func TestAnAbandonedRunNamesWhatIsInDoubt(t *testing.T) {
	m, driver := three(t)
	m.world.drop = 1
	p := m.start(nil)
	if _, err := m.drive(p, driver); err == nil {
		t.Fatal("want uncertain")
	}
	if err := p.Abandon(t.Context(), "r", "ann", "nobody answers the phone"); err != nil {
		t.Fatal(err)
	}
	res, err := m.drive(p, driver)
	var f *runtime.FailedError
	if !errors.As(err, &f) || !res.Replayed || !strings.Contains(err.Error(), "abandoned by ann: nobody answers the phone") {
		t.Errorf("%+v, %v", res, err)
	}
	if err := p.Resolve(t.Context(), "r", "a/1", runtime.Resolution{Happened: true, Reply: []byte("x"), By: "ann"}); err != nil {
		t.Errorf("settled afterwards: %v", err)
	}
	if err := p.Abandon(t.Context(), "r", "ann", ""); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("abandoned twice: %v", err)
	}
}

func TestARestoredRunDoesWhatMustNotBeRepeatedOnceItIsConfirmed(t *testing.T) {
	m, driver := three(t)
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	if err := p.Confirm(t.Context(), "r", "ann", ""); !errors.Is(err, runtime.ErrNotOpen) {
		t.Errorf("confirmed without need: %v", err)
	}
	if err := m.mem.Append(t.Context(), "r", 1, journal.Entry{Kind: journal.Restored, Time: 1 << 62}); err != nil {
		t.Fatal(err)
	}
	var u *runtime.UnconfirmedError
	if _, err := driveFork(t, p, "r", driver); !errors.As(err, &u) || m.world.total() != 0 {
		t.Errorf("ended with %v", err)
	}
	if err := p.Confirm(t.Context(), "r", "ann", "looked"); err != nil {
		t.Fatal(err)
	}
	if _, err := driveFork(t, p, "r", driver); err != nil || m.world.total() != 3 {
		t.Errorf("%v, %v", err, m.world.effects)
	}
}
