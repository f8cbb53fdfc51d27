package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// Parse reads a plan and judges everything about it that can be judged without running it. The error joins up to
// twenty *Error, one for each mistake.
func Parse(text []byte) (*Plan, error) {
	top, errs := load(text)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p := &parser{
		plan:    &Plan{},
		known:   make(map[string]bool),
		exprs:   make(map[string]compiled),
		places:  make(map[string]place),
		read:    make(map[string]int),
		visible: make(map[string]int),
		width:   1,
	}
	p.top(top)
	if len(p.errs) > 0 {
		return nil, inOrder(p.errs)
	}
	return p.plan, nil
}

// parser builds a plan from nodes that were vetted, and collects what is wrong.
type parser struct {
	plan  *Plan
	errs  []*Error
	step  string              // the id of the step that is being read, or ""
	known map[string]bool     // the modules in "tools"
	exprs map[string]compiled // so that what is written often is compiled once

	places  map[string]place // where all steps stand, by their ids
	read    map[string]int   // the steps that were read, and their lines
	visible map[string]int   // what expressions may use here, steps and what loops declare, and its lines
	shown   []journal.Step   // the steps of visible, in the order of the plan
	path    path             // the blocks around what is being read
	steps   int              // how many steps there are so far
	width   int              // how many of what is being read may be under way at once
}

// inOrder joins the errors in the order of the file.
func inOrder(errs []*Error) error {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	joined := make([]error, len(errs))
	for i, e := range errs {
		joined[i] = e
	}
	return errors.Join(joined...)
}

func (p *parser) full() bool { return len(p.errs) >= maxErrors }

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	p.failAt(n.Line, n.Column, format, args...)
}

func (p *parser) failAt(line, column int, format string, args ...any) {
	if !p.full() {
		p.errs = append(p.errs, &Error{Line: line, Column: column, Step: p.step, Message: fmt.Sprintf(format, args...)})
	}
}

func (p *parser) top(n *yaml.Node) {
	f := p.fields(n, "a plan", []string{"name", "tools", "input", "steps", "output"})
	if f == nil {
		return
	}
	if v := f["name"]; v != nil {
		p.plan.name = p.name(v)
	}
	if v := f["tools"]; v != nil {
		p.sources(v)
	}
	if v := f["input"]; v != nil {
		p.schema(v)
	}
	if v := f["steps"]; v != nil {
		p.findSteps(v, nil)
		p.plan.steps = p.list(v, `"steps"`)
	} else {
		p.fail(n, `a plan needs "steps"`)
	}
	if v := f["output"]; v != nil {
		p.plan.output = p.template(v)
	}
}

// fields are the values of a mapping by their keys.
type fields map[string]*yaml.Node

// fields reads a mapping whose keys must be among those known; nil when it is none.
func (p *parser) fields(n *yaml.Node, what string, known []string) fields {
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s has to be a mapping, this is %s", what, describe(n))
		return nil
	}
	f := make(fields, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(known, k.Value) {
			p.fail(k, "unknown field %.60q%s", k.Value, suggest(k.Value, known))
			continue
		}
		f[k.Value] = n.Content[i+1]
	}
	return f
}

// str reads a string; "" after a mistake.
func (p *parser) str(n *yaml.Node, what string) string {
	if n.Kind == yaml.ScalarNode {
		v, wrong := scalar(n)
		if s, ok := v.(string); ok && wrong == "" && s != "" {
			return s
		}
	}
	p.fail(n, "%s has to be a string, this is %s", what, describe(n))
	return ""
}

func (p *parser) name(n *yaml.Node) string {
	s := p.str(n, `"name"`)
	if utf8.RuneCountInString(s) > 128 || strings.ContainsFunc(s, unicode.IsControl) {
		p.fail(n, `"name" has to be at most 128 characters, none of them a control character`)
	}
	return s
}

// schema keeps the JSON Schema of the input. Expressions mean nothing in it.
func (p *parser) schema(n *yaml.Node) {
	v, wrong := literal(n)
	if wrong != nil {
		p.failAt(wrong.Line, wrong.Column, "%s", wrong.Message)
		return
	}
	switch v.(type) {
	case map[string]any, bool:
	default:
		p.fail(n, `"input" has to be a JSON Schema, this is %s`, describe(n))
		return
	}
	var err error
	if p.plan.schema, err = encode(v); err != nil {
		p.fail(n, `"input" is no JSON Schema: %v`, err)
	}
}
