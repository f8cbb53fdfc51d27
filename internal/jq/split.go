package jq

import (
	"errors"
	"strings"
)

// Piece is a part of a text: literal, or an expression without its "${" and "}".
type Piece struct {
	Text string
	Expr bool
}

var errUnclosed = errors.New(`"${" without the "}" that closes it; write "$${" where "${" is meant as text`)

// Split takes a text apart. "${ … }" is an expression, "$${" is the text "${", everything else is literal.
func Split(s string) ([]Piece, error) {
	var pieces []Piece
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			pieces = append(pieces, Piece{Text: lit.String()})
			lit.Reset()
		}
	}
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			lit.WriteString(s)
			flush()
			return pieces, nil
		}
		if i > 0 && s[i-1] == '$' {
			lit.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		n := End(s[i+2:])
		if n < 0 {
			return nil, errUnclosed
		}
		lit.WriteString(s[:i])
		flush()
		pieces = append(pieces, Piece{Text: strings.Trim(s[i+2:i+2+n], " \t\r\n"), Expr: true})
		s = s[i+2+n+1:]
	}
}
