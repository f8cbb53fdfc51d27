package strictyaml

import (
	"errors"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"
)

// ErrDuration says what a time has to be.
var ErrDuration = errors.New(`a time such as "500ms", "2s" or "1h30m", at most a hundred years`)

var durations = regexp.MustCompile(`^([0-9]{1,12}(\.[0-9]{1,9})?(ms|s|m|h))+$`)

// MaxDuration is the longest time that a file may give: a hundred years, as in a manifest.
const MaxDuration = 3_155_760_000_000 * time.Millisecond

// ParseDuration reads a time in whole milliseconds. Errors: ErrDuration, or one that says that it is too fine.
func ParseDuration(s string) (time.Duration, error) {
	if !durations.MatchString(s) {
		return 0, ErrDuration
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > MaxDuration {
		return 0, ErrDuration
	}
	if d%time.Millisecond != 0 {
		return 0, errors.New("a time in whole milliseconds")
	}
	return d, nil
}

// Duration reads a time that is longer than nothing; 0 after a mistake.
func (r *Reader) Duration(n *yaml.Node, field string) time.Duration {
	s, isText := "", false
	if n.Kind == yaml.ScalarNode {
		v, _ := Scalar(n)
		s, isText = v.(string)
	}
	d, err := ParseDuration(s)
	switch {
	case !isText || err != nil:
		if !isText {
			err = ErrDuration
		}
		r.Fail(n, "%q has to be %v, this is %s", field, err, Describe(n))
	case d == 0:
		r.Fail(n, "%q has to be longer than nothing", field)
	default:
		return d
	}
	return 0
}
