package plan

import (
	"context"

	"github.com/wrun-dev/wrun/internal/jq"
)

// expr is a jq expression that gives exactly one value.
type expr struct {
	line, column int
	text         string
	seen         jq.Refs
	code         *jq.Expr
}

// here is where expressions stand, and what a plan does that wants what they cannot have.
var here = jq.Place{Name: "a plan", Hints: map[string]string{
	"now":  "take the time from the input, or from a tool",
	"env":  "put it into the input",
	"$ENV": "put it into the input",
	"halt": "use if on the steps that are to be left out",
}}

func compile(text string) (*jq.Expr, jq.Refs, error) { return jq.Compile(text, here) }

// eval returns the expression's value in a scope. The error is an *ExprError, or that of ctx.
func (e *expr) eval(ctx context.Context, s *scope) (any, error) {
	v, err := e.code.Value(ctx, s.view(e.seen), jq.NewWork(MaxWork), MaxValue)
	if err == nil {
		return v, nil
	}
	if stop := ctx.Err(); stop != nil {
		return nil, stop
	}
	return nil, &ExprError{Line: e.line, Column: e.column, Expr: e.text, Err: err}
}
