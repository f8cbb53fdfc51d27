package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// number reads a whole number from 1 to most; 1 after a mistake.
func (p *parser) number(n *yaml.Node, what string, most int) int {
	if n.Kind == yaml.ScalarNode {
		v, _ := scalar(n)
		if number, ok := v.(json.Number); ok {
			if i, err := strconv.Atoi(number.String()); err == nil && i >= 1 && i <= most {
				return i
			}
		}
	}
	p.fail(n, "%s has to be a whole number from 1 to %d, this is %s", what, most, describe(n))
	return 1
}

// duration reads a time that is longer than nothing; a second after a mistake.
func (p *parser) duration(n *yaml.Node, what string) time.Duration {
	d, err := time.Second, error(nil)
	if v, _ := scalar(n); n.Kind != yaml.ScalarNode {
		err = strictyaml.ErrDuration
	} else if s, ok := v.(string); ok {
		d, err = strictyaml.ParseDuration(s)
	} else {
		err = strictyaml.ErrDuration
	}
	switch {
	case err != nil:
		p.fail(n, "%s has to be %v, this is %s", what, err, describe(n))
	case d == 0:
		p.fail(n, "%s has to be longer than nothing", what)
	default:
		return d
	}
	return time.Second
}

// seconds returns the time that a value gives: a number of seconds, or the text of a duration.
func seconds(v any) (time.Duration, error) {
	if s, ok := v.(string); ok {
		return strictyaml.ParseDuration(s)
	}
	text, err := encode(v)
	if err != nil {
		return 0, strictyaml.ErrDuration
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if ms := math.Round(f * 1000); err == nil && ms >= 0 && ms <= toolabi.MaxManifestMS {
		return time.Duration(ms) * time.Millisecond, nil
	}
	return 0, fmt.Errorf("a number of seconds from 0 to a hundred years, or %w", strictyaml.ErrDuration)
}
