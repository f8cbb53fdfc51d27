package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Error is one thing that is wrong with the text of a plan. Parse returns them joined, in the order of the file.
type Error struct {
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
	// Step is the id of the step that it is in, or "".
	Step string
	// Message says what is wrong, and what would be right where that can be guessed.
	Message string
}

// Error returns "line 7, column 3: step charge: message".
func (e *Error) Error() string {
	var s string
	if e.Line > 0 {
		s = "line " + strconv.Itoa(e.Line)
		if e.Column > 0 {
			s += ", column " + strconv.Itoa(e.Column)
		}
		s += ": "
	}
	if e.Step != "" {
		s += "step " + e.Step + ": "
	}
	return s + e.Message
}

// StepError says which step of a plan failed. It wraps a *toolabi.Error: the tool's own, or the plan's when an
// expression of the step failed.
type StepError struct {
	// Step is the name under which the step was to run, or "" for a block without an id.
	Step journal.Step
	// Tool is "module.tool", or "" when the step calls none, or may call several.
	Tool string
	Err  error
}

// Error returns "step charge (payments.charge): " and the reason.
func (e *StepError) Error() string {
	switch {
	case e.Step == "":
		return e.Err.Error()
	case e.Tool == "":
		return fmt.Sprintf("step %s: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("step %s (%s): %v", e.Step, e.Tool, e.Err)
}

// Unwrap returns the reason.
func (e *StepError) Unwrap() error { return e.Err }

// ExprError is an expression that gave no usable value. The same input and answers give it again, so it is a failure
// of the plan: it wraps a *toolabi.Error with the code Failed and the detail "expression" beside its reason.
type ExprError struct {
	// Line and Column are where the text that holds the expression begins, from 1.
	Line, Column int
	// Expr is the expression without "${" and "}".
	Expr string
	Err  error
}

// Error returns "line 9: ${ .input.n / 0 }: " and the reason, cut to what is recorded with a run. A reason can be the
// expression's own, error("…"), and so anything.
func (e *ExprError) Error() string {
	reason := strings.ToValidUTF8(toolabi.CutText(e.Err.Error(), 1<<10), "\uFFFD")
	return fmt.Sprintf("line %d: ${ %s }: %s", e.Line, toolabi.CutText(e.Expr, 200), reason)
}

// Unwrap returns the reason and the failure that a run records.
func (e *ExprError) Unwrap() []error { return []error{e.Err, failure("expression", e.Error())} }

// failure is how the plan itself fails.
func failure(detail, message string) *toolabi.Error {
	e := toolabi.NewError(toolabi.Failed, message)
	e.Detail = detail
	return e
}
