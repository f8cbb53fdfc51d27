package jq

import "strings"

// End returns where the "}" is that closes the expression at the start of s, or -1. It knows as much of jq as that
// takes: brackets, strings with expressions in them, and comments.
func End(s string) int {
	var open []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if len(open) > 0 && open[len(open)-1] == '"' {
			switch {
			case c == '"':
				open = open[:len(open)-1]
			case c == '\\':
				if i++; i < len(s) && s[i] == '(' {
					open = append(open, '(')
				}
			}
			continue
		}
		switch c {
		case '"', '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 {
				if c == '}' {
					return i
				}
				return -1
			}
			if !pair(open[len(open)-1], c) {
				return -1
			}
			open = open[:len(open)-1]
		case '#':
			i = comment(s, i)
		}
	}
	return -1
}

func pair(open, c byte) bool {
	return open == '(' && c == ')' || open == '[' && c == ']' || open == '{' && c == '}'
}

// comment returns the last index of the comment that begins at i. It ends with its line, unless the line ends with a
// backslash that is not itself escaped.
func comment(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\n', '\r':
			return i
		case '\\':
			rest := s[i+1:]
			switch {
			case strings.HasPrefix(rest, "\r\n"):
				i += 2
			case rest != "" && strings.ContainsRune("\\\n\r", rune(rest[0])):
				i++
			}
		}
	}
	return i
}
