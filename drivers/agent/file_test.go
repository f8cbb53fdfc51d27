package agent_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/toolabi"
)

const whole = `name: cashier
model:
  use: anthropic/claude-x
  max_tokens: 100
  temperature: 0.5
  stream: false
  timeout: 90s
  retry: { attempts: 2, backoff: 1s, max_backoff: 5s }
  prices: { input: 3, output: 15.5, cache_read: 0.3 }
instructions: be quick
tools:
  payments: { from: ./payments.wasm, use: [charge, find] }
  text: text
rules: # who may do what
  - tool: payments.charge
    do: ask
limits: { steps: 5, tokens: 1000, cost: 0.25, time: 1h, calls: 3, parallel: 2, repeats: 4 }
context: { turns: 7, result_bytes: 1000 }
`

func TestAFileSaysWhatAnAgentIs(t *testing.T) {
	f, err := agent.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	read := int64(300_000)
	want := agent.Agent{
		Name: "cashier", Instructions: "be quick",
		Model: agent.Model{
			Protocol: "anthropic", Name: "claude-x", MaxTokens: 100, Temperature: "0.5", Whole: true, TimeoutMS: 90_000,
			Retry:  toolabi.RetryPolicy{Attempts: 2, BackoffMS: 1000, MaxBackoffMS: 5000},
			Prices: &agent.Prices{Input: 3_000_000, Output: 15_500_000, CacheRead: &read},
		},
		Limits:  agent.Limits{Steps: 5, Tokens: 1000, Cost: 250_000, TimeMS: 3_600_000, Calls: 3, Parallel: 2, Repeats: 4},
		Rules:   "rules: # who may do what\n  - tool: payments.charge\n    do: ask\n",
		Context: agent.Window{Turns: 7, ResultBytes: 1000},
	}
	if !reflect.DeepEqual(f.Agent, want) {
		t.Errorf("got  %+v\nwant %+v", f.Agent, want)
	}
	if len(f.Sources) != 2 || f.Sources[0].File != "./payments.wasm" || f.Sources[1].Added != "text" || f.Sources[0].Line != 12 {
		t.Errorf("modules: %+v", f.Sources)
	}
	a, err := f.With("", map[string]agent.Offers{
		"payments": {Tools: []string{"charge", "find", "refund"}},
		"text":     {Tools: []string{"upper", "undo"}, Behind: map[string]bool{"undo": true}},
	})
	if err != nil || strings.Join(a.Tools, " ") != "payments.charge payments.find text.upper" {
		t.Errorf("tools %q, %v", a.Tools, err)
	}
	var unknown *agent.UnknownToolError
	_, err = f.With("", map[string]agent.Offers{"payments": {Tools: []string{"charges", "find"}}})
	if !errors.As(err, &unknown) || err.Error() != `line 12: there is no tool payments.charge; did you mean "payments.charges"?; the module has payments.charges, payments.find` {
		t.Errorf("got %v", err)
	}
}

