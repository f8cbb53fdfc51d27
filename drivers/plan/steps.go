package plan

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// list reads a list of steps. what names it.
func (p *parser) list(n *yaml.Node, what string) []step {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, `%s has to be a list, this is %s`, what, describe(n))
		return nil
	}
	if len(n.Content) == 0 || len(n.Content) > MaxSteps {
		p.fail(n, `%s has %d steps; 1 to %d are allowed`, what, len(n.Content), MaxSteps)
		return nil
	}
	steps := make([]step, 0, len(n.Content))
	for _, c := range n.Content {
		if p.full() || p.steps > MaxSteps {
			break
		}
		steps = append(steps, p.oneStep(c))
	}
	return steps
}

// inner reads the steps of a part of a block.
func (p *parser) inner(n *yaml.Node, at within, what string) []step {
	if len(p.path) >= MaxBlocks {
		p.fail(n, "these steps are inside of more than %d blocks", MaxBlocks)
		return nil
	}
	defer func(outer path) { p.path = outer }(p.path)
	p.path = p.path.in(at)
	if at.kind == "parallel" && n.Kind == yaml.MappingNode { // a branch of one step
		return []step{p.oneStep(n)}
	}
	return p.list(n, what)
}

func (p *parser) oneStep(n *yaml.Node) step {
	if p.steps++; p.steps > MaxSteps {
		p.fail(n, "the plan has more than %d steps", MaxSteps)
		return step{}
	}
	defer func(outer string) { p.step = outer }(p.step)
	p.step = ""
	if id := peekID(n); id != nil && id.Kind == yaml.ScalarNode && checkID(id.Value) == "" {
		p.step = id.Value
	}
	k, known := p.kindOf(n)
	f := p.fields(n, "a step", known)
	if f == nil {
		return step{}
	}
	if k == nil {
		p.fail(n, `a step needs one of %s`, kindList())
		k = &kind{}
	}
	mark := len(p.shown)
	st := step{id: p.id(n, f["id"], k.block)}
	if c := f["if"]; c != nil {
		st.cond = p.condition(c)
	}
	if k.parse != nil {
		st.act = k.parse(p, n, f)
	}
	if e := f["else"]; e != nil {
		st.otherwise = p.otherwise(n, e, f, mark)
	}
	if e := f["on_error"]; e != nil {
		st.rescue = p.rescue(n, e)
	}
	if st.id != "" {
		p.show(st.id)
	}
	st.names = p.since(mark)
	return st
}

// kindOf finds the kind of a step by the field that makes it one, and the fields that it may have. A second such field is
// a mistake; it is among the fields so that it is reported once.
func (p *parser) kindOf(n *yaml.Node) (found *kind, known []string) {
	known = slices.Clone(common)
	for _, k := range kinds() {
		of := append([]string{k.field}, k.with...)
		switch {
		case peek(n, k.field) == nil:
		case found == nil:
			found = &k
			known = append(known, of...)
		case !slices.Contains(known, k.field):
			p.fail(peek(n, k.field), "a step does one thing: %q does not go with %q", k.field, found.field)
			known = append(known, k.field)
		}
	}
	if found != nil {
		return found, known
	}
	for _, k := range kinds() {
		known = append(append(known, k.field), k.with...)
	}
	return nil, known
}

func kindList() string {
	var names []string
	for _, k := range kinds() {
		names = append(names, fmt.Sprintf("%q", k.field))
	}
	return strings.Join(names, ", ")
}

// id reads the id of a step, which a block need not have.
func (p *parser) id(step, n *yaml.Node, optional bool) journal.Step {
	if n == nil {
		if !optional {
			p.fail(step, `a step needs "id"`)
		}
		return ""
	}
	s := p.str(n, `"id"`)
	if s == "" {
		return ""
	}
	if wrong := checkID(s); wrong != "" {
		p.fail(n, "the id %.80q %s", s, wrong)
		return ""
	}
	if line := p.read[s]; line != 0 {
		p.fail(n, "the id %q is there twice; the first is on line %d", s, line)
		return ""
	}
	p.read[s] = step.Line
	return journal.Step(s)
}

// checkID says what is wrong with the id of a step, or "".
func checkID(s string) string {
	switch {
	case s == inputField:
		return "is taken: .input is the input of the plan"
	case strings.ContainsAny(s, "[~/") || journal.Step(s).Validate() != nil:
		return "is no name of a step: want letters, digits and _, inside also - and ., at most 64"
	}
	return ""
}
