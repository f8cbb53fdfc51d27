package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/journal"
)

// pause is the step that waits: for some time, or until a time.
type pause struct {
	what  template
	until bool
}

func parsePause(p *parser, _ *yaml.Node, f fields) action {
	a, n := &pause{}, f["sleep"]
	if n.Kind == yaml.MappingNode {
		if f = p.fields(n, `"sleep"`, []string{"until"}); f == nil {
			return nil
		}
		if f["until"] == nil {
			p.fail(n, `"sleep" needs "until", or a time instead of a mapping`)
			return nil
		}
		a.until, n = true, f["until"]
	}
	if n.Kind != yaml.ScalarNode {
		p.fail(n, `"sleep" has to be %v, this is %s`, strictyaml.ErrDuration, describe(n))
		return nil
	}
	a.what = p.template(n)
	if v, ok := known(a.what); ok {
		p.pause(n, a, v)
	}
	return a
}

// pause judges a time that is written out.
func (p *parser) pause(n *yaml.Node, a *pause, v any) {
	s, text := v.(string)
	switch {
	case a.until:
		if _, err := moment(v); err != nil {
			p.fail(n, `"until" has to be %v, this is %s`, err, describe(n))
		}
	case !text:
		p.fail(n, `"sleep" has to be %v, this is %s; a number needs a unit`, strictyaml.ErrDuration, describe(n))
	default:
		if _, err := strictyaml.ParseDuration(s); err != nil {
			p.fail(n, `"sleep" has to be %v, this is %s`, err, describe(n))
		}
	}
}

func (*pause) calls(journal.Step) []Call { return nil }

func (a *pause) do(ctx context.Context, s *scope, at journal.Step, _ bool) ([]byte, error) {
	v, err := a.what.eval(ctx, s)
	if err != nil {
		return nil, err
	}
	if a.until {
		t, err := moment(v)
		if err != nil {
			return nil, failure("value", fmt.Sprintf(`"until" has to be %v`, err))
		}
		return []byte(null), s.run.caller.SleepUntil(ctx, at, t)
	}
	d, err := seconds(v)
	if err != nil {
		return nil, failure("value", fmt.Sprintf(`"sleep" has to be %v`, err))
	}
	return []byte(null), s.run.caller.Sleep(ctx, at, d)
}

var errMoment = errors.New("a time such as 2027-01-31T09:00:00Z, until the year 2200")

// moment reads a time as RFC 3339 writes it.
func moment(v any) (time.Time, error) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 { // a log counts in nanoseconds, which end in 2262
		return t, errMoment
	}
	return t, nil
}
