package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// office is a workshop whose program is called by the tools of another module.
type office struct{ *workshop }

func newOffice(t *testing.T, promise toolabi.Idempotency, tools map[string]tool) *office {
	w := newWorkshop(t, promise, true)
	w.machine.tools = tools
	return &office{w}
}

func (o *office) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	if o.tools[inv.Tool] == nil {
		return o.workshop.Invoke(ctx, inv, host)
	}
	return (&goInvoker{tools: o.tools, entered: map[string]int{}}).Invoke(ctx, inv, host)
}

func (o *office) open(store func(*runtime.Config)) *process {
	return o.process(o.mem.Handle(), func(c *runtime.Config) {
		c.Invoker = o
		if store != nil {
			store(c)
		}
	})
}

func (o *office) drive(p *process, tool string) (runtime.Result, error) {
	spec, modules := o.workshop.spec()
	more, bytes := o.machine.spec(`{}`)
	spec.Modules = append(spec.Modules, more.Modules...)
	for d, b := range bytes {
		modules[d] = b
	}
	if _, err := p.Start(o.t.Context(), "r", spec, modules, true); err != nil {
		return runtime.Result{}, err
	}
	return p.Drive(o.t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps(tool)}})
}

// program is what a tool asks to run the program.
func program(t *testing.T) string {
	b, err := toolabi.Encode(toolabi.ToolCallRequest{Tool: "p.run", Input: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What a program wrote is an effect of whoever called it: the caller is entered again without it, is not tried again after it,
// and is undone with it.
func TestAProgramIsAnEffectOfItsCaller(t *testing.T) {
	ask := program(t)
	fails := true
	o := newOffice(t, toolabi.NonIdempotent, map[string]tool{
		"outer": func(g *guest, _ string) string {
			g.must(toolabi.FuncToolCall, ask)
			if fails {
				panic(toolabi.NewError(toolabi.Unavailable, "try again"))
			}
			return `1`
		},
		"outer_undo": func(*guest, string) string { return `1` },
		"read_look":  func(*guest, string) string { return `{"verdict":"happened","reply":"x"}` },
	})
	o.declare = func(tool *toolabi.Tool) {
		if tool.Name == "outer" {
			tool.Retry = toolabi.RetryPolicy{Attempts: 5}
			tool.Compensate, tool.Lookup, tool.SettleMS = "outer_undo", "read_look", 1
		}
	}
	p := o.open(nil)
	if _, err := o.drive(p, "outer"); how(err) != "failed" {
		t.Fatal(err)
	}
	if o.entered != 1 {
		t.Errorf("the program was entered %d times", o.entered)
	}
	left, err := p.Rollback(t.Context(), "r", "me", "")
	if err != nil || len(left) != 0 {
		t.Fatalf("%+v left, %v", left, err)
	}
	spec, err := p.Spec(t.Context(), "r~rollback")
	if err != nil {
		t.Fatal(err)
	}
	var undo []struct {
		Step, Tool string
		Input      struct{ Effects []toolabi.CompensateEffect }
	}
	if err := json.Unmarshal(spec.Plan, &undo); err != nil {
		t.Fatal(err)
	}
	if len(undo) != 1 || undo[0].Tool != "m.outer_undo" || len(undo[0].Input.Effects) != 1 {
		t.Fatalf("the rollback is %s", spec.Plan)
	}
	if e := undo[0].Input.Effects[0]; e.Function != "p.run" || string(e.Request) != `{}` || string(e.Reply) != `"done"` || e.Key != "" {
		t.Errorf("the effect is %+v", e)
	}
}

func TestARollbackSaysThatNothingUndoesAProgram(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	p := w.begin(w.mem.Handle())
	if _, err := w.drive(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	left, err := p.Rollback(t.Context(), "r", "me", "")
	if !errors.Is(err, runtime.ErrNothingToUndo) || len(left) != 1 || left[0].Name != "p.run" || !left[0].Known || !strings.Contains(left[0].Note, w.dir) {
		t.Errorf("%+v left, %v", left, err)
	}
}

// The look-up of its caller knows nothing of what a program wrote, so it is not asked.
func TestACallersLookUpIsNotAskedAboutAProgram(t *testing.T) {
	ask, looked := program(t), 0
	o := newOffice(t, toolabi.NonIdempotent, map[string]tool{
		"outer":     func(g *guest, _ string) string { g.must(toolabi.FuncToolCall, ask); return `1` },
		"read_look": func(*guest, string) string { looked++; return `{"verdict":"happened","reply":"x"}` },
	})
	o.declare = func(tool *toolabi.Tool) {
		if tool.Name == "outer" {
			tool.Lookup, tool.SettleMS = "read_look", 1
		}
	}
	o.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
		return toolabi.Outcome{}, errors.New("the host fails")
	}
	p := o.open(nil)
	for range 2 {
		_, err := o.drive(p, "outer")
		var u *runtime.UncertainError
		if !errors.As(err, &u) || u.Step != "s1/1" || u.Tool != "p.run" || looked != 0 {
			t.Fatalf("ended with %v after %d look-ups", err, looked)
		}
	}
	if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true, Reply: []byte(`"told"`), By: "me"}); err != nil {
		t.Fatal(err)
	}
	res, err := o.drive(p, "outer")
	if err != nil || string(res.Output) != `[1]` || o.entered != 1 {
		t.Errorf("ended with %s, %v after %d entries", res.Output, err, o.entered)
	}
}

// The caller's time never cuts a program that must not be repeated; the program's own does, and is its outcome.
func TestACallersTimeDoesNotCutAProgram(t *testing.T) {
	ask := program(t)
	for _, takes := range []time.Duration{1500 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var seen []*toolabi.Error
			o := newOffice(t, toolabi.NonIdempotent, map[string]tool{"outer": func(g *guest, _ string) string {
				_, err := g.ask(toolabi.FuncToolCall, ask)
				seen = append(seen, err)
				if g.ctx.Err() != nil {
					panic(unwound{context.Cause(g.ctx)})
				}
				return `1`
			}})
			o.declare = func(tool *toolabi.Tool) { tool.TimeoutMS = 1000 }
			o.invoke = func(ctx context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
				o.writes(inv)
				select {
				case <-time.After(takes):
					return toolabi.Outcome{Output: []byte(`"done"`)}, nil
				case <-ctx.Done():
					return toolabi.Outcome{}, context.Cause(ctx)
				}
			}
			_, err := o.drive(o.open(nil), "outer")
			var failed *runtime.FailedError
			if !errors.As(err, &failed) || failed.Err.Code != toolabi.LimitTime {
				t.Errorf("ended with %v", err)
			}
			cut := takes > 2*time.Second
			if (seen[0] != nil) != cut || cut && (seen[0].Code != toolabi.LimitTime || seen[0].Effect != toolabi.EffectUnknown) {
				t.Errorf("the program took %s, and its caller saw %v", takes, seen[0])
			}
			want := []string{"created", "claimed", "intent s1", "intent s1/1", "result s1/1", "result s1", "finished"}
			if got := o.log(); !slices.Equal(got, want) {
				t.Errorf("log %v, want %v", got, want)
			}
		})
	}
}

