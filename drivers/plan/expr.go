package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// maxExpr is how long one expression may be, in bytes.
const maxExpr = 16 << 10

// expr is a jq expression that gives exactly one value.
type expr struct {
	line, column int
	text         string
	seen         refs
	code         *gojq.Code
}

// compile judges an expression. The library is meant to return errors only; a panic in it becomes one here.
func compile(text string) (code *gojq.Code, seen refs, err error) {
	defer func() {
		if r := recover(); r != nil {
			code, err = nil, fmt.Errorf("the expression cannot be read: %v", r)
		}
	}()
	switch {
	case text == "":
		return nil, refs{}, errors.New("there is nothing between ${ and }")
	case len(text) > maxExpr:
		return nil, refs{}, fmt.Errorf("the expression has %d bytes, at most %d are allowed", len(text), maxExpr)
	case strings.ContainsRune(text, 0):
		return nil, refs{}, errors.New("there is a zero byte in the expression")
	}
	q, err := gojq.Parse(text)
	if err != nil {
		return nil, refs{}, err
	}
	if seen = refsOf(q); seen.refused != "" {
		return nil, seen, errors.New(seen.refused)
	}
	code, err = gojq.Compile(q)
	return code, seen, err
}

// eval returns the expression's value in a scope. The error is an *ExprError, or that of ctx.
func (e *expr) eval(ctx context.Context, s *scope) (any, error) { return e.in(ctx, s.view(e.seen)) }

// in returns the expression's value in the context.
func (e *expr) in(ctx context.Context, root any) (any, error) {
	v, err := e.value(ctx, root)
	if err == nil {
		err = check(v)
	}
	if err == nil {
		return v, nil
	}
	if stop := ctx.Err(); stop != nil {
		return nil, stop
	}
	return nil, &ExprError{Line: e.line, Column: e.column, Expr: e.text, Err: err}
}

var errTooLong = fmt.Errorf("it takes more than %d instructions", MaxWork)

func (e *expr) value(ctx context.Context, root any) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("the interpreter broke off: %v", r)
		}
	}()
	m := newMeter(ctx)
	it := e.code.RunWithContext(m, root)
	v, ok := it.Next()
	if err, failed := v.(error); failed {
		return nil, stopped(err)
	}
	if !ok {
		return nil, errors.New("it gives no value; where that can happen, write first(…, null)")
	}
	switch more, ok := it.Next(); err := more.(type) {
	case error:
		return nil, stopped(err)
	default:
		if ok {
			return nil, errors.New("it gives more than one value; put it in [ ] to make a list of them")
		}
	}
	return v, nil
}

// stopped returns the reason of an expression that stopped. The value of error(…) would be written out in full.
func stopped(err error) error {
	if e, own := err.(gojq.ValueError); own {
		if wrong := check(e.Value()); wrong != nil {
			return fmt.Errorf("it stops with an error that cannot be told: %w", wrong)
		}
	}
	return err
}

// meter is a context that is done after so many looks at it. The interpreter looks before each instruction, so this
// counts work instead of time, and stops an endless expression at the same instruction everywhere.
type meter struct {
	context.Context
	left  int
	spent chan struct{}
}

func newMeter(ctx context.Context) *meter {
	spent := make(chan struct{})
	close(spent)
	return &meter{Context: ctx, left: MaxWork, spent: spent}
}

func (m *meter) Done() <-chan struct{} {
	if m.left--; m.left < 0 {
		return m.spent
	}
	return m.Context.Done()
}

func (m *meter) Err() error {
	if m.left < 0 {
		return errTooLong
	}
	return m.Context.Err()
}
