package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// refunding is a machine whose charges are undone by refunds; what is refunded is an effect "refund X".
func refunding(t *testing.T) *machine {
	m := newMachine(t, map[string]tool{
		"charge": func(g *guest, input string) string {
			return `"` + g.must(toolabi.FuncHTTPSend, strings.Trim(input, `"`)) + `"`
		},
		"fails": func(g *guest, input string) string {
			g.must(toolabi.FuncHTTPSend, strings.Trim(input, `"`))
			panic(toolabi.NewError(toolabi.Failed, "afterwards"))
		},
		"tries": func(g *guest, input string) string { panic(toolabi.NewError(toolabi.Failed, "before")) },
		"note":  func(g *guest, input string) string { return `"` + g.must(toolabi.FuncHTTPSend, "note") + `"` },
		"refund": func(g *guest, input string) string {
			var in toolabi.CompensateInput
			if err := json.Unmarshal([]byte(input), &in); err != nil {
				panic(toolabi.NewError(toolabi.Failed, err.Error()))
			}
			g.must(toolabi.FuncHTTPSend, "refund "+in.Step+" "+string(in.Input)+" "+string(in.Output)+" "+string(in.Effects[0].Reply))
			return `true`
		},
	})
	m.declare = func(t *toolabi.Tool) {
		if t.Name == "charge" || t.Name == "fails" || t.Name == "tries" {
			t.Compensate = "refund"
		}
	}
	return m
}

// undoing drives a rollback as the driver of that name does.
func undoing(ctx context.Context, r *runtime.Run) ([]byte, error) {
	var undo []runtime.Undo
	if err := json.Unmarshal(r.Plan(), &undo); err != nil {
		return nil, err
	}
	for i, u := range undo {
		if _, err := r.Call(ctx, journal.Step("undo["+string(rune('0'+i))+"]"), u.Tool, u.Input); err != nil {
			return nil, err
		}
	}
	return []byte(`null`), nil
}

func TestARollbackUndoesInReverseOrderWhatHappened(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for _, c := range []runtime.CallSpec{
			{Step: "a", Tool: "m.charge", Input: []byte(`"a"`)}, {Step: "b", Tool: "m.charge", Input: []byte(`"b"`)},
			{Step: "n", Tool: "m.note", Input: []byte(`"n"`)}, {Step: "t", Tool: "m.tries", Input: []byte(`"t"`)},
			{Step: "f", Tool: "m.fails", Input: []byte(`"f"`)},
		} {
			if _, err := r.Invoke(ctx, c); err != nil && !errors.Is(err, toolabi.Failed) {
				return nil, err
			}
		}
		return nil, toolabi.NewError(toolabi.Failed, "the plan failed")
	})
	if !errors.Is(err, toolabi.Failed) {
		t.Fatal(err)
	}
	left, err := p.Rollback(t.Context(), "r", "ann", "a mistake")
	if err != nil || len(left) != 1 || left[0].Step != "n/1" || left[0].Tool != "m.note" {
		t.Fatalf("left %+v, %v", left, err)
	}
	var order []string
	m.world.during = func(request string) { order = append(order, request) }
	for range 2 { // twice is once
		if _, err := p.Rollback(t.Context(), "r", "ann", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Drive(t.Context(), runtime.RollbackOf("r"), runtime.DriveOptions{Driver: &runtime.DriverInfo{Version: "1", Drive: undoing}}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`refund f "f" null "done f"`, `refund b "b" "done b" "done b"`, `refund a "a" "done a" "done a"`,
	}
	if !slices.Equal(order, want) {
		t.Errorf("undone were %q, want %q", order, want)
	}
	var same []string
	for res, err := range m.replayer(m.tools).Replay(t.Context(), runtime.RollbackOf("r"), runtime.ReplayOptions{}) {
		same = append(same, strings.TrimSpace(string(res.Step)+" "+res.Tool+" "+string(res.Verdict)+" "+res.Why))
		if err != nil {
			t.Error(err)
		}
	}
	if want := []string{"undo[0] m.refund same", "undo[1] m.refund same", "undo[2] m.refund same"}; !slices.Equal(same, want) {
		t.Errorf("the compensations are replayed as %q, want %q", same, want)
	}
}

func TestARollbackNeedsAClosedRunOfWhichAllIsKnown(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "a", "m.charge", []byte(`"a"`))
	}
	m.world.drop = 1
	if _, err := m.drive(p, driver); err == nil {
		t.Fatal("want uncertain")
	}
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); !errors.Is(err, runtime.ErrOpen) {
		t.Errorf("of an open run: %v", err)
	}
	if err := p.Cancel(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	_, _ = m.drive(p, driver)
	var u *runtime.UncertainError
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); !errors.As(err, &u) || u.Step != "a/1" || u.Evidence == nil || u.Tool != "m.charge" {
		t.Errorf("of a run in doubt: %v", err)
	}
	if err := p.Resolve(t.Context(), "r", "a/1", runtime.Resolution{Happened: true, Reply: []byte("found"), By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Drive(t.Context(), runtime.RollbackOf("r"), runtime.DriveOptions{Driver: &runtime.DriverInfo{Version: "1", Drive: undoing}}); err != nil || m.world.count(`refund a "a" null "found"`) != 1 {
		t.Errorf("%v, %v", err, m.world.effects)
	}
}

func TestWhatDidNotHappenIsNotUndone(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "a", "m.charge", []byte(`"a"`))
	}
	m.world.drop = 1
	_, _ = m.drive(p, driver)
	_ = p.Cancel(t.Context(), "r", "ann", "")
	_, _ = m.drive(p, driver)
	if err := p.Resolve(t.Context(), "r", "a/1", runtime.Resolution{Now: true, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); !errors.Is(err, runtime.ErrNothingToUndo) {
		t.Errorf("rolled back with %v", err)
	}
}

