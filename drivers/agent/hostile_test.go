package agent_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// What the length of an answer cut off may be any part of what the model meant.
func TestACallThatMayHaveBeenCutOffIsNotMade(t *testing.T) {
	s := newSite(t)
	got, err := s.answer(scripted(`
replies:
  - when: ${ .turn > 0 }
    say: "${ [.results[].text] | join(\"|\") }"
  - calls: [{tool: shop.send, with: {what: rent}}, {tool: shop.echo, arguments: ""}]
    cut: true`))
	if err != nil || len(s.sent) != 1 || len(s.entered) != 1 || !strings.HasPrefix(got, `{"sent":true}|not called: `) {
		t.Errorf("got %q, %v; entered %q", got, err, s.entered)
	}
}

// A journal of somebody else can hold an agent that no file makes.
func TestLimitsThatMakeNoSenseMakeNoRun(t *testing.T) {
	for name, change := range map[string]func(*agent.Agent){
		"parallel":            func(a *agent.Agent) { a.Limits.Parallel = -1 },
		"many at once":        func(a *agent.Agent) { a.Limits.Parallel = agent.MaxParallel + 1 },
		"steps":               func(a *agent.Agent) { a.Limits.Steps = -1 },
		"time":                func(a *agent.Agent) { a.Limits.TimeMS = 1 << 62 },
		"turns":               func(a *agent.Agent) { a.Context.Turns = -1 },
		"bytes":               func(a *agent.Agent) { a.Context.ResultBytes = -1 },
		"tokens of an answer": func(a *agent.Agent) { a.Model.MaxTokens = -1 },
		"timeout":             func(a *agent.Agent) { a.Model.TimeoutMS = 1 << 62 },
		"price":               func(a *agent.Agent) { a.Model.Prices = &agent.Prices{Input: -1} },
	} {
		a := scripted(`replies: [{say: x}]`)
		change(&a)
		if _, err := a.Spec("task", []runtime.Module{shop}, hostfuncs.Grants{}, toolabi.Limits{}); err == nil {
			t.Errorf("%s: a run was made", name)
		}
		text, err := a.Pin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Unpin(text); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
}
