package plan

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

func (p *parser) steps(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, `"steps" has to be a list, this is %s`, describe(n))
		return
	}
	if len(n.Content) == 0 || len(n.Content) > MaxSteps {
		p.fail(n, `"steps" has %d steps; 1 to %d are allowed`, len(n.Content), MaxSteps)
		return
	}
	for _, c := range n.Content {
		if id := peekID(c); id != nil && p.later[id.Value] == 0 {
			p.later[id.Value] = id.Line
		}
	}
	for _, c := range n.Content {
		if p.full() {
			return
		}
		p.plan.steps = append(p.plan.steps, p.oneStep(c))
		p.step = ""
	}
}

// peekID returns the node of a step's id, or nil.
func peekID(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == "id" {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

func (p *parser) oneStep(n *yaml.Node) step {
	if id := peekID(n); id != nil && id.Kind == yaml.ScalarNode && checkID(id.Value) == "" {
		p.step = id.Value
	}
	k, known := kindOf(n)
	f := p.fields(n, "a step", known)
	if f == nil {
		return step{}
	}
	s := step{id: p.id(n, f["id"])}
	if c := f["if"]; c != nil {
		s.cond = p.condition(c)
	}
	if k == nil {
		p.fail(n, `a step needs "tool"`)
	} else {
		s.act = k.parse(p, f)
	}
	if s.id != "" && p.ids[string(s.id)] == 0 {
		p.ids[string(s.id)] = n.Line
	}
	return s
}

// kindOf finds the kind of a step by the field that makes it one, and the fields that it may have.
func kindOf(n *yaml.Node) (*kind, []string) {
	known := slices.Clone(common)
	for i := range kinds {
		for j := 0; n.Kind == yaml.MappingNode && j < len(n.Content); j += 2 {
			if n.Content[j].Value == kinds[i].field {
				return &kinds[i], append(append(known, kinds[i].field), kinds[i].with...)
			}
		}
	}
	for _, k := range kinds {
		known = append(append(known, k.field), k.with...)
	}
	return nil, known
}

func (p *parser) id(step, n *yaml.Node) journal.Step {
	if n == nil {
		p.fail(step, `a step needs "id"`)
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
	if line := p.ids[s]; line != 0 {
		p.fail(n, "the id %q is there twice; the first is on line %d", s, line)
	}
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