// A request whose outcome the tool does not know may have taken place, and is undone like one that has: the tool that
// undoes it is given the key, and no reply. One that was repeated under its key, with success, is there once.
func TestWhatMayHaveHappenedIsUndone(t *testing.T) {
	for _, repeated := range []bool{false, true} {
		m := refunding(t)
		m.tools["keyed"] = func(g *guest, input string) string {
			_, err := g.ask(toolabi.FuncHTTPSend, strings.Trim(input, `"`))
			if err != nil && repeated {
				_, err = g.ask(toolabi.FuncHTTPSend, strings.Trim(input, `"`))
			}
			if err != nil {
				panic(err)
			}
			return `"charged"`
		}
		m.tools["refund"] = func(g *guest, input string) string {
			var in toolabi.CompensateInput
			if err := json.Unmarshal([]byte(input), &in); err != nil {
				panic(toolabi.NewError(toolabi.Failed, err.Error()))
			}
			for _, e := range in.Effects {
				g.must(toolabi.FuncHTTPSend, "refund "+e.Key+" "+string(e.Reply))
			}
			return `true`
		}
		m.declare = func(t *toolabi.Tool) {
			if t.Name == "keyed" {
				t.Compensate = "refund"
			}
		}
		m.world.drop = 1
		p := m.start(nil)
		_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			return r.Call(ctx, "a", "m.keyed", []byte(`"a"`))
		})
		if (err == nil) != repeated {
			t.Fatalf("ended with %v", err)
		}
		if plan, err := p.PlanFork(t.Context(), "r", "a"); err != nil || len(plan.Again) == 0 {
			t.Errorf("a copy would do again %+v, %v", plan.Again, err)
		}
		if _, err := p.Rollback(t.Context(), "r", "ann", ""); err != nil {
			t.Errorf("repeated %v: %v", repeated, err)
			continue
		}
		if _, err := p.Drive(t.Context(), runtime.RollbackOf("r"), runtime.DriveOptions{Driver: &runtime.DriverInfo{Version: "1", Drive: undoing}}); err != nil {
			t.Fatal(err)
		}
		reply := "null"
		if repeated {
			reply = `"done a"`
		}
		if want := "refund " + m.world.keys["a"][0] + " " + reply; m.world.count(want) != 1 || m.world.total()-m.world.count("a") != 1 {
			t.Errorf("effects %v, want one more: %s", m.world.effects, want)
		}
	}
}

