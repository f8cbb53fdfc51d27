package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/modref"
	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/policy"
)

// The caps of an agent's file.
const (
	// MaxBytes is the longest file, in bytes, and MaxDepth how deep its lists and mappings may nest.
	MaxBytes = 1 << 20
	MaxDepth = 32
	// MaxTools is how many tools a model may be told of.
	MaxTools = 256
)

// Error is one thing that is wrong with the text of an agent's file. Parse returns them joined, in the order of the file.
type Error strictyaml.Mistake

// Error returns "line 7, column 3: message".
func (e *Error) Error() string { return (*strictyaml.Mistake)(e).Error() }

// Source says where a module comes from.
type Source = modref.Source

// File is an agent's file that was found to be in order. What it names is not read yet.
type File struct {
	// Agent is what the file says. Its model has no script yet, and its tools are those of Tools.
	Agent Agent
	// Script is the file with the replies of a scripted model, relative to the agent's file, with forward slashes; "" for none.
	Script string
	// Sources says where the modules come from, in the order of the file.
	Sources []Source
	uses    map[string][]string // the tools that are named, by module; none means all
	rules   *policy.Policy      // with the lines of the file; nil for none
}

// Parse reads an agent's file and judges everything about it that can be judged by itself. The error joins up to twenty
// *Error, one for each mistake.
func Parse(text []byte) (*File, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "agent", MaxBytes: MaxBytes, MaxDepth: MaxDepth})
	p := &parser{file: &File{uses: map[string][]string{}}, text: text, Reader: strictyaml.Found(found)}
	if p.Count() == 0 {
		p.top(top)
	}
	if p.Count() == 0 {
		return p.file, nil
	}
	var errs []error
	for _, m := range p.Mistakes() {
		errs = append(errs, (*Error)(m))
	}
	return nil, errors.Join(errs...)
}

// parser builds a file from nodes that were vetted, and collects what is wrong.
type parser struct {
	file *File
	text []byte
	strictyaml.Reader
}

func (p *parser) top(n *yaml.Node) {
	known := []string{"name", "model", "instructions", "tools", "rules", "limits", "context"}
	f := p.Fields(n, "an agent", known)
	if f == nil {
		return
	}
	a := &p.file.Agent
	if v := f["name"]; v != nil {
		a.Name = p.Str(v, "name")
	}
	if v := f["instructions"]; v != nil {
		a.Instructions = p.Str(v, "instructions")
	}
	if v := f["model"]; v != nil {
		p.model(v)
	} else {
		p.Fail(n, `an agent needs "model": scripted, openai/NAME or anthropic/NAME`)
	}
	if v := f["tools"]; v != nil {
		p.tools(v)
	}
	if v := f["rules"]; v != nil {
		p.rules(n, v)
	}
	if v := f["limits"]; v != nil {
		p.limits(v)
	}
	if v := f["context"]; v != nil {
		p.context(v)
	}
}

// tools reads where the modules come from, and which of their tools the model is told of.
func (p *parser) tools(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.Fail(n, `"tools" has to be a mapping from modules to where they come from, this is %s`, strictyaml.Describe(n))
		return
	}
	for i := 0; i < len(n.Content) && !p.Full(); i += 2 {
		name, v := n.Content[i], n.Content[i+1]
		if !modref.IsModule(name.Value) {
			p.Fail(name, "%+.80q is no name of a module: want lower-case letters, digits and inner hyphens, at most 64", name.Value)
			continue
		}
		p.module(name, v)
	}
}

func (p *parser) module(name, n *yaml.Node) {
	from := n
	if n.Kind == yaml.MappingNode {
		f := p.Fields(n, "a module", []string{"from", "use"})
		if from = f["from"]; from == nil {
			p.Fail(n, `a module needs "from": a file, or the name of a module that was added`)
			return
		}
		if v := f["use"]; v != nil {
			p.file.uses[name.Value] = p.use(name.Value, v)
		}
	}
	words := p.Str(from, "from")
	if words == "" {
		return
	}
	source, wrong := modref.Read("the agent", name.Value, words, name.Line)
	if wrong != "" {
		p.Fail(from, "%s", wrong)
	}
	p.file.Sources = append(p.file.Sources, source)
}

