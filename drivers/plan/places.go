package plan

import (
	"go.yaml.in/yaml/v3"
)

// place is where a step stands.
type place struct {
	line int
	path path // the blocks around it
}

// path names the blocks around a step, from the outside.
type path []within

// within is one part of a block: its steps, those of one branch, those of "else" or those of "on_error".
type within struct {
	block *yaml.Node // the mapping of the block
	kind  string     // "steps", "for_each", "parallel", "else" or "on_error"
	part  int        // the branch
}

// in returns the path of what is in a part of a block.
func (p path) in(w within) path { return append(p[:len(p):len(p)], w) }

// findSteps notes where the steps of a list stand before any of them is judged, so that it can be said of an id that is
// not known in one place where in the plan it is.
func (p *parser) findSteps(n *yaml.Node, at path) {
	if n.Kind != yaml.SequenceNode {
		return
	}
	for _, c := range n.Content {
		p.findStep(c, at)
	}
}

func (p *parser) findStep(n *yaml.Node, at path) {
	if n.Kind != yaml.MappingNode || len(at) > MaxBlocks {
		return
	}
	if id := peekID(n); id != nil && id.Value != "" {
		if _, twice := p.places[id.Value]; !twice {
			p.places[id.Value] = place{line: id.Line, path: at}
		}
	}
	body := "steps"
	if peek(n, "for_each") != nil {
		body = "for_each"
	}
	for i := 0; i < len(n.Content); i += 2 {
		switch key, v := n.Content[i].Value, n.Content[i+1]; key {
		case "steps":
			p.findSteps(v, at.in(within{n, body, 0}))
		case "else", "on_error":
			p.findSteps(v, at.in(within{n, key, 0}))
		case "parallel":
			for i, branch := range v.Content {
				in := at.in(within{n, key, i})
				p.findStep(branch, in)
				p.findSteps(branch, in)
			}
		}
	}
}

// peek returns the value of a field of a mapping, or nil.
func peek(n *yaml.Node, field string) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == field {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// peekID returns the node of a step's id, or nil.
func peekID(n *yaml.Node) *yaml.Node { return peek(n, "id") }

// loops counts the loops around.
func (p path) loops() (n int) {
	for _, w := range p {
		if w.kind == "for_each" {
			n++
		}
	}
	return n
}