// An effect that was said not to have happened, was done again, and came after all, has happened twice.
func TestWhatCameTooLateIsUndone(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "a", "m.charge", []byte(`"a"`))
	}
	m.world.drop = 1
	_, _ = m.drive(p, driver)
	if err := p.Resolve(t.Context(), "r", "a/1", runtime.Resolution{Now: true, NewKey: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	m.append(journal.Entry{Kind: journal.Late, Step: "a/1", Name: toolabi.FuncHTTPSend, Class: uint8(toolabi.Once), Outcome: journal.OK, Effect: journal.EffectApplied, Body: []byte("late")})
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	spec, err := p.Spec(t.Context(), runtime.RollbackOf("r"))
	if err != nil || !strings.Contains(string(spec.Plan), `"a/1"`) || !strings.Contains(string(spec.Plan), `"a/1~2"`) {
		t.Errorf("undone is %s, %v", spec.Plan, err)
	}
}

// The id of a rollback can belong to another run.
func TestARollbackDoesNotTakeAnotherRunForItself(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	if _, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "a", "m.charge", []byte(`"a"`))
	}); err != nil {
		t.Fatal(err)
	}
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), runtime.RollbackOf("r"), spec, modules, false); err != nil {
		t.Fatal(err)
	}
	var other *runtime.OtherRunError
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); !errors.As(err, &other) {
		t.Errorf("rolled back with %v", err)
	}
}

// What may be repeated is not in doubt after a kill, because a resume sends it again. A run that is cancelled instead may
// have sent it.
func TestWhatACancelledRunMayHaveSentIsUndone(t *testing.T) {
	m := refunding(t)
	m.tools["keyed"] = m.tools["charge"]
	m.declare = func(t *toolabi.Tool) {
		if t.Name == "keyed" {
			t.Compensate = "refund"
		}
	}
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "a", "m.keyed", []byte(`"a"`))
	}
	h := m.mem.Handle()
	m.world.during = func(string) { h.Kill() }
	_, _ = m.drive(m.start(func(journaltest.Store) journaltest.Store { return h }), driver)
	m.world.during = nil
	p := m.start(nil)
	if err := p.Cancel(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	_, _ = m.drive(p, driver)
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Drive(t.Context(), runtime.RollbackOf("r"), runtime.DriveOptions{Driver: &runtime.DriverInfo{Version: "1", Drive: undoing}}); err != nil || m.world.count(`refund a "a" null null`) != 1 {
		t.Errorf("%v, effects %v", err, m.world.effects)
	}
}

// A rollback is pinned when it begins. What was settled only since is named, and not passed over in silence.
func TestARollbackNamesWhatWasSettledSince(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Call(ctx, "a", "m.charge", []byte(`"a"`)); err != nil {
			return nil, err
		}
		return r.Call(ctx, "b", "m.charge", []byte(`"b"`))
	}
	m.world.drop, m.world.dropOnly = 1, "b"
	_, _ = m.drive(p, driver)
	if err := p.Resolve(t.Context(), "r", "b/1", runtime.Resolution{Now: true, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	m.world.drop = 1
	_, _ = m.drive(p, driver) // in doubt once more
	if err := p.Abandon(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.Resolve(t.Context(), "r", "b/1", runtime.Resolution{Now: true, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	m.say(journal.Entry{Kind: journal.Late, Step: "b/1~2", Name: toolabi.FuncHTTPSend, Class: uint8(toolabi.Once), Outcome: journal.OK, Effect: journal.EffectApplied, Body: []byte("late")})
	var missing *runtime.NotUndoneError
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); !errors.As(err, &missing) || len(missing.Missing) != 1 || missing.Missing[0].Step != "b" {
		t.Errorf("rolled back again with %v", err)
	}
}

// What a fork copied is undone once, with the run that it was copied from.
func TestWhatAForkCopiedIsNotUndoneTwice(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	charges := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for _, step := range []string{"a", "b"} {
			if _, err := r.Call(ctx, journal.Step(step), "m.charge", []byte(`"`+step+`"`)); err != nil {
				return nil, err
			}
		}
		return []byte(`null`), nil
	}
	if _, err := m.drive(p, charges); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fork(t.Context(), "r", "b", "r2", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := driveFork(t, p, "r2", charges); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"r2", "r"} {
		if _, err := p.Rollback(t.Context(), run, "ann", ""); err != nil {
			t.Fatal(err)
		}
		back := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: undoing, Version: runtime.RollbackVersion}}
		if _, err := p.Drive(t.Context(), runtime.RollbackOf(run), back); err != nil {
			t.Fatal(err)
		}
	}
	undone := map[string]int{}
	for effect, n := range m.world.effects {
		if step, ok := strings.CutPrefix(effect, "refund "); ok {
			undone[step[:1]] += n
		}
	}
	if undone["a"] != 1 || undone["b"] != 2 {
		t.Errorf("undone %v, want what was copied once and what both did twice", undone)
	}
}
