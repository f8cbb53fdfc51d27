package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// replayer is a process whose host functions, driver, claims and appends fail the test: what a replay has to get by with.
func (m *machine) replayer(tools map[string]tool) *runtime.Engine {
	m.t.Helper()
	funcs := m.funcs()
	for i, f := range funcs {
		if f.Class == toolabi.Free {
			continue
		}
		if f.Call != nil {
			funcs[i].Call = func(context.Context, hostfuncs.Call, []byte) ([]byte, error) {
				m.t.Errorf("a replay called %s", f.Name)
				return nil, errors.New("not to be called")
			}
		}
		if f.Await != nil {
			funcs[i].Await = func(hostfuncs.Call, []byte) (hostfuncs.Pending, error) {
				m.t.Errorf("a replay asked %s what it waits for", f.Name)
				return hostfuncs.Pending{}, errors.New("not to be called")
			}
		}
	}
	e, err := runtime.New(runtime.Config{
		Journal: readOnly{m.mem.Handle(), m.t}, Funcs: funcs, Invoker: &goInvoker{tools: tools, entered: map[string]int{}},
		Observe: func(ev runtime.Event) { m.t.Errorf("a replay said %+v", ev) },
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return e
}

// readOnly is a journal that fails the test when something is appended.
type readOnly struct {
	journal.Journal
	t *testing.T
}

func (j readOnly) Append(_ context.Context, run string, at uint64, entries ...journal.Entry) error {
	j.t.Errorf("a replay appended %d entries to %s at %d", len(entries), run, at)
	return errors.New("not to be written")
}

// replay replays run r and returns a line for each call, and the error at the end.
func (m *machine) replay(tools map[string]tool, opts runtime.ReplayOptions) (lines []string, err error) {
	m.t.Helper()
	before := m.log()
	defer func() {
		if after := m.log(); !slices.Equal(before, after) {
			m.t.Errorf("the log was %v and is %v", before, after)
		}
	}()
	for res, err := range m.replayer(tools).Replay(m.t.Context(), "r", opts) {
		if err != nil {
			return lines, err
		}
		line := fmt.Sprintf("%s %s", res.Step, res.Verdict)
		if res.At != 0 {
			line += fmt.Sprintf(" at %d", res.At)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// same replays run r with the tools that it was recorded with, and wants these lines.
func (m *machine) wantReplay(want ...string) {
	m.t.Helper()
	got, err := m.replay(m.tools, runtime.ReplayOptions{})
	if err != nil || !slices.Equal(got, want) {
		m.t.Errorf("replayed %q, %v, want %q", got, err, want)
	}
}

// busy are tools that use what there is.
func busyTools(t *testing.T) map[string]tool {
	return map[string]tool{
		"pay": func(g *guest, in string) string {
			g.must(toolabi.FuncLog, "about to pay")
			when := g.must(toolabi.FuncClock, "")
			return fmt.Sprintf("%q", when+" "+g.must(toolabi.FuncHTTPSend, "pay "+in))
		},
		"through": func(g *guest, in string) string {
			g.must(toolabi.FuncToolCall, encoded(t, toolabi.ToolCallRequest{Tool: "m.pay", Input: []byte(in)}))
			return `"done"`
		},
		"fail": func(g *guest, _ string) string {
			g.must(toolabi.FuncClock, "first")
			panic(toolabi.NewError(toolabi.Failed, "it cannot"))
		},
	}
}

func TestAReplayOfUnchangedModulesIsTheSame(t *testing.T) {
	m := newMachine(t, busyTools(t))
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for i, name := range []string{"pay", "through", "fail"} {
			if _, err := r.Call(ctx, journal.Step(fmt.Sprintf("s%d", i)), "m."+name, fmt.Appendf(nil, "%d", i)); err != nil && name != "fail" {
				return nil, err
			}
		}
		_, err := r.Do(ctx, "model", runtime.Act{Name: "ask", Class: toolabi.Effect, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return []byte(`1`), nil }})
		return []byte(`1`), err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.wantReplay("s0 same", "s1 same", "s1/1 same", "s2 same", "model not replayed")
}

// A call that was cut off, in doubt or that waits is replayed as far as the log goes.
func TestAReplayEndsWhereTheLogDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := busyTools(t)
		tools["ask"] = func(g *guest, _ string) string {
			g.must(toolabi.FuncClock, "")
			return g.must(toolabi.FuncApprove, encoded(t, map[uint64]any{1: "may I?"}))
		}
		tools["nap"] = napping(t, time.Hour)
		for name, want := range map[string][]string{
			"pay":     {"s1 same so far at 2"},
			"through": {"s1 same so far at 1", "s1/1 same so far at 2"},
			"ask":     {"s1 same so far at 2"},
			"nap":     {"s1 same so far at 2"},
		} {
			m := newMachine(t, tools)
			if name != "nap" {
				m.world.drop = 1
			}
			if _, err := m.drive(m.start(nil), steps(name)); err == nil {
				t.Fatal("it did not stop")
			}
			m.wantReplay(want...)
		}
	})
}

// changed are the tools, with another one in the place of pay.
func changed(t *testing.T, pay tool) map[string]tool {
	tools := busyTools(t)
	tools["pay"] = pay
	return tools
}

func TestAReplaySaysWhereAnotherVersionDiffers(t *testing.T) {
	m := newMachine(t, busyTools(t))
	if _, err := m.drive(m.start(nil), steps("pay")); err != nil {
		t.Fatal(err)
	}
	for want, pay := range map[string]tool{
		"s1 same":                busyTools(t)["pay"],
		"s1 other result":        func(g *guest, in string) string { busyTools(t)["pay"](g, in); return `"x"` },
		"s1 other request at 2":  func(g *guest, _ string) string { g.must("clock", ""); return g.must("http_send", "pay more") },
		"s1 other request at 1":  func(g *guest, _ string) string { return g.must("http_send", "pay {}") },
		"s1 asks for more at 3":  func(g *guest, in string) string { busyTools(t)["pay"](g, in); return g.must("http_send", "and again") },
		"s1 asks for less at 2":  func(g *guest, _ string) string { g.must("clock", ""); return `"done"` },
		"s1 asks for less at 1":  func(*guest, string) string { panic(toolabi.NewError(toolabi.Failed, "no")) },
		"s1 other request at 1 ": func(g *guest, _ string) string { return g.must("clock", "another") },
		"s1 asks for more at 3  ": func(g *guest, in string) string {
			busyTools(t)["pay"](g, in)
			for {
				g.ask("clock", "")
			}
		},
		"s1 other request at 2   ": func(g *guest, _ string) string { g.must("clock", ""); return g.must("clock", "") },
	} {
		got, err := m.replay(changed(t, pay), runtime.ReplayOptions{})
		if err != nil || len(got) != 1 || got[0] != strings.TrimSpace(want) {
			t.Errorf("replayed %q, %v, want %q", got, err, want)
		}
	}
}

// instead replays run r with another module in the place of m.
func (m *machine) replayInstead(tools map[string]tool, change func(*toolabi.Manifest), opts runtime.ReplayOptions) (replayed []runtime.Replayed, err error) {
	m.t.Helper()
	spec, _ := m.spec(`{}`)
	other := spec.Modules[0]
	other.Name, other.Digest = "whatever", toolabi.DigestOf([]byte("module m, version 2"))
	other.Manifest.Tools = slices.Clone(other.Manifest.Tools)
	if change != nil {
		change(&other.Manifest)
	}
	opts.Tools = []runtime.Module{other}
	opts.Invoker = byDigest{other.Digest: {tools: tools, entered: map[string]int{}}, spec.Modules[0].Digest: {tools: m.tools, entered: map[string]int{}}}
	for res, err := range m.replayer(nil).Replay(m.t.Context(), "r", opts) {
		if err != nil {
			return replayed, err
		}
		replayed = append(replayed, res)
	}
	return replayed, nil
}

// byDigest enters different modules.
type byDigest map[toolabi.Digest]*goInvoker

func (i byDigest) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	return i[inv.Module].Invoke(ctx, inv, host)
}

