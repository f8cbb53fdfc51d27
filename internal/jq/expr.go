package jq

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// MaxText is how long one expression may be, in bytes.
const MaxText = 16 << 10

// Expr is a compiled expression. It does not change, and may be evaluated several times at once.
type Expr struct{ code *gojq.Code }

// Place is where expressions are written: what a refusal says about it.
type Place struct {
	// Name is what the place is called, with its article: "a plan".
	Name string
	// Hints says what one does there instead of using a function that is refused, by the function's name.
	Hints map[string]string
}

// Compile judges an expression and finds out what it looks at. Where the error is one of what the expression says, and
// not of how it is written, the Refs are there too.
func Compile(text string, at Place) (e *Expr, seen Refs, err error) {
	// The library is meant to return errors only; a panic in it becomes one here.
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("the expression cannot be read: %v", r)
		}
	}()
	switch {
	case text == "":
		return nil, Refs{}, errors.New("there is nothing between ${ and }")
	case len(text) > MaxText:
		return nil, Refs{}, fmt.Errorf("the expression has %d bytes, at most %d are allowed", len(text), MaxText)
	case strings.ContainsRune(text, 0):
		return nil, Refs{}, errors.New("there is a zero byte in the expression")
	}
	q, err := gojq.Parse(text)
	if wrong := (*gojq.ParseError)(nil); errors.As(err, &wrong) {
		return nil, Refs{}, fmt.Errorf("%w at byte %d", err, wrong.Offset)
	} else if err != nil {
		return nil, Refs{}, err
	}
	seen, refused := look(q, at)
	if refused != "" {
		return nil, seen, errors.New(refused)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, seen, err
	}
	return &Expr{code}, seen, nil
}

// Value evaluates the expression with root as its ".", and returns the one value that it gives: one that JSON can say,
// of at most maxSize bytes as JSON. It takes its instructions from work. An error after ctx has ended says nothing about
// the expression.
func (e *Expr) Value(ctx context.Context, root any, work *Work, maxSize int) (any, error) {
	v, err := e.one(&meter{Context: ctx, work: work}, root, maxSize)
	if err == nil {
		err = Check(v, maxSize)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (e *Expr) one(ctx context.Context, root any, maxSize int) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("the interpreter broke off: %v", r)
		}
	}()
	it := e.code.RunWithContext(ctx, root)
	v, ok := it.Next()
	if err, failed := v.(error); failed {
		return nil, stopped(err, maxSize)
	}
	if !ok {
		return nil, errors.New("it gives no value; where that can happen, write first(…, null)")
	}
	switch more, ok := it.Next(); err := more.(type) {
	case error:
		return nil, stopped(err, maxSize)
	default:
		if ok {
			return nil, errors.New("it gives more than one value; put it in [ ] to make a list of them")
		}
	}
	return v, nil
}

// stopped returns the reason of an expression that stopped. The value of error(…) would be written out in full.
func stopped(err error, maxSize int) error {
	if e, own := err.(gojq.ValueError); own {
		if wrong := Check(e.Value(), maxSize); wrong != nil {
			return fmt.Errorf("it stops with an error that cannot be told: %w", wrong)
		}
	}
	return err
}
