package plan

import (
	"context"
	"strings"

	"github.com/wrun-dev/wrun/internal/jq"
)

// template is a YAML value with expressions in it.
type template interface {
	// eval returns the JSON value in a scope. The error is an *ExprError, or that of ctx.
	eval(ctx context.Context, s *scope) (any, error)
}

// fixed values have no expressions in them.
type fixed struct{ value any }

func (f fixed) eval(context.Context, *scope) (any, error) { return f.value, nil }

// list is a sequence.
type list []template

func (l list) eval(ctx context.Context, s *scope) (any, error) {
	values := make([]any, len(l))
	for i, t := range l {
		v, err := t.eval(ctx, s)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// object is a mapping, in the order of the plan, so that of two bad expressions always the first is reported.
type object []field

type field struct {
	key   string
	value template
}

func (o object) eval(ctx context.Context, s *scope) (any, error) {
	values := make(map[string]any, len(o))
	for _, f := range o {
		v, err := f.value.eval(ctx, s)
		if err != nil {
			return nil, err
		}
		values[f.key] = v
	}
	return values, nil
}

// known returns the value of a template that has no expressions in it.
func known(t template) (any, bool) {
	switch t := t.(type) {
	case fixed:
		return t.value, true
	case list:
		values := make([]any, len(t))
		for i, item := range t {
			v, ok := known(item)
			if !ok {
				return nil, false
			}
			values[i] = v
		}
		return values, true
	case object:
		values := make(map[string]any, len(t))
		for _, f := range t {
			v, ok := known(f.value)
			if !ok {
				return nil, false
			}
			values[f.key] = v
		}
		return values, true
	}
	return nil, false
}

// text is a string with expressions between literal parts. Strings go in as they are, everything else as JSON.
type text []template

func (t text) eval(ctx context.Context, s *scope) (any, error) {
	var b strings.Builder
	for _, part := range t {
		v, err := part.eval(ctx, s)
		if err != nil {
			return nil, err
		}
		if literal, ok := v.(string); ok {
			b.WriteString(literal)
			continue
		}
		j, err := jq.Marshal(v) // eval has checked it
		if err != nil {
			return nil, err
		}
		b.Write(j)
	}
	return b.String(), nil
}
