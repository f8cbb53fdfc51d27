package world

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/internal/jq"
)

// Cond is a jq expression over a value of JSON.
type Cond struct {
	Text string
	expr *jq.Expr
}

// place is where these expressions are written.
var place = jq.Place{Name: "a case"}

// maxWork is how many instructions an expression may take.
const maxWork = 4_000_000

// NewCond compiles an expression.
func NewCond(text string) (*Cond, error) {
	e, _, err := jq.Compile(text, place)
	if err != nil {
		return nil, err
	}
	return &Cond{text, e}, nil
}

// Holds says whether it is true of a value. An error says why it is neither true nor false.
func (c *Cond) Holds(v any) (bool, error) {
	got, err := c.Value(v)
	if err != nil {
		return false, err
	}
	yes, ok := got.(bool)
	if !ok {
		return false, fmt.Errorf("%s gives %s, which is neither true nor false", c.Text, ShowJSON(got))
	}
	return yes, nil
}

// Value is what it gives for a value.
func (c *Cond) Value(v any) (any, error) {
	got, err := c.expr.Value(context.Background(), v, jq.NewWork(maxWork), maxValue)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Text, err)
	}
	return got, nil
}

// ShowJSON writes a value on one line.
func ShowJSON(v any) string {
	text, err := jq.Encode(v, maxValue)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