// What a process learns of a program after another one has taken over is evidence that came late.
func TestTheOutcomeOfAProgramComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t, toolabi.NonIdempotent, true)
		lease := func(c *runtime.Config) { c.Invoker, c.Lease, c.Journal = w, 40*time.Second, leased{c.Journal} }
		w.invoke = func(_ context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
			w.writes(inv)
			time.Sleep(time.Minute) // as long as nobody is there to cut it
			other := w.process(w.mem.Handle(), lease)
			defer other.store.Close()
			if _, err := w.drive(t.Context(), other); how(err) != "uncertain" {
				t.Errorf("the other process: %v", err)
			}
			return toolabi.Outcome{Output: []byte(`"done"`)}, nil
		}
		p := w.process(w.mem.Handle(), lease)
		_, err := w.drive(t.Context(), p)
		var busy *runtime.BusyError
		if !errors.As(err, &busy) || !slices.Equal(busy.Late, []journal.Step{"s"}) {
			t.Errorf("ended with %v", err)
		}
		if got, want := w.steps(), "intent late"; got != want {
			t.Errorf("log %q, want %q", got, want)
		}
		if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{By: "me", Now: true}); !errors.Is(err, runtime.ErrContradicted) {
			t.Errorf("that it did not run: %v", err)
		}
	})
}

