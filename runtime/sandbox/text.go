package sandbox

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText returns what a guest says so that it can be shown: valid UTF-8, without terminal escapes, without control
// characters but newline and tab, and without the characters that turn the direction of text around.
func cleanText(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if n := escapeLen(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		if r == '\n' || r == '\t' || !hidden(r) {
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// cleanWord is cleanText for what has to stay on one line.
func cleanWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, cleanText(s))
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}

// escapeLen returns the length of the terminal escape at the start of s, 0 when there is none.
func escapeLen(s string) int {
	if s[0] != 0x1b {
		return 0
	}
	if len(s) == 1 || s[1] < 0x20 || s[1] > 0x7e {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_':
		return stringEnd(s)
	}
	return 2
}

// stringEnd returns the length of an escape that carries a string, up to its terminator or the end of the line.
func stringEnd(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == '\n' || s[i] == 0x1b:
			return i
		}
	}
	return len(s)
}
