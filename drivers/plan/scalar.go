package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// scalar returns what a scalar means in JSON, or what is wrong with it.
//
// Only what is true or false in YAML 1.2 is a boolean: yes, no, on and off are words. Numbers are those of JSON and
// keep every digit; the other spellings of YAML, of which 0777 means 511 to some and 777 to others, are refused rather
// than guessed. JSON has no dates, so dates are strings.
func scalar(n *yaml.Node) (value any, wrong string) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quoted != 0 {
		return n.Value, ""
	}
	if jsonNumber.MatchString(n.Value) {
		return json.Number(n.Value), ""
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, ""
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), ""
	case "!!int", "!!float":
		return nil, fmt.Sprintf("%.40s is no number of JSON; write it in decimal digits, or quote it to make it a string", n.Value)
	}
	return n.Value, ""
}

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
