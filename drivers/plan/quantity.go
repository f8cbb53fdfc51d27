package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

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
		err = errDuration
	} else if s, ok := v.(string); ok {
		d, err = parseDuration(s)
	} else {
		err = errDuration
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

var (
	errDuration = errors.New(`a time such as "500ms", "2s" or "1h30m", at most a hundred years`)
	durations   = regexp.MustCompile(`^([0-9]{1,12}(\.[0-9]{1,9})?(ms|s|m|h))+$`)
)

// maxDuration is the longest time that a plan may give.
const maxDuration = toolabi.MaxManifestMS * time.Millisecond

// parseDuration reads a time in whole milliseconds.
func parseDuration(s string) (time.Duration, error) {
	if !durations.MatchString(s) {
		return 0, errDuration
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxDuration {
		return 0, errDuration
	}
	if d%time.Millisecond != 0 {
		return 0, errors.New("a time in whole milliseconds")
	}
	return d, nil
}

// seconds returns the time that a value gives: a number of seconds, or the text of a duration.
func seconds(v any) (time.Duration, error) {
	if s, ok := v.(string); ok {
		return parseDuration(s)
	}
	text, err := encode(v)
	if err != nil {
		return 0, errDuration
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if ms := math.Round(f * 1000); err == nil && ms >= 0 && ms <= toolabi.MaxManifestMS {
		return time.Duration(ms) * time.Millisecond, nil
	}
	return 0, fmt.Errorf("a number of seconds from 0 to a hundred years, or %w", errDuration)
}