// Cancelling begins nothing more, and does not break off a program.
func TestACancellationDoesNotBreakOffAProgram(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	w.invoke = func(_ context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
		other := w.begin(w.mem.Handle())
		defer other.store.Close()
		if err := other.Cancel(t.Context(), "r", "me", ""); err != nil {
			t.Error(err)
		}
		w.writes(inv)
		return toolabi.Outcome{Output: []byte(`"done"`)}, nil
	}
	_, err := w.drive(t.Context(), w.begin(w.mem.Handle()))
	if err != nil || w.steps() != "intent result" { // nothing was left to cancel
		t.Errorf("ended with %v, log %q", err, w.steps())
	}
}

// A closed run that leaves a program in doubt names it, and a fork keeps it in doubt until somebody says.
func TestAClosedRunLeavesAProgramInDoubt(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	_ = w.cutAt("written")
	p := w.begin(w.mem.Handle())
	if err := p.Abandon(t.Context(), "r", "me", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rollback(t.Context(), "r", "me", ""); how(err) != "uncertain" {
		t.Errorf("rolled back: %v", err)
	}
	if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{Happened: true, Reply: []byte(`"told"`), By: "me"}); err != nil {
		t.Fatal(err)
	}
	if left, err := p.Rollback(t.Context(), "r", "me", ""); !errors.Is(err, runtime.ErrNothingToUndo) || len(left) != 1 || left[0].Step != "s" {
		t.Errorf("%+v left, %v", left, err)
	}
}

// A cancellation that comes between the intent of a program and its beginning: it is not entered, whether it may be repeated or not.
func TestACancellationStopsAProgramThatIsAnnounced(t *testing.T) {
	for _, promise := range []toolabi.Idempotency{toolabi.NonIdempotent, toolabi.Idempotent} {
		w := newWorkshop(t, promise, true)
		other := w.begin(w.mem.Handle())
		store := journaltest.HookAppends(w.mem.Handle(), func(n int, committed bool) {
			if n == 2 && committed { // the intent
				if err := other.Cancel(context.Background(), "r", "me", ""); err != nil {
					t.Error(err)
				}
			}
		})
		_, err := w.drive(t.Context(), w.begin(store))
		var failed *runtime.FailedError
		if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || w.entered != 0 {
			t.Errorf("%s: ended with %v after %d entries, log %q", promise, err, w.entered, w.steps())
		}
		if s := w.state(); len(s.InDoubt()) != 0 {
			t.Errorf("%s: in doubt are %v", promise, s.InDoubt())
		}
	}
}

// state is the folded log of the run.
func (w *workshop) state() journal.State {
	w.t.Helper()
	for s, err := range w.mem.List(w.t.Context(), journal.Query{Run: "r"}) {
		if err != nil {
			w.t.Fatal(err)
		}
		return s
	}
	w.t.Fatal("there is no run")
	return journal.State{}
}

// That a program failed, and that it did so too late to count, says nothing of what it wrote: somebody may have looked.
func TestALateFailureOfAProgramContradictsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t, toolabi.NonIdempotent, true)
		lease := func(c *runtime.Config) { c.Invoker, c.Lease, c.Journal = w, 40*time.Second, leased{c.Journal} }
		w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
			time.Sleep(time.Minute)
			other := w.process(w.mem.Handle(), lease)
			defer other.store.Close()
			if _, err := w.drive(t.Context(), other); how(err) != "uncertain" {
				t.Errorf("the other process: %v", err)
			}
			return toolabi.Outcome{Err: toolabi.NewError(toolabi.Exited, "exit status 1")}, nil
		}
		p := w.process(w.mem.Handle(), lease)
		if _, err := w.drive(t.Context(), p); how(err) == "done" || w.steps() != "intent late" {
			t.Fatalf("ended with %v, log %q", err, w.steps())
		}
		if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{By: "me"}); err != nil {
			t.Errorf("that it wrote nothing: %v", err)
		}
	})
}
