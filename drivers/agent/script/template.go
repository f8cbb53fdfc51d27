package script

import (
	"context"
	"strings"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/toolabi"
)

// view is what the expressions of one answer see, and the work that they may do together.
type view struct {
	ctx  context.Context
	root map[string]any
	work *jq.Work
}

// template is a YAML value with expressions in it.
type template interface {
	eval(v *view) (any, error)
}

// fixed values have no expressions in them.
type fixed struct{ value any }

func (f fixed) eval(*view) (any, error) { return f.value, nil }

// list is a sequence.
type list []template

func (l list) eval(v *view) (any, error) {
	values := make([]any, len(l))
	for i, t := range l {
		var err error
		if values[i], err = t.eval(v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// object is a mapping, in the order of the file, so that of two bad expressions always the first is reported.
type object []field

type field struct {
	key   string
	value template
}

func (o object) eval(v *view) (any, error) {
	values := make(map[string]any, len(o))
	for _, f := range o {
		value, err := f.value.eval(v)
		if err != nil {
			return nil, err
		}
		values[f.key] = value
	}
	return values, nil
}

// text is a string with expressions between literal parts.
type text []template

func (t text) eval(v *view) (any, error) {
	var b strings.Builder
	for _, part := range t {
		value, err := part.eval(v)
		if err != nil {
			return nil, err
		}
		s, err := written(value)
		if err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// written is a value as it stands in a text: a string as it is, everything else as JSON.
func written(value any) (string, error) {
	if s, ok := value.(string); ok {
		return s, nil
	}
	b, err := jq.Marshal(value) // expr has checked it
	return string(b), err
}

// expr is a jq expression that gives exactly one value.
type expr struct {
	line int
	text string
	code *jq.Expr // nil: the value is never
}

// never is a condition that is switched off.
var never = &expr{text: "false"}

func (e *expr) eval(v *view) (any, error) {
	if e.code == nil {
		return false, nil
	}
	value, err := e.code.Value(v.ctx, v.root, v.work, MaxText)
	if err == nil {
		return value, nil
	}
	return nil, wrongf(e.line, "${ %s }: %s", toolabi.CutText(e.text, 200), toolabi.CutText(err.Error(), 1<<10))
}
