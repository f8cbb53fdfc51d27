package policy

import (
	"crypto/sha256"
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// Parse reads a policy and judges everything about it that can be judged without a call. The error joins up to twenty
// *Error, one for each mistake.
func Parse(text []byte) (*Policy, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "policy", MaxBytes: MaxBytes, MaxDepth: MaxDepth})
	p := &parser{policy: &Policy{digest: sha256.Sum256(text), fallback: Allow}, Reader: strictyaml.Found(found)}
	if p.Count() == 0 {
		p.top(top)
	}
	if p.Count() > 0 {
		return nil, joined(p.Mistakes())
	}
	return p.policy, nil
}

// parser builds a policy from nodes that were vetted, and collects what is wrong.
type parser struct {
	policy *Policy
	strictyaml.Reader
}

// joined are mistakes as errors of this package.
func joined(mistakes []*strictyaml.Mistake) error {
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = (*Error)(m)
	}
	return errors.Join(errs...)
}

func (p *parser) top(n *yaml.Node) {
	f := p.Fields(n, "a policy", []string{"rules", "default"})
	if f == nil {
		return
	}
	if len(f) == 0 {
		p.Fail(n, `a policy needs "rules" or "default"`)
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
		p.Fail(n, `"rules" has to be a list, this is %s`, strictyaml.Describe(n))
		return
	}
	if len(n.Content) > MaxRules {
		p.Fail(n, `"rules" has %d rules, at most %d are allowed`, len(n.Content), MaxRules)
		return
	}
	for _, c := range n.Content {
		if p.Full() {
			return
		}
		p.rule(c)
	}
}
