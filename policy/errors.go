package policy

import "github.com/wrun-dev/wrun/internal/strictyaml"

// Error is one thing that is wrong with the text of a policy. Parse returns them joined, in the order of the file.
type Error struct {
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
	// Message says what is wrong, and what would be right where that can be guessed.
	Message string
}

// Error returns "line 7, column 3: message".
func (e *Error) Error() string { return (*strictyaml.Mistake)(e).Error() }