// What another module would be refused is a difference, and the requests of both are at hand, also those of reads, which the log
// does not hold.
func TestAReplayWithAnotherModule(t *testing.T) {
	m := newMachine(t, busyTools(t))
	if _, err := m.drive(m.start(nil), steps("pay", "through", "fail")); err == nil {
		t.Fatal("it did not fail")
	}
	tell := func(all []runtime.Replayed) (lines []string) {
		for _, r := range all {
			line := fmt.Sprintf("%s %s", r.Step, r.Verdict)
			if r.Was != nil && r.Now != nil {
				line += fmt.Sprintf(" %s %q -> %s %q", r.Was.Name, r.Was.Request, r.Now.Name, r.Now.Request)
			}
			if r.Verdict == runtime.ReplayRefused {
				line += ": " + r.Why
			}
			lines = append(lines, line)
		}
		return lines
	}
	for name, c := range map[string]struct {
		pay    tool
		change func(*toolabi.Manifest)
		want   []string
	}{
		"the same": {busyTools(t)["pay"], nil, []string{"s1 same", "s2 same", "s2/1 same", "s3 same"}},
		"another read": {func(g *guest, _ string) string { return g.must(toolabi.FuncClock, "which?") }, nil,
			[]string{`s1 other request clock "" -> clock "which?"`, "s2 same", `s2/1 other request clock "" -> clock "which?"`, "s3 same"}},
		"another send": {func(g *guest, _ string) string {
			g.must(toolabi.FuncClock, "")
			return g.must(toolabi.FuncHTTPSend, "pay twice")
		}, nil,
			[]string{`s1 other request http_send "pay {}" -> http_send "pay twice"`, "s2 same", `s2/1 other request http_send "pay {}" -> http_send "pay twice"`, "s3 same"}},
		"a stricter declaration": {busyTools(t)["pay"], func(m *toolabi.Manifest) { m.Tools[1].Idempotency = toolabi.ReadOnly },
			[]string{
				`s1 would be refused http_send "pay {}" -> http_send "pay {}": http_send is a once function, and the tool declares itself read`,
				"s2 same", `s2/1 would be refused http_send "pay {}" -> http_send "pay {}": http_send is a once function, and the tool declares itself read`, "s3 same",
			}},
		"a tool that is gone": {busyTools(t)["pay"], func(m *toolabi.Manifest) { m.Tools = m.Tools[1:] },
			[]string{"s1 same", "s2 same", "s2/1 same", "s3 would be refused: m 1.0.0 has no tool fail"}},
		"a schema": {busyTools(t)["pay"], func(m *toolabi.Manifest) { m.Tools[2].Input = toolabi.RawJSON(`{"type":"string"}`) },
			[]string{"s1 same", "s2 would be refused: input of m.through: got object, want string", "s2/1 same", "s3 same"}},
		"an output": {busyTools(t)["pay"], func(m *toolabi.Manifest) { m.Tools[2].Output = toolabi.RawJSON(`{"type":"number"}`) },
			[]string{"s1 same", "s2 other result", "s2/1 same", "s3 same"}},
		"approval": {busyTools(t)["pay"], func(m *toolabi.Manifest) { m.Tools[0].Approval = true },
			[]string{"s1 same", "s2 same", "s2/1 same", "s3 would be refused: m.fail asks for somebody to agree before each call, and did not before"}},
		"a target": {busyTools(t)["pay"], func(m *toolabi.Manifest) {
			m.Capabilities = []toolabi.Capability{{Name: toolabi.FuncToolCall, Reason: "r", Targets: []string{"m.fail"}}}
		}, []string{"s1 same", `s2 would be refused m.pay "{}" -> tool_call "\xa2\x01em.pay\x02B{}": tool_call: the module's manifest does not name m.pay among its targets`, "s2/1 same", "s3 same"}},
	} {
		got, err := m.replayInstead(changed(t, c.pay), c.change, runtime.ReplayOptions{})
		if err != nil || !slices.Equal(tell(got), c.want) {
			t.Errorf("%s: replayed, %v\n%s\nwant\n%s", name, err, strings.Join(tell(got), "\n"), strings.Join(c.want, "\n"))
		}
	}
	got, err := m.replayInstead(busyTools(t), nil, runtime.ReplayOptions{Step: "s2"})
	if want := []string{"s2 same", "s2/1 same"}; err != nil || !slices.Equal(tell(got), want) {
		t.Errorf("replayed %q, %v, want %q", tell(got), err, want)
	}
	if _, err := m.replayInstead(nil, func(m *toolabi.Manifest) { m.Name = "other" }, runtime.ReplayOptions{}); !errors.As(err, new(*runtime.NotInRunError)) {
		t.Errorf("a module that the run has not: %v", err)
	}
}

