package strictyaml

import (
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Number reads a whole number from least to most; least after a mistake.
func (r *Reader) Number(n *yaml.Node, field string, least, most int64) int64 {
	if n.Kind == yaml.ScalarNode {
		v, _ := Scalar(n)
		if number, ok := v.(json.Number); ok {
			if i, err := strconv.ParseInt(number.String(), 10, 64); err == nil && i >= least && i <= most {
				return i
			}
		}
	}
	r.Fail(n, "%q has to be a whole number from %d to %d, this is %s", field, least, most, Describe(n))
	return least
}
