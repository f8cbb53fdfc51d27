package policy

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// Parse reads a policy and judges everything about it that can be judged without a call. The error joins up to twenty
// *Error, one for each mistake.
func Parse(text []byte) (*Policy, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "policy", MaxBytes: MaxBytes, MaxDepth: MaxDepth})
	p := &parser{policy: &Policy{digest: sha256.Sum256(text), fallback: Allow}}
	for _, m := range found {
		p.errs = append(p.errs, (*Error)(m))
	}
	if len(p.errs) == 0 {
		p.top(top)
	}
	if len(p.errs) > 0 {
		return nil, inOrder(p.errs)
	}
	return p.policy, nil
}

// parser builds a policy from nodes that were vetted, and collects what is wrong.
type parser struct {
	policy *Policy
	errs   []*Error
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

func (p *parser) full() bool { return len(p.errs) >= strictyaml.MaxMistakes }

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	if !p.full() {
		p.errs = append(p.errs, &Error{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
	}
}

func (p *parser) top(n *yaml.Node) {
	f := p.fields(n, "a policy", []string{"rules", "default"})
	if f == nil {
		return
	}
	if len(f) == 0 {
		p.fail(n, `a policy needs "rules" or "default"`)
	}
	if v := f["rules"]; v != nil {
		p.rules(v)
	}
	if v := f["default"]; v != nil {
		p.policy.fallback = p.verdict(v, "default")
	}
}

func (p *parser) rules(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, `"rules" has to be a list, this is %s`, strictyaml.Describe(n))
		return
	}
	if len(n.Content) > MaxRules {
		p.fail(n, `"rules" has %d rules, at most %d are allowed`, len(n.Content), MaxRules)
		return
	}
	for _, c := range n.Content {
		if p.full() {
			return
		}
		p.rule(c)
	}
}

// fields reads a mapping whose keys must be among those known; nil when it is none.
func (p *parser) fields(n *yaml.Node, what string, known []string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s has to be a mapping, this is %s", what, strictyaml.Describe(n))
		return nil
	}
	f := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(known, k.Value) {
			p.fail(k, "unknown field %+.60q%s", k.Value, strictyaml.Suggest(k.Value, known))
			continue
		}
		f[k.Value] = n.Content[i+1]
	}
	return f
}

// str reads a string; "" after a mistake.
func (p *parser) str(n *yaml.Node, field string) string {
	if n.Kind == yaml.ScalarNode {
		v, wrong := strictyaml.Scalar(n)
		if s, ok := v.(string); ok && wrong == "" && s != "" {
			return s
		}
	}
	p.fail(n, "%q has to be a string, this is %s", field, strictyaml.Describe(n))
	return ""
}
