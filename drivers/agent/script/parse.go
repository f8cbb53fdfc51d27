package script

import (
	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// Parse reads a script and judges everything about it that can be judged without a request. The error joins up to twenty
// *Error, one for each mistake.
func Parse(text []byte) (*Script, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "script", MaxBytes: MaxBytes, MaxDepth: MaxDepth})
	p := &parser{script: &Script{seen: seen{names: map[string]bool{}}}, Reader: strictyaml.Found(found)}
	if p.Count() == 0 {
		p.top(top)
	}
	if p.Count() > 0 {
		return nil, joined(p.Mistakes())
	}
	return p.script, nil
}

// parser builds a script from nodes that were vetted, and collects what is wrong.
type parser struct {
	script *Script
	strictyaml.Reader
}

func (p *parser) top(n *yaml.Node) {
	f := p.Fields(n, "a script", []string{"replies"})
	if f == nil {
		return
	}
	v := f["replies"]
	switch {
	case v == nil:
		p.Fail(n, `a script needs "replies"`)
	case v.Kind != yaml.SequenceNode:
		p.Fail(v, `"replies" has to be a list, this is %s`, strictyaml.Describe(v))
	case len(v.Content) == 0 || len(v.Content) > MaxReplies:
		p.Fail(v, `"replies" has %d replies; 1 to %d are allowed`, len(v.Content), MaxReplies)
	default:
		for _, c := range v.Content {
			if p.Full() {
				return
			}
			p.reply(c)
		}
	}
}

// add refuses a reply that would never be looked at: whoever wrote it believes that it does something.
func (p *parser) add(n *yaml.Node, r reply) {
	for _, b := range p.script.replies {
		if b.when == nil {
			p.Fail(n, `this reply is never reached: the one on line %d comes first and has no "when"`, b.line)
			return
		}
	}
	p.script.replies = append(p.script.replies, r)
}
