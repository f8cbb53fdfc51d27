package runtime_test

import (
	"errors"
	"fmt"
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

// calls uses tool_call as a tool does.
func (g *guest) calls(tool, input string) (string, *toolabi.Error) {
	req, err := toolabi.Encode(toolabi.ToolCallRequest{Tool: tool, Input: []byte(input)})
	if err != nil {
		panic(err)
	}
	reply, failed := g.ask(toolabi.FuncToolCall, string(req))
	if failed != nil {
		return "", failed
	}
	var r toolabi.ToolCallReply
	if err := toolabi.Decode([]byte(reply), &r); err != nil {
		panic(err)
	}
	return string(r.Output), nil
}

func (g *guest) mustCall(tool, input string) string {
	out, err := g.calls(tool, input)
	if err != nil {
		panic(err)
	}
	return out
}

// nested is a machine whose tool "flow" charges twice through the tool "charge", with an effect of its own between.
func nested(t *testing.T) *machine {
	return newMachine(t, map[string]tool{
		"flow": func(g *guest, _ string) string {
			a := g.mustCall("m.charge", `"a"`)
			g.must(toolabi.FuncHTTPSend, "own")
			b := g.mustCall("m.charge", `"b"`)
			return "[" + a + "," + b + "]"
		},
		"charge": func(g *guest, input string) string {
			return `"` + g.must(toolabi.FuncHTTPSend, strings.Trim(input, `"`)) + `"`
		},
	})
}

func TestAToolCallsATool(t *testing.T) {
	m := nested(t)
	res, err := m.drive(m.start(nil), steps("flow"))
	if err != nil || string(res.Output) != `[["done a","done b"]]` {
		t.Fatalf("%s, %v", res.Output, err)
	}
	want := []string{
		"created", "claimed", "intent s1", "intent s1/1", "intent s1/1/1", "result s1/1/1", "result s1/1",
		"intent s1/2", "result s1/2", "intent s1/3", "intent s1/3/1", "result s1/3/1", "result s1/3", "result s1", "finished",
	}
	if got := m.log(); !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
	if m.world.total() != 3 {
		t.Errorf("effects %v", m.world.effects)
	}
}

func TestNoCrashPointOfNestedCallsRepeatsAnything(t *testing.T) {
	s := shape{
		name: "nested", tools: nested(t).tools, driver: steps("flow"),
		effects: map[string]int{"a": 1, "b": 1, "own": 1}, output: `[["done a","done b"]]`,
	}
	appends := 0
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, s.tools)
		counter := journaltest.CrashBefore(m.mem.Handle(), 0)
		_, _ = m.drive(m.start(func(journaltest.Store) journaltest.Store { return counter }), s.driver)
		appends = counter.Appends()
		counter.Close()
	})
	for n := 1; n <= appends; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d of %d, after %v", n, appends, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crashAt(t, s, n, after) })
			})
		}
	}
}

// What is refused is a value, recorded, and the same when the caller is entered again.
func TestToolCallsThatAreRefused(t *testing.T) {
	try := func(tool, input string) tool {
		return func(g *guest, _ string) string {
			_, err := g.calls(tool, input)
			if err == nil {
				return `"let through"`
			}
			return fmt.Sprintf("%q", fmt.Sprintf("%s %s", err.Code, err.Detail))
		}
	}
	for name, c := range map[string]struct {
		caller, callee string
		tool           tool
		want           string
	}{
		"no such tool":        {"a", "b", try("m.nothing", `1`), "not_found "},
		"no such module":      {"a", "b", try("other.b", `1`), "not_found "},
		"no name":             {"a", "b", try("b", `1`), "invalid "},
		"no JSON":             {"a", "b", try("m.b", `{`), "bad_input "},
		"itself":              {"a", "b", try("m.a", `1`), "conflict cycle"},
		"from a pure tool":    {"pure_a", "pure_b", try("m.pure_b", `1`), "denied "},
		"a reader and others": {"read_a", "b", try("m.b", `1`), "denied "},
		"a reader and keyed":  {"read_a", "keyed_b", try("m.keyed_b", `1`), "denied "},
		"a reader and pure":   {"read_a", "pure_b", try("m.pure_b", `1`), ""},
		"a reader and read":   {"read_a", "read_b", try("m.read_b", `1`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{c.caller: c.tool, c.callee: func(*guest, string) string { return `1` }})
			res, err := m.drive(m.start(nil), steps(c.caller))
			want := fmt.Sprintf("[%q]", c.want)
			if c.want == "" {
				want = `["let through"]`
			}
			if err != nil || string(res.Output) != want {
				t.Errorf("%s, %v, want %s", res.Output, err, want)
			}
		})
	}
}

