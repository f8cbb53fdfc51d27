package plan

import "go.yaml.in/yaml/v3"

// literal returns the JSON value of a node in which expressions mean nothing.
func literal(n *yaml.Node) (any, *Error) {
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			v, err := literal(c)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			v, err := literal(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			object[n.Content[i].Value] = v
		}
		return object, nil
	}
	v, wrong := scalar(n)
	if wrong != "" {
		return nil, &Error{Line: n.Line, Column: n.Column, Message: wrong}
	}
	return v, nil
}
