package tooltest

import (
	"strings"
	"unicode/utf8"
)

// columns is how wide one side of two traces is.
const columns = 38

// Beside writes two traces beside each other, in lines of at most 80 columns. What is the same stands at the same height; <
// marks what only the first has, > what only the second has.
func Beside(left, right string, a, b []Line) []string {
	out := []string{
		row(left, ' ', right),
		strings.Repeat("-", columns) + " + " + strings.Repeat("-", columns),
	}
	for _, p := range align(a, b) {
		mark := '|'
		switch {
		case p.right == nil:
			mark = '<'
		case p.left == nil:
			mark = '>'
		}
		out = append(out, beside(wrapped(p.left), mark, wrapped(p.right))...)
	}
	return out
}

// pair is a line of either trace, or of both.
type pair struct{ left, right *Line }

// align finds the longest common part of two traces.
func align(a, b []Line) []pair {
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var pairs []pair
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			pairs = append(pairs, pair{&a[i], &b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			pairs = append(pairs, pair{left: &a[i]})
			i++
		default:
			pairs = append(pairs, pair{right: &b[j]})
			j++
		}
	}
	return pairs
}

// beside sets lines next to each other.
func beside(left []string, mark rune, right []string) []string {
	var out []string
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, row(l, mark, r))
	}
	return out
}

func row(left string, mark rune, right string) string {
	pad := max(columns-utf8.RuneCountInString(left), 0)
	return strings.TrimRight(left+strings.Repeat(" ", pad)+" "+string(mark)+" "+right, " ")
}

// wrapped is a line on one side.
func wrapped(l *Line) []string {
	switch {
	case l == nil:
		return nil
	case l.Kind == LineMoment:
		return fold("** "+l.Text, columns)
	}
	return fold(l.Text, columns)
}

// fold breaks a text at spaces, and anywhere where there are none, into lines of a width in characters. What follows the first is
// indented.
func fold(text string, width int) (lines []string) {
	indent := ""
	for rest := []rune(text); len(rest) > 0; indent = "    " {
		room := width - len(indent)
		cut := min(room, len(rest))
		if cut < len(rest) {
			if space := strings.LastIndexByte(string(rest[:cut+1]), ' '); space > room/2 {
				cut = utf8.RuneCountInString(string(rest[:cut+1])[:space])
			}
		}
		lines = append(lines, indent+string(rest[:cut]))
		rest = []rune(strings.TrimLeft(string(rest[cut:]), " "))
	}
	return lines
}