func TestARuleAboutNoToolOfTheAgentIsAMistake(t *testing.T) {
	has := map[string]agent.Offers{"payments": {Tools: []string{"charge", "find"}}}
	for rule, want := range map[string]string{
		"tool: payments.charge":              "",
		"tool: payments.*":                   "",
		"tool: \"*.charge\"":                 "",
		"tool: \"*.*\"":                      "",
		"{tool: payments.find, when: false}": "",
		"tool: payments.find":                `line 5: no call is about this rule: the agent has no tool payments.find; it has payments.charge`,
		"tool: payments.chrge":               `line 5: no call is about this rule: the agent has no tool payments.chrge; did you mean "payments.charge"?; it has payments.charge`,
		"tool: payment.*":                    `line 5: no call is about this rule: the agent has no tool payment.*; it has payments.charge`,
	} {
		rule = strings.TrimSuffix(rule, "}")
		if strings.HasPrefix(rule, "{") {
			rule += ", do: deny}"
		} else {
			rule += "\n    do: deny"
		}
		f, err := agent.Parse([]byte("model: openai/x\ntools:\n  payments: {from: payments, use: [charge]}\nrules:\n  - " + rule + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		var idle *agent.IdleRuleError
		if _, err = f.With("", has); err != nil {
			got = err.Error()
			if !errors.As(err, &idle) {
				t.Errorf("%s: got %T, want an *agent.IdleRuleError", rule, err)
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
}

func TestWhatIsPinnedIsReadAgainAsItWas(t *testing.T) {
	f, err := agent.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	a := f.Agent
	a.Tools, a.Model.Script, a.Instructions = []string{"x.y"}, "replies: <&>\u2028", "ünd \"so\" </script>"
	pinned, err := a.Pin()
	if err != nil {
		t.Fatal(err)
	}
	again, err := agent.Unpin(pinned)
	if err != nil || !reflect.DeepEqual(*again, a) {
		t.Fatalf("got %+v, %v", again, err)
	}
	if second, err := again.Pin(); err != nil || string(second) != string(pinned) {
		t.Errorf("pinned again it is\n%s\nand was\n%s", second, pinned)
	}
	for _, wrong := range []string{
		``, `null`, `[]`, `{"format":2,"agent":{"model":{"protocol":"openai"}}}`, `{"format":1,"agent":{"model":{"protocol":"openai"},"tool":[]}}`,
		string(pinned) + "{}", string(pinned[:len(pinned)/2]),
	} {
		if got, err := agent.Unpin([]byte(wrong)); err == nil {
			t.Errorf("%.80q is read as %+v", wrong, got)
		}
	}
}

func TestMistakesAreNamedWithTheirPlaces(t *testing.T) {
	for text, want := range map[string]string{
		``:                        `the agent is empty`,
		`tools: {}`:               `line 1, column 1: an agent needs "model"`,
		`model: gpt-4o`:           `line 1, column 8: the model "gpt-4o" has to begin with scripted, openai/ or anthropic/`,
		`model: openai/`:          `names no model behind openai/`,
		`model: openai/a b`:       `names no model behind openai/`,
		`model: opena/x`:          `did you mean "openai"?`,
		`model: scripted`:         `a scripted model needs "script"`,
		`model: scripted/x`:       `is scripted and has a name, which means nothing`,
		`model: {script: a.yaml}`: `"model" needs "use"`,
		`model: {use: scripted, script: ../a.yaml}`:                                  `leads out of the agent's directory`,
		`model: {use: openai/x, key: env:X}`:                                         `unknown field "key"`,
		`model: {use: openai/x, base_url: "http://x"}`:                               `unknown field "base_url"`,
		`model: {use: openai/x, temperature: 3}`:                                     `"temperature" has to be a number from 0 to 2, this is the number 3`,
		`model: {use: openai/x, stream: 1}`:                                          `"stream" has to be true or false`,
		`model: {use: openai/x, timeout: 5}`:                                         `"timeout" has to be a time such as`,
		`model: {use: openai/x, timeout: 0s}`:                                        `"timeout" has to be longer than nothing`,
		`model: {use: openai/x, retry: {backoff: 1s}}`:                               `"retry" needs "attempts"`,
		`model: {use: openai/x, retry: {attempts: 2, backoff: 2s, max_backoff: 1s}}`: `"max_backoff" is less than "backoff"`,
		`model: {use: openai/x, prices: {input: 1}}`:                                 `"prices" needs "input" and "output"`,
		`model: {use: openai/x, prices: {input: -1, output: 1}}`:                     `"input" has to be an amount such as 2.50`,
		"model: openai/x\nlimits: {cost: 1}":                                         `a limit of "cost" needs "prices" under "model"`,
		"model: openai/x\nlimits: {steps: 0}":                                        `"steps" has to be a whole number from 1 to`,
		"model: openai/x\nlimits: {step: 1}":                                         `unknown field "step"; did you mean "steps"?`,
		"model: openai/x\ntools: [a]":                                                `"tools" has to be a mapping`,
		"model: openai/x\ntools: {A: ./a.wasm}":                                      `"A" is no name of a module`,
		"model: openai/x\ntools: {a: {use: [x]}}":                                    `a module needs "from"`,
		"model: openai/x\ntools: {a: {from: ./a.wasm, use: []}}":                     `"use" has to be a list of tools`,
		"model: openai/x\ntools: {a: {from: ./a.wasm, use: [x, x]}}":                 `tool "x" is there twice`,
		"model: openai/x\ntools: {a: {from: ./a.wasm, use: [X]}}":                    `"X" is no name of a tool`,
		"model: openai/x\ntools: {a: /etc/a.wasm}":                                   `is absolute; it has to be relative to the agent`,
		"model: openai/x\ncontext: {turns: -1}":                                      `"turns" has to be a whole number from 1 to`,
		"model: openai/x\n\nrules:\n  - tool: a.b\n    do: maybe\n":                  `line 5, column 9: "do" has to be allow, ask or deny, this is "maybe"`,
		"{model: openai/x, rules: [{tool: a.b, do: ask}]}":                           `"rules" has to begin on a line of its own`,
		"model: openai/x\nrules: 7\nname: x":                                         `line 2, column 8: "rules" has to be a list`,
		"model: openai/x\nname: x\nname: y":                                          `line 3`,
	} {
		f, err := agent.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %v (%+v)\nwant %s", text, err, f, want)
		}
	}
}

func TestTheDocumentationsAgentsAreInOrder(t *testing.T) {
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pages {
		for _, group := range p.Groups("agent") {
			if _, err := agent.Parse([]byte(group[0].Text)); err != nil {
				t.Errorf("%s:%d: %v", p.File, group[0].Line, err)
			}
			found++
		}
	}
	if found < 2 {
		t.Fatalf("the pages have %d agents", found)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("model: openai/x\nrules:\n  - {tool: a.b, do: ask}\n...\n"))
	f.Add([]byte("\ufeffmodel: openai/x\nrules:\n\n# nothing\n  []\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := agent.Parse(text)
		if err != nil {
			return
		}
		pinned, err := file.Agent.Pin()
		if err != nil {
			t.Fatal(err)
		}
		again, err := agent.Unpin(pinned)
		if err != nil || !reflect.DeepEqual(*again, file.Agent) {
			t.Errorf("pinned and read again it is %+v, %v, and was %+v", again, err, file.Agent)
		}
	})
}
