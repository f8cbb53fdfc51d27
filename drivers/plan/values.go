package plan

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/jq"
)

// template reads a value with expressions.
func (p *parser) template(n *yaml.Node) template {
	switch n.Kind {
	case yaml.SequenceNode:
		l := make(list, len(n.Content))
		for i, c := range n.Content {
			l[i] = p.template(c)
		}
		return l
	case yaml.MappingNode:
		return p.object(n)
	}
	v, wrong := scalar(n)
	if wrong != "" {
		p.fail(n, "%s", wrong)
	}
	if s, ok := v.(string); ok {
		return p.text(n, s)
	}
	return fixed{v}
}

func (p *parser) object(n *yaml.Node) template {
	o := make(object, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if strings.Contains(k.Value, "${") {
			p.fail(k, "expressions are not evaluated in keys; give the whole mapping by an expression")
		}
		o = append(o, field{key: k.Value, value: p.template(n.Content[i+1])})
	}
	return o
}

// text reads a string: one expression gives its value, several or some among text give text.
func (p *parser) text(n *yaml.Node, s string) template {
	pieces, err := split(s)
	if err != nil {
		p.fail(n, "%v", err)
	}
	var parts text
	for _, piece := range pieces {
		if piece.expr {
			parts = append(parts, p.expr(n, piece.text))
		} else {
			parts = append(parts, fixed{piece.text})
		}
	}
	switch len(parts) {
	case 0:
		return fixed{""}
	case 1:
		return parts[0]
	}
	return parts
}

// condition reads what stands behind "if": one expression, or true or false. Text is refused: it would always hold.
func (p *parser) condition(n *yaml.Node) template {
	if n.Kind == yaml.ScalarNode {
		v, _ := scalar(n)
		if b, ok := v.(bool); ok {
			return fixed{b}
		}
	}
	return p.single(n, `"if"`, `one expression, "${ … }"`)
}

// single reads what has to be exactly one expression.
func (p *parser) single(n *yaml.Node, what, want string) template {
	if n.Kind == yaml.ScalarNode {
		v, _ := scalar(n)
		s, _ := v.(string)
		if pieces, err := split(strings.TrimSpace(s)); err == nil && len(pieces) == 1 && pieces[0].expr {
			return p.expr(n, pieces[0].text)
		}
	}
	p.fail(n, "%s has to be %s, this is %s", what, want, describe(n))
	return fixed{}
}

// compiled is what came of an expression.
type compiled struct {
	code *jq.Expr
	seen jq.Refs
	err  error
}

func (p *parser) expr(n *yaml.Node, s string) template {
	c, ok := p.exprs[s]
	if !ok {
		if len(p.exprs) >= MaxExprs {
			p.fail(n, "the plan has more than %d different expressions", MaxExprs)
			return fixed{}
		}
		c.code, c.seen, c.err = compile(s)
		p.exprs[s] = c
	}
	if c.err != nil {
		p.fail(n, "${ %.200s }: %s", s, p.reason(c))
		return fixed{}
	}
	for _, name := range c.seen.Names {
		if wrong := p.unknown(name); wrong != "" {
			p.fail(n, "${ %.200s }: %s", s, wrong)
		}
	}
	p.plan.needs.add(c.seen)
	return &expr{line: n.Line, column: n.Column, text: s, seen: c.seen, code: c.code}
}

// reason says why an expression could not be compiled. A hyphen in a step's id is the likeliest cause when something
// is not defined.
func (p *parser) reason(c compiled) string {
	for _, name := range c.seen.Names {
		if hint := p.hyphen(name); hint != "" {
			return hint
		}
	}
	return c.err.Error()
}
