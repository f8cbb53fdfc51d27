package grantfile

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// Format writes grants as Parse reads them.
func Format(g hostfuncs.Grants) ([]byte, error) { return encode(grantsNode(g)) }

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func grantsNode(g hostfuncs.Grants) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, k := range kinds {
		var values []*yaml.Node
		for _, text := range k.write(g) {
			values = append(values, stringNode(text))
		}
		switch {
		case len(values) == 0:
		case k.one:
			n.Content = append(n.Content, stringNode(k.flag), values[0])
		default:
			n.Content = append(n.Content, stringNode(k.flag), &yaml.Node{Kind: yaml.SequenceNode, Content: values})
		}
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

// stringNode is a string; where another reader could take it for something else the encoder quotes it.
func stringNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}
