package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Columns is how many columns a text takes on a terminal. Where terminals differ it is the larger number, so that what is cut to a width
// never takes more: what is joined to one sign, such as a family of faces, counts as its parts.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case r == '\ufe0f': // shows the sign before it as a picture, which may be wider
		return 1
	case r < ' ' || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut is a text that takes at most so many columns: with … at its end where something is missing. Marks stay with what they belong to.
func Cut(s string, columns int) string {
	if Columns(s) <= columns {
		return s
	}
	return head(s, columns-1) + strings.Repeat("…", min(max(columns, 0), 1))
}

// CutFront is Cut for what says most at its end.
func CutFront(s string, columns int) string {
	over := Columns(s) - columns
	if over <= 0 {
		return s
	}
	if columns <= 0 {
		return ""
	}
	for over++; over > 0 && s != ""; { // and room for the mark
		r, n := utf8.DecodeRuneInString(s)
		s, over = s[n:], over-columnsOf(r)
	}
	return "…" + strings.TrimLeftFunc(s, func(r rune) bool { return columnsOf(r) == 0 })
}

// head is the longest beginning of s that takes at most so many columns.
func head(s string, columns int) string {
	for i, r := range s {
		if columns -= columnsOf(r); columns < 0 {
			return s[:i]
		}
	}
	return s
}

// Left is a text of exactly so many columns: cut, or with blanks behind it. Right has them before it.
func Left(s string, columns int) string {
	s = Cut(s, columns)
	return s + strings.Repeat(" ", max(columns-Columns(s), 0))
}

// Right is like Left, with the blanks before the text.
func Right(s string, columns int) string {
	s = Cut(s, columns)
	return strings.Repeat(" ", max(columns-Columns(s), 0)) + s
}

// Wrap is a text on lines of at most so many columns, at least 1, broken at blanks or commas where it has them. Lines that it has stay lines.
func Wrap(s string, columns int) (lines []string) {
	columns = max(columns, 1)
	for _, line := range strings.Split(s, "\n") {
		broken := false
		for ; Columns(line) > columns; broken = true {
			part := head(line, columns)
			if part == "" { // wider than a line
				_, n := utf8.DecodeRuneInString(line)
				part = line[:n]
			}
			if at := breakAt(part); at > 0 && line[len(part)] != ' ' {
				part = part[:at]
			}
			lines, line = append(lines, strings.TrimRight(part, " ")), strings.TrimLeft(line[len(part):], " ")
		}
		if line != "" || !broken {
			lines = append(lines, line)
		}
	}
	return lines
}

// breakAt is where a line that goes on is broken best: at its last blank, or behind its last comma, as JSON has them; 0 for anywhere.
func breakAt(part string) int {
	if at := strings.LastIndexByte(part, ' '); at > 0 {
		return at
	}
	return strings.LastIndexByte(part, ',') + 1
}

// Bar draws how much of something is done in so many columns. More than all of it is all of it.
func Bar(done, of float64, columns int) string {
	full := 0
	if of > 0 {
		full = int(min(max(done/of, 0), 1) * float64(columns))
	}
	return strings.Repeat("#", full) + strings.Repeat(" ", columns-full)
}
