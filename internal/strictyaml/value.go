package strictyaml

import (
	"go.yaml.in/yaml/v3"
)

// Value returns what a node means in JSON: nil, bool, json.Number, string, []any or map[string]any. What is wrong with a scalar is
// a mistake, and null in its place.
func (r *Reader) Value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.Value(c)
		}
		return list
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			object[n.Content[i].Value] = r.Value(n.Content[i+1])
		}
		return object
	}
	v, wrong := Scalar(n)
	if wrong != "" {
		r.Fail(n, "%s", wrong)
		return nil
	}
	return v
}

// Bool reads true or false; false after a mistake.
func (r *Reader) Bool(n *yaml.Node, field string) bool {
	if n.Kind == yaml.ScalarNode {
		v, _ := Scalar(n)
		if b, ok := v.(bool); ok {
			return b
		}
	}
	r.Fail(n, "%q has to be true or false, this is %s", field, Describe(n))
	return false
}

// Text reads a string, which may be empty; "" after a mistake.
func (r *Reader) Text(n *yaml.Node, field string) string {
	if n.Kind == yaml.ScalarNode {
		v, wrong := Scalar(n)
		if s, ok := v.(string); ok && wrong == "" {
			return s
		}
	}
	r.Fail(n, "%q has to be a string, this is %s", field, Describe(n))
	return ""
}

// List returns the items of a list; none after a mistake.
func (r *Reader) List(n *yaml.Node, field string) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	r.Fail(n, "%q has to be a list, this is %s", field, Describe(n))
	return nil
}

// Pairs yields the keys and values of a mapping, in the order of the file; none after a mistake.
func (r *Reader) Pairs(n *yaml.Node, field string) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			r.Fail(n, "%q has to be a mapping, this is %s", field, Describe(n))
			return
		}
		for i := 0; i < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
