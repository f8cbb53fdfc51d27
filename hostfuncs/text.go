package hostfuncs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// CleanText makes what a tool or a server says fit for one line of a terminal or a log: terminal escape sequences,
// control characters and invisible formatting (direction marks and overrides, zero-width characters, tags) are removed,
// line breaks and tabs become spaces, invalid UTF-8 becomes U+FFFD, and the rest is cut to at most max bytes at the
// start of a rune. The zero-width joiners that scripts and emoji need are kept.
func CleanText(s string, max int) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < max; {
		r, n := utf8.DecodeRuneInString(s[i:])
		if skip := escapeLen(s[i:], r, n); skip > 0 {
			i += skip
			continue
		}
		i += n
		if r = cleanRune(r); r >= 0 {
			b.WriteRune(r)
		}
	}
	return toolabi.CutText(b.String(), max)
}

// cleanRune returns what stands for r, or -1 for nothing.
func cleanRune(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == '\v', r == '\f', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
		return ' '
	case r == '\u200c', r == '\u200d':
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co), invisible(r):
		return -1
	}
	return r
}

// invisible lists fillers that take no or blank room though they count as letters or marks.
func invisible(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u3164', '\uffa0':
		return true
	}
	return r >= 0x180b && r <= 0x180f || r >= 0xe0000 && r <= 0xe0fff
}

// escapeLen returns the length of the terminal escape sequence that s begins with, 0 when there is none. r is the first
// rune of s and n its length.
func escapeLen(s string, r rune, n int) int {
	kind, rest := byte(0), s[n:]
	switch {
	case r == 0x1b && rest != "":
		kind, rest = rest[0], rest[1:]
	case r >= 0x80 && r <= 0x9f && r != '\u0085':
		kind = byte(r) - 0x40 // the one-character form of ESC and a letter
	default:
		return 0
	}
	body := 0
	switch kind {
	case '[':
		body = controlLen(rest)
	case ']', 'P', 'X', '^', '_':
		body = stringLen(rest)
	default:
		return n // a lone escape: what follows it is ordinary text
	}
	return len(s) - len(rest) + body
}

// controlLen measures the parameters and the final byte of a control sequence.
func controlLen(s string) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		i++
	}
	return i
}

// stringLen measures a control string up to its terminator, or up to the end of the line when it has none.
func stringLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		case s[i] == '\n', s[i] == '\r', s[i] == 0x1b:
			return i
		}
	}
	return len(s)
}