// A module that never ends is cut off, each time.
func TestAReplayIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"pay": busyTools(t)["pay"]})
		if _, err := m.drive(m.start(nil), steps("pay", "pay")); err != nil {
			t.Fatal(err)
		}
		forEver := func(g *guest, _ string) string {
			for g.ctx.Err() == nil {
				g.must(toolabi.FuncLog, "still here")
				time.Sleep(time.Millisecond)
			}
			panic(unwound{context.Cause(g.ctx)})
		}
		began := time.Now()
		got, err := m.replayInstead(map[string]tool{"pay": forEver}, nil, runtime.ReplayOptions{Timeout: time.Second})
		if err != nil || len(got) != 2 || got[0].Verdict != runtime.ReplayLess || got[1].Came.Err.Code != toolabi.LimitTime {
			t.Errorf("replayed %+v, %v", got, err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v of the bubble's time", took)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		n := 0
		for _, err = range m.replayer(map[string]tool{"pay": forEver}).Replay(ctx, "r", runtime.ReplayOptions{}) {
			n++
			stop()
		}
		if n != 2 || !errors.Is(err, runtime.ErrInterrupted) {
			t.Errorf("interrupted after %d with %v", n, err)
		}
	})
}

func TestAReplayOfWhatThereIsNot(t *testing.T) {
	m := newMachine(t, busyTools(t))
	if _, err := m.drive(m.start(nil), steps("pay")); err != nil {
		t.Fatal(err)
	}
	for step, want := range map[journal.Step]error{"s2": runtime.ErrNoStep, "s1/1": runtime.ErrNoStep, "s1~2": runtime.ErrNoStep} {
		if got, err := m.replay(m.tools, runtime.ReplayOptions{Step: step}); !errors.Is(err, want) || len(got) != 0 {
			t.Errorf("step %s: %v, %v", step, got, err)
		}
	}
	for _, err := range m.replayer(nil).Replay(t.Context(), "nosuch", runtime.ReplayOptions{}) {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("no such run: %v", err)
		}
	}
}

