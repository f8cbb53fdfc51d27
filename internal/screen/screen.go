// Package screen writes for people who sit before a terminal: it knows how wide one is, how many columns a text takes, draws bars, and
// keeps a block of lines up to date. It does not know what is shown, reads no environment, and cleans nothing: what a tool, a file or a
// server wrote has to be free of what a terminal acts upon before it comes here.
package screen

import "os"

const (
	// DefaultColumns is how wide output is when nobody knows how wide a terminal is.
	DefaultColumns = 80
	// MinColumns and MaxColumns bound what is believed of a width.
	MinColumns, MaxColumns = 20, 1000
)

// IsTerminal says whether somebody sits there. Not every device of characters is a terminal: /dev/null is none.
func IsTerminal(f *os.File) bool {
	_, _, ok := sizeOf(f)
	return ok
}

// Size is how many columns and lines a terminal has; the defaults, 80 and 24, where it does not say, and ok is false for what is none.
func Size(f *os.File) (columns, lines int, ok bool) {
	columns, lines, ok = sizeOf(f)
	if columns <= 0 {
		columns = DefaultColumns
	}
	if lines <= 0 {
		lines = 24
	}
	return min(max(columns, MinColumns), MaxColumns), lines, ok
}

// sizeOf asks the system; 0 for what it does not know.
func sizeOf(f *os.File) (columns, lines int, ok bool) {
	conn, err := f.SyscallConn() // and not Fd, which would make the file block
	if err != nil {
		return 0, 0, false
	}
	err = conn.Control(func(fd uintptr) { columns, lines, ok = fdSize(fd) })
	return columns, lines, ok && err == nil
}

// When says when colours are written.
type When string

// The values of When; "" is Auto.
const (
	Auto   When = "auto" // on a terminal that knows colours, unless somebody does not want them
	Always When = "always"
	Never  When = "never"
)

// Colours says whether colours are written to what is, or is not, a terminal. unwanted is what NO_COLOR asks for, kind the terminal's
// name, as TERM has it.
func (w When) Colours(terminal, unwanted bool, kind string) Paint {
	switch w {
	case Always:
		return true
	case Never:
		return false
	}
	return Paint(terminal && !unwanted && kind != "dumb")
}

// Paint colours a text if it is true, and leaves it as it is otherwise. A colour never says what the text does not.
type Paint bool

// Green, Yellow, Red, Dim and Bold are the text in a colour, which does not change how many columns it takes. An empty text stays empty.
func (p Paint) Green(s string) string  { return p.in("32", s) }
func (p Paint) Yellow(s string) string { return p.in("33", s) }
func (p Paint) Red(s string) string    { return p.in("31", s) }
func (p Paint) Dim(s string) string    { return p.in("2", s) }
func (p Paint) Bold(s string) string   { return p.in("1", s) }

func (p Paint) in(colour, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}