func TestCallsAreNestedToABoundedDepth(t *testing.T) {
	tools := map[string]tool{}
	for i := range 10 {
		next := fmt.Sprintf("m.t%d", i+1)
		tools[fmt.Sprintf("t%d", i)] = func(g *guest, _ string) string {
			out, err := g.calls(next, `1`)
			if err != nil {
				return fmt.Sprintf("%q", fmt.Sprintf("%s %s at %s", err.Code, err.Detail, next))
			}
			return out
		}
	}
	m := newMachine(t, tools)
	res, err := m.drive(m.start(nil), steps("t0"))
	if want := fmt.Sprintf(`["too_large depth at m.t%d"]`, toolabi.MaxCallDepth); err != nil || string(res.Output) != want {
		t.Errorf("%s, %v, want %s", res.Output, err, want)
	}
}

func TestACycleThroughOthersIsRefused(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"a": func(g *guest, _ string) string { return g.mustCall("m.b", `1`) },
		"b": func(g *guest, _ string) string {
			_, err := g.calls("m.a", `1`)
			return fmt.Sprintf("%q", err.Detail)
		},
	})
	if res, err := m.drive(m.start(nil), steps("a")); err != nil || string(res.Output) != `["cycle"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// The called tool has its own declaration: what it sends must not be repeated although its caller's may.
func TestACalledToolKeepsItsOwnPromise(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"idem_flow": func(g *guest, _ string) string { return g.mustCall("m.charge", `1`) },
		"charge":    func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"` },
	})
	m.world.drop = 1
	_, err := m.drive(m.start(nil), steps("idem_flow"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Step != "s1/1/1" || u.Tool != "m.charge" {
		t.Errorf("ended with %v", err)
	}
}

// The failure of a called tool is a value for its caller, and a call around an effect is not tried again.
func TestACallerHandlesTheFailureOfACalledTool(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"flow": func(g *guest, _ string) string {
			_, err := g.calls("m.fails", `1`)
			return fmt.Sprintf("%q", err.Code)
		},
		"fails": func(g *guest, _ string) string {
			g.must(toolabi.FuncHTTPSend, "a")
			e := toolabi.NewError(toolabi.Failed, "no")
			e.Retry = toolabi.RetrySafe
			panic(e)
		},
	})
	m.declare = retrying(3, time.Second)
	p := m.passing(nil)
	res, err := m.drive(p, steps("flow"))
	if err != nil || string(res.Output) != `["failed"]` || m.world.count("a") != 1 || p.invoker.entered["fails"] != 1 {
		t.Errorf("%s, %v, %v, entered %v", res.Output, err, m.world.effects, p.invoker.entered)
	}
}

func TestSomebodyIsAskedAboutACallOfATool(t *testing.T) {
	m := nested(t)
	m.declare = func(tool *toolabi.Tool) { tool.Approval = tool.Name == "charge" }
	for _, question := range []journal.Step{"s1/1", "s1/3"} {
		p := m.start(nil)
		_, err := m.drive(p, steps("flow"))
		var w *runtime.WaitingError
		if !errors.As(err, &w) || w.Step != question.Question() {
			t.Fatalf("ended with %v", err)
		}
		if err := p.Answer(t.Context(), "r", question, runtime.Answer{Yes: true, By: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.drive(m.start(nil), steps("flow")); err != nil || m.world.total() != 3 {
		t.Errorf("%v, %v", err, m.world.effects)
	}
}

// A module says which tools it wants to call, and calls no others.
func TestTargetsBoundWhatIsCalled(t *testing.T) {
	m := nested(t)
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	spec.Modules[0].Manifest.Capabilities = []toolabi.Capability{{Name: toolabi.FuncToolCall, Reason: "to charge", Targets: []string{"m.other"}}}
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("flow")}})
	if err == nil || !strings.Contains(err.Error(), "among its targets") || m.world.total() != 0 {
		t.Errorf("ended with %v", err)
	}
}
