package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// MaxTask is how long a task may be, in bytes.
const MaxTask = 4 << 20

// Spec returns what a run of the agent is made of that has a task and may call these modules. Errors: what is wrong with the
// agent, such as a tool that none of the modules has.
func (a *Agent) Spec(task string, modules []runtime.Module, grants hostfuncs.Grants, limits toolabi.Limits) (runtime.Spec, error) {
	if len(task) > MaxTask {
		return runtime.Spec{}, fmt.Errorf("the task has %d bytes, at most %d are allowed", len(task), MaxTask)
	}
	if err := a.check(); err != nil {
		return runtime.Spec{}, err
	}
	if _, err := offer(a.Tools, modules); err != nil {
		return runtime.Spec{}, err
	}
	if _, err := newJudge("", a.Rules); err != nil {
		return runtime.Spec{}, err
	}
	plan, err := a.Pin()
	if err != nil {
		return runtime.Spec{}, err
	}
	input, err := encodeText(task)
	if err != nil {
		return runtime.Spec{}, fmt.Errorf("the task: %w", err)
	}
	return runtime.Spec{
		Driver: Name, Version: Version, Plan: plan, Input: input, Modules: modules, Grants: grants, Limits: limits,
	}, nil
}

// encodeText writes text as a JSON string, as it is.
func encodeText(s string) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// offered is a tool that a model is told of.
type offered struct {
	name   string // the model's name of it
	full   string // "module.tool"
	module runtime.Module
	tool   toolabi.Tool
}

// ModelName is the name under which a model knows a tool, "module.tool": providers allow no dot in it. No two tools have the
// same, because there is no _ in the name of a module.
func ModelName(full string) string { return strings.Replace(full, ".", "_", 1) }

// offer finds the tools among the modules.
func offer(tools []string, modules []runtime.Module) ([]*offered, error) {
	var all []*offered
	for _, full := range tools {
		module, name, _ := strings.Cut(full, ".")
		i := slices.IndexFunc(modules, func(m runtime.Module) bool { return m.Name == module })
		if i < 0 {
			return nil, fmt.Errorf("the agent's tool %s: the run has no module %q", full, module)
		}
		t, ok := modules[i].Manifest.Tool(name)
		if !ok {
			return nil, fmt.Errorf("the agent's tool %s: module %s has no such tool", full, module)
		}
		o := &offered{name: ModelName(full), full: full, module: modules[i], tool: t}
		if len(o.name) > maxToolName {
			return nil, fmt.Errorf("the agent's tool %s: its name %s has %d characters, and models take at most %d: give the module a shorter name",
				full, o.name, len(o.name), maxToolName)
		}
		all = append(all, o)
	}
	return all, nil
}

// maxToolName is how long the name of a tool may be that a model knows.
const maxToolName = 64

// told is what the model is told of the tools.
func told(all []*offered) []model.Tool {
	tools := make([]model.Tool, len(all))
	for i, o := range all {
		tools[i] = model.Tool{Name: o.name, Description: o.tool.Description, Input: json.RawMessage(o.tool.Input)}
	}
	return tools
}

// OfferedBy returns the tools of a module, and which of them the engine uses by itself: to look up what became of a call of
// another tool, or to undo one.
func OfferedBy(m *toolabi.Manifest) Offers {
	o := Offers{Behind: map[string]bool{}}
	for _, t := range m.Tools {
		o.Tools = append(o.Tools, t.Name)
		for _, behind := range []string{t.Lookup, t.Compensate} {
			if behind != "" {
				o.Behind[behind] = true
			}
		}
	}
	return o
}
