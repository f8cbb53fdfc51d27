package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func specOf(t *testing.T, a agent.Agent, task string) *runtime.Spec {
	t.Helper()
	s, err := a.Spec(task, []runtime.Module{shop}, hostfuncs.Grants{}, toolabi.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// Whatever of an agent is changed is refused, with the line that shows it.
func TestEveryChangeOfAnAgentIsShown(t *testing.T) {
	first := agent.Agent{
		Name: "a", Instructions: "be quick\nbe kind\nbe brief", Tools: []string{"shop.send"},
		Model: agent.Model{Protocol: "openai", Name: "x", Prices: &agent.Prices{Input: 1, Output: 2}},
	}
	for want, change := range map[string]func(*agent.Agent){
		"-name: a\n+name: b":                       func(a *agent.Agent) { a.Name = "b" },
		"   be quick\n-  be kind\n+  be rude\n":    func(a *agent.Agent) { a.Instructions = "be quick\nbe rude\nbe brief" },
		"-model: openai/x\n+model: openai/y":       func(a *agent.Agent) { a.Model.Name = "y" },
		"+base url: http://x":                      func(a *agent.Agent) { a.Model.BaseURL = "http://x" },
		"+key: env:X":                              func(a *agent.Agent) { a.Model.Key = "env:X" },
		"+max_tokens: 5":                           func(a *agent.Agent) { a.Model.MaxTokens = 5 },
		"+temperature: 0":                          func(a *agent.Agent) { a.Model.Temperature = "0" },
		"+stream: false":                           func(a *agent.Agent) { a.Model.Whole = true },
		"+timeout in ms: 5":                        func(a *agent.Agent) { a.Model.TimeoutMS = 5 },
		"+retry: 2 attempts, 0 ms, at most 0 ms":   func(a *agent.Agent) { a.Model.Retry.Attempts = 2 },
		"+prices: input 0.000001, output 0.000003": func(a *agent.Agent) { a.Model.Prices = &agent.Prices{Input: 1, Output: 3} },
		"+script:\n+  replies: []":                 func(a *agent.Agent) { a.Model.Script = "replies: []\n" },
		"+tool: shop.echo":                         func(a *agent.Agent) { a.Tools = []string{"shop.send", "shop.echo"} },
		"+rules:\n+  rules: []":                    func(a *agent.Agent) { a.Rules = "rules: []\n" },
		"+limit of steps: 7":                       func(a *agent.Agent) { a.Limits.Steps = 7 },
		"+limit of tokens: 7":                      func(a *agent.Agent) { a.Limits.Tokens = 7 },
		"+limit of cost: 0.000007":                 func(a *agent.Agent) { a.Limits.Cost = 7 },
		"+limit of time in ms: 7":                  func(a *agent.Agent) { a.Limits.TimeMS = 7 },
		"+calls of an answer: 7":                   func(a *agent.Agent) { a.Limits.Calls = 7 },
		"+calls at once: 7":                        func(a *agent.Agent) { a.Limits.Parallel = 7 },
		"+repeats: 7":                              func(a *agent.Agent) { a.Limits.Repeats = 7 },
		"+turns in the context: 7":                 func(a *agent.Agent) { a.Context.Turns = 7 },
		"+bytes of a result in the context: 700":   func(a *agent.Agent) { a.Context.ResultBytes = 700 },
	} {
		now := first
		change(&now)
		err := agent.Changed("r", specOf(t, first, "task"), specOf(t, now, "task"))
		var changed *agent.ChangedError
		if !errors.As(err, &changed) || !strings.Contains(changed.Diff, want) || !strings.HasPrefix(changed.Diff, "--- run r\n+++ now\n@@ ") {
			t.Errorf("want %s\ngot %v", want, err)
			if changed != nil {
				t.Log(changed.Diff)
			}
		}
	}
	if err := agent.Changed("r", specOf(t, first, "task"), specOf(t, first, "task")); err != nil {
		t.Errorf("the same agent is another one: %v", err)
	}
	if err := agent.Changed("r", specOf(t, first, "task"), specOf(t, first, "another task")); err == nil {
		t.Error("another task is not noticed")
	}
}
