package strictyaml

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// Scalar returns what a scalar means in JSON, or what is wrong with it.
//
// Only what is true or false in YAML 1.2 is a boolean: yes, no, on and off are words. Numbers are those of JSON and
// keep every digit; the other spellings of YAML, of which 0777 means 511 to some and 777 to others, are refused rather
// than guessed. JSON has no dates, so dates are strings.
func Scalar(n *yaml.Node) (value any, wrong string) {
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

// Describe says what a node is, for the end of a sentence: "a list", "the number 7", "nothing".
func Describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch v, _ := Scalar(n); v := v.(type) {
	case nil:
		return "nothing"
	case bool:
		return n.Value
	case json.Number:
		return fmt.Sprintf("the number %.40s", v)
	}
	return fmt.Sprintf("%.40q", n.Value)
}