// Attempts are calls like others, and so are look-ups; a call that was agreed to with another input is entered with that.
func TestAReplayOfAttemptsLookUpsAndEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := newMachine(t, map[string]tool{"pay": passing("a")})
		again.declare = retrying(3, time.Second)
		if _, err := again.drive(again.passing(unavailable(again, 2)), steps("pay")); err != nil {
			t.Fatal(err)
		}
		got, err := again.replay(nil, runtime.ReplayOptions{Invoker: failing(&goInvoker{tools: again.tools, entered: map[string]int{}})})
		if want := []string{"s1 same", "s1~2 same", "s1~3 same"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("attempts: replayed %q, %v, want %q", got, err, want)
		}
		got, err = again.replay(nil, runtime.ReplayOptions{Step: "s1~2", Invoker: failing(&goInvoker{tools: again.tools, entered: map[string]int{}})})
		if want := []string{"s1~2 same"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("an attempt: replayed %q, %v, want %q", got, err, want)
		}

		looked := looking(t, nil)
		looked.cutOff(t, true)
		if _, err := looked.drive(looked.start(nil), pay); err != nil {
			t.Fatal(err)
		}
		looked.wantReplay("s same", "s/1/1 same")
	})
	m, p := asked(t)
	m.wantReplay("a? not replayed")
	if err := p.Answer(t.Context(), "r", "a", edited(`2`)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, paying(`1`, new(runtime.CallResult))); err != nil {
		t.Fatal(err)
	}
	m.wantReplay("a same")
}

// endsEarly is a journal that cannot be read behind some entries.
type endsEarly struct {
	journal.Journal
	after uint64
}

func (j endsEarly) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range j.Journal.Read(ctx, run, from) {
			if e.Seq >= j.after {
				yield(journal.Entry{}, fmt.Errorf("entry %d: %w", e.Seq, journal.ErrDamaged))
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A damaged log is replayed as far as it can be read, wherever that is.
func TestAReplayOfADamagedLog(t *testing.T) {
	m := newMachine(t, busyTools(t))
	if _, err := m.drive(m.start(nil), steps("pay", "pay")); err != nil {
		t.Fatal(err)
	}
	log := m.log()
	best := 0
	for after := range log {
		e, err := runtime.New(runtime.Config{
			Journal: endsEarly{m.mem.Handle(), uint64(after)}, Invoker: &goInvoker{tools: m.tools, entered: map[string]int{}}, Funcs: m.funcs(),
		})
		if err != nil {
			t.Fatal(err)
		}
		same, last := 0, error(nil)
		for res, err := range e.Replay(t.Context(), "r", runtime.ReplayOptions{}) {
			switch last = err; {
			case err != nil:
			case res.Verdict == runtime.ReplaySame:
				same++
			case res.Verdict != runtime.ReplayOpen:
				t.Errorf("after %d entries %s is %s: %s", after, res.Step, res.Verdict, res.Why)
			}
		}
		if !errors.Is(last, journal.ErrDamaged) || same < best {
			t.Errorf("after %d entries (%s): %d are the same, %d were before; it ends with %v", after, log[after], same, best, last)
		}
		best = same
	}
	if best != 2 {
		t.Errorf("of the whole log but its end %d calls are the same", best)
	}
}
