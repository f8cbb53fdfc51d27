package strictyaml

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Reader reads nodes that were vetted, and collects what is wrong with them: at most MaxMistakes.
type Reader struct{ found []*Mistake }

// Found is a Reader that begins with what was found before, by Load.
func Found(mistakes []*Mistake) Reader { return Reader{found: mistakes} }

// Full says that no more mistakes are collected.
func (r *Reader) Full() bool { return len(r.found) >= MaxMistakes }

// Count is how many mistakes were found so far.
func (r *Reader) Count() int { return len(r.found) }

// Mistakes returns what was found, in the order of the file; of one place, in the order in which it was found.
func (r *Reader) Mistakes() []*Mistake {
	slices.SortStableFunc(r.found, func(a, b *Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.found
}

// Fail adds a mistake at n.
func (r *Reader) Fail(n *yaml.Node, format string, args ...any) {
	if !r.Full() {
		r.found = append(r.found, &Mistake{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
	}
}

// Fields reads a mapping whose keys must be among those known; nil when it is none.
func (r *Reader) Fields(n *yaml.Node, what string, known []string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "%s has to be a mapping, this is %s", what, Describe(n))
		return nil
	}
	f := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(known, k.Value) {
			r.Fail(k, "unknown field %+.60q%s", k.Value, Suggest(k.Value, known))
			continue
		}
		f[k.Value] = n.Content[i+1]
	}
	return f
}

// Str reads a string; "" after a mistake.
func (r *Reader) Str(n *yaml.Node, field string) string {
	if n.Kind == yaml.ScalarNode {
		v, wrong := Scalar(n)
		if s, ok := v.(string); ok && wrong == "" && s != "" {
			return s
		}
	}
	r.Fail(n, "%q has to be a string, this is %s", field, Describe(n))
	return ""
}
