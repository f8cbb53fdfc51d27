package script

import (
	"errors"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// Error is one thing that is wrong with the text of a script. Parse returns them joined, in the order of the file.
type Error struct {
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
	// Message says what is wrong, and what would be right where that can be guessed.
	Message string
}

// Error returns "line 7, column 3: message".
func (e *Error) Error() string { return (*strictyaml.Mistake)(e).Error() }

// joined are mistakes as errors of this package.
func joined(mistakes []*strictyaml.Mistake) error {
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = (*Error)(m)
	}
	return errors.Join(errs...)
}

// failed is how a script fails to answer. Asking again does not help, and nothing was done.
func failed(detail, message string) *toolabi.Error {
	e := toolabi.NewError(toolabi.Failed, message)
	e.Detail = detail
	return e
}
