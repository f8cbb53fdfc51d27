package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// errorField is the field of the context that holds what failed, in the steps of "on_error".
const errorField = "error"

// show makes steps known to the expressions that follow.
func (p *parser) show(ids ...journal.Step) {
	for _, id := range ids {
		p.visible[string(id)] = max(1, p.read[string(id)])
	}
	p.shown = append(p.shown, ids...)
}

// since returns the steps that became known since as many were.
func (p *parser) since(mark int) []journal.Step { return slices.Clone(p.shown[mark:]) }

// hide makes the steps that became known since then unknown, and returns them.
func (p *parser) hide(mark int) []journal.Step {
	ids := p.since(mark)
	for _, id := range ids {
		delete(p.visible, string(id))
	}
	p.shown = p.shown[:mark]
	return ids
}

// declare makes a field known that is no step, until forget is called. Only .error may stand inside of another .error.
func (p *parser) declare(n *yaml.Node, name string) (forget func()) {
	before := p.visible[name]
	if s, taken := p.places[name]; taken {
		p.fail(n, "there is a step %q, on line %d, and .%s has to be something else here", name, s.line, name)
	} else if before != 0 && name != errorField {
		p.fail(n, "there is a .%s already, of the loop on line %d", name, before)
	}
	p.visible[name] = n.Line
	return func() {
		if before == 0 {
			delete(p.visible, name)
		} else {
			p.visible[name] = before
		}
	}
}

// hyphen says how jq spells the id of a step of which it sees only the beginning, or "".
func (p *parser) hyphen(name string) string {
	if _, ok := p.places[name]; ok {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(p.places)) {
		if strings.HasPrefix(id, name+"-") {
			return fmt.Sprintf(`there is no step %q; in jq the step %q is written .[%q]`, name, id, id)
		}
	}
	return ""
}

// unknown says why there is no such field in the context, or "". Only the input, what the loops around it declare, and the
// steps before it are there.
func (p *parser) unknown(name string) string {
	if p.full() || name == inputField || p.visible[name] != 0 {
		return ""
	}
	if s, ok := p.places[name]; ok {
		if name == p.step {
			return fmt.Sprintf(".%s is this step itself; only steps before it are known", name)
		}
		return fmt.Sprintf(".%s is %s", name, p.hidden(name, s))
	}
	if hint := p.hyphen(name); hint != "" {
		return hint
	}
	known := append(slices.Sorted(maps.Keys(p.visible)), inputField)
	return fmt.Sprintf(".%.60s is neither .input nor a step before%s", name, suggest(name, known))
}

// hidden says why a step that is somewhere in the plan is not known here.
func (p *parser) hidden(name string, s place) string {
	common := 0
	for common < len(p.path) && common < len(s.path) && p.path[common] == s.path[common] {
		common++
	}
	there := s.path[common:]
	if common < len(p.path) && len(there) > 0 && p.path[common].block == there[0].block {
		switch here := p.path[common]; {
		case here.kind == "parallel" && there[0].kind == "parallel":
			return fmt.Sprintf("in another branch, on line %d; branches run at once and do not see each other", s.line)
		case here.kind == "else" && there[0].kind == "steps", here.kind == "steps" && there[0].kind == "else":
			return fmt.Sprintf("on the other side of the condition, on line %d; only one of the two is executed", s.line)
		}
	}
	for _, b := range p.path {
		if peekID(b.block) != nil && peekID(b.block).Value == name {
			return fmt.Sprintf("the step around this one, on line %d; its output is known behind it", s.line)
		}
	}
	for _, b := range there {
		if b.kind == "for_each" && p.read[name] != 0 {
			return fmt.Sprintf("inside the loop on line %d, and known only there; the id of the loop stands for the list of its results", b.block.Line)
		}
	}
	return fmt.Sprintf("a later step, on line %d; only steps before this one are known", s.line)
}
