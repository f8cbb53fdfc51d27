package strictyaml

import "strconv"

// MaxMistakes is how many mistakes are reported at once.
const MaxMistakes = 20

// Mistake is one thing that is wrong with the text of a file.
type Mistake struct {
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
	// Message says what is wrong, and what would be right where that can be guessed.
	Message string
}

// Error returns "line 7, column 3: message".
func (m *Mistake) Error() string {
	switch {
	case m.Line == 0:
		return m.Message
	case m.Column == 0:
		return "line " + strconv.Itoa(m.Line) + ": " + m.Message
	}
	return "line " + strconv.Itoa(m.Line) + ", column " + strconv.Itoa(m.Column) + ": " + m.Message
}