// use reads a list of tools of a module.
func (p *parser) use(module string, n *yaml.Node) (tools []string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.Fail(n, `"use" has to be a list of tools, this is %s`, strictyaml.Describe(n))
		return nil
	}
	for _, c := range n.Content {
		tool := p.Str(c, "use")
		switch {
		case tool == "":
		case !modref.IsTool(module + "." + tool):
			p.Fail(c, "%+.80q is no name of a tool", tool)
		case slices.Contains(tools, tool):
			p.Fail(c, "tool %q is there twice", tool)
		}
		tools = append(tools, tool)
	}
	return tools
}

func (p *parser) context(n *yaml.Node) {
	f := p.Fields(n, `"context"`, []string{"turns", "result_bytes"})
	w := &p.file.Agent.Context
	if v := f["turns"]; v != nil {
		w.Turns = int(p.Number(v, "turns", 1, MaxSteps))
	}
	if v := f["result_bytes"]; v != nil {
		w.ResultBytes = int(p.Number(v, "result_bytes", 100, 16<<20))
	}
}

// UnknownToolError says that a module does not have a tool that an agent's file names.
type UnknownToolError struct {
	// Line is where the module is named, from 1.
	Line       int
	Tool       string
	Candidates []string
}

// Error says which, and which there are.
func (e *UnknownToolError) Error() string {
	return fmt.Sprintf("line %d: there is no tool %s%s; the module has %s", e.Line, e.Tool,
		strictyaml.Suggest(e.Tool, e.Candidates), strings.Join(e.Candidates, ", "))
}

// IdleRuleError says that a rule of an agent's file is about no tool that the agent has, so that it would stop nothing.
type IdleRuleError struct {
	// Line is where the rule begins, from 1.
	Line int
	// Tool is what the rule is about, and Tools are those that the agent has.
	Tool  string
	Tools []string
}

// Error says which, and what the agent has.
func (e *IdleRuleError) Error() string {
	return fmt.Sprintf("line %d: no call is about this rule: the agent has no tool %s%s; it has %s", e.Line, e.Tool,
		strictyaml.Suggest(e.Tool, e.Tools), strings.Join(e.Tools, ", "))
}

// With returns the agent with the script of its model, and with its tools. has are the tools of each module, by the name that
// the file gives to it; those are left out that nobody named and that the engine uses by itself. Errors: *UnknownToolError,
// *IdleRuleError.
func (f *File) With(script string, has map[string]Offers) (*Agent, error) {
	a := f.Agent
	a.Model.Script = script
	for _, s := range f.Sources {
		offers := has[s.Name]
		tools := f.uses[s.Name]
		if tools == nil {
			tools = offers.forModels()
		}
		for _, t := range tools {
			if !slices.Contains(offers.Tools, t) {
				return nil, &UnknownToolError{s.Line, s.Name + "." + t, offers.full(s.Name)}
			}
			a.Tools = append(a.Tools, s.Name+"."+t)
		}
	}
	if len(a.Tools) > MaxTools {
		return nil, fmt.Errorf("the agent has %d tools, at most %d are allowed: name those that it needs under \"use\"", len(a.Tools), MaxTools)
	}
	if f.rules != nil {
		if line, tool, ok := f.rules.Idle(a.Tools); ok {
			return nil, &IdleRuleError{line, tool, a.Tools}
		}
	}
	return &a, nil
}

// Offers are the tools of a module, in the order of its manifest, and those of them that other tools are looked up or undone
// with.
type Offers struct {
	Tools  []string
	Behind map[string]bool
}

// forModels are the tools that a model is told of when nobody says which.
func (o Offers) forModels() []string {
	return slices.DeleteFunc(slices.Clone(o.Tools), func(t string) bool { return o.Behind[t] })
}

func (o Offers) full(module string) []string {
	names := map[string]bool{}
	for _, t := range o.Tools {
		names[module+"."+t] = true
	}
	return slices.Sorted(maps.Keys(names))
}
