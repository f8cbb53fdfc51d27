package script

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/internal/strictyaml"
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
	v, wrong := strictyaml.Scalar(n)
	if wrong != "" {
		p.Fail(n, "%s", wrong)
	}
	if s, ok := v.(string); ok {
		return p.pieces(n, s, false)
	}
	return fixed{v}
}

func (p *parser) object(n *yaml.Node) template {
	o := make(object, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if strings.Contains(k.Value, "${") {
			p.Fail(k, "expressions are not evaluated in keys; give the whole mapping by an expression")
		}
		o = append(o, field{key: k.Value, value: p.template(n.Content[i+1])})
	}
	return o
}

// pieces reads a string: one expression gives its value, several or some among text give text. With bytes, \xNN in what
// stands between them is a byte.
func (p *parser) pieces(n *yaml.Node, s string, bytes bool) template {
	found, err := jq.Split(s)
	if err != nil {
		p.Fail(n, "%v", err)
	}
	var parts text
	for _, piece := range found {
		switch {
		case piece.Expr:
			parts = append(parts, p.expr(n, piece.Text))
		case bytes:
			parts = append(parts, fixed{unescape(piece.Text)})
		default:
			parts = append(parts, fixed{piece.Text})
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

// textOf reads what the model writes, which need not be UTF-8.
func (p *parser) textOf(n *yaml.Node, field string) template {
	if s, ok := str(n); ok {
		return p.pieces(n, s, true)
	}
	p.Fail(n, "%q has to be a string, this is %s", field, strictyaml.Describe(n))
	return fixed{""}
}

// stringOf reads a string with expressions that is not empty.
func (p *parser) stringOf(n *yaml.Node, what string) template {
	if s, ok := str(n); ok && s != "" {
		return p.pieces(n, s, false)
	}
	p.Fail(n, "%s has to be a string, this is %s", what, strictyaml.Describe(n))
	return fixed{""}
}

func str(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		return "", false
	}
	v, wrong := strictyaml.Scalar(n)
	s, ok := v.(string)
	return s, ok && wrong == ""
}

// single reads a string that is one expression, or returns nil.
func (p *parser) single(n *yaml.Node) template {
	s, ok := str(n)
	if !ok {
		return nil
	}
	found, err := jq.Split(strings.TrimSpace(s))
	if err != nil || len(found) != 1 || !found[0].Expr {
		return nil
	}
	return p.expr(n, found[0].Text)
}

// condition reads what stands behind "when": an expression with or without its ${ }, or true or false.
func (p *parser) condition(n *yaml.Node) *expr {
	if n.Kind == yaml.ScalarNode {
		switch v, _ := strictyaml.Scalar(n); v := v.(type) {
		case bool:
			if v {
				return nil
			}
			return never
		case string:
			found, err := jq.Split(strings.TrimSpace(v))
			switch {
			case err == nil && len(found) == 1 && found[0].Expr:
				return p.expr(n, found[0].Text)
			case !strings.Contains(v, "${") && strings.TrimSpace(v) != "":
				return p.expr(n, strings.TrimSpace(v))
			}
		}
	}
	p.Fail(n, `"when" has to be one expression, this is %s`, strictyaml.Describe(n))
	return never
}

// place is where expressions stand, and what a script does that wants what they cannot have.
var place = jq.Place{Name: "a script", Hints: map[string]string{
	"now":    "the same request always gets the same answer",
	"input":  "the context is .",
	"inputs": "the context is .",
	"halt":   `use "when"`,
}}

func (p *parser) expr(n *yaml.Node, s string) *expr {
	code, looks, err := jq.Compile(s, place)
	if err != nil {
		p.Fail(n, "${ %.200s }: %v", s, err)
		return never
	}
	for _, name := range looks.Names {
		if !slices.Contains(contextFields, name) {
			p.Fail(n, "${ %.200s }: the context has no %+.60q%s", s, name, strictyaml.Suggest(name, contextFields))
		}
		p.script.seen.names[name] = true
	}
	p.script.seen.whole = p.script.seen.whole || looks.Whole
	return &expr{line: n.Line, text: s, code: code}
}
