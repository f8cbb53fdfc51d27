package strictyaml

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// vetter refuses the parts of YAML that no file of wrun has a use for.
type vetter struct {
	maxDepth int
	found    []*Mistake
}

func (v *vetter) fail(n *yaml.Node, format string, args ...any) {
	if len(v.found) < MaxMistakes {
		v.found = append(v.found, &Mistake{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
	}
}

func (v *vetter) vet(n *yaml.Node, depth int) {
	if len(v.found) >= MaxMistakes {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		v.fail(n, "aliases are not allowed (*%.40s); write the value out", n.Value)
		return
	case n.Anchor != "":
		v.fail(n, "anchors are not allowed (&%.40s)", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		v.fail(n, "tags are not allowed (%.80s)", n.Tag)
	case depth > v.maxDepth:
		v.fail(n, "this is nested deeper than %d levels", v.maxDepth)
		return
	}
	if n.Kind == yaml.MappingNode {
		v.keys(n)
	}
	for _, c := range n.Content {
		v.vet(c, depth+1)
	}
}

// keys refuses keys that are not strings, and keys that are there twice.
func (v *vetter) keys(n *yaml.Node) {
	first := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			continue // reported as an alias
		}
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			v.fail(k, "merge keys are not allowed; write the fields out")
			continue
		}
		if value, wrong := Scalar(k); k.Kind != yaml.ScalarNode {
			v.fail(k, "a key has to be a string")
			continue
		} else if _, ok := value.(string); !ok || wrong != "" {
			v.fail(k, "the key %.40s is not a string; quote it", k.Value)
			continue
		}
		if line, twice := first[k.Value]; twice {
			v.fail(k, "the key %.80q is there twice; the first is on line %d", k.Value, line)
			continue
		}
		first[k.Value] = k.Line
	}
}
