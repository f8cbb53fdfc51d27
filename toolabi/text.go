package toolabi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanText makes what a tool, a module or a server says fit to be shown to people: terminal escape sequences, control
// characters and invisible formatting (direction marks and overrides, zero-width characters, tags, private use) are
// removed, invalid UTF-8 becomes U+FFFD, and the rest is cut to at most max bytes at the start of a rune. Line breaks and
// tabs are kept, and so are the zero-width joiners that scripts and emoji need. What is clean already is returned as it is.
//
// The time is linear in the length of s, and no more than max bytes are kept of it on the way.
func CleanText(s string, max int) string { return clean(s, max, true) }

// CleanLine is CleanText for what has to stay on one line of a terminal or a log: line breaks and tabs become spaces.
func CleanLine(s string, max int) string { return clean(s, max, false) }

// CutText returns s cut to at most max bytes at the start of a rune.
func CutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

func clean(s string, max int, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < max; {
		r, n := utf8.DecodeRuneInString(s[i:])
		if skip := escapeLen(s[i:], r, n); skip > 0 {
			i += skip
			continue
		}
		i += n
		if r = cleanRune(r, lines); r >= 0 {
			b.WriteRune(r)
		}
	}
	return CutText(b.String(), max)
}

// cleanRune returns what stands for r, or -1 for nothing.
func cleanRune(r rune, lines bool) rune {
	switch {
	case lines && (r == '\n' || r == '\t'):
		return r
	case lines && r == '\r': // of \r\n; alone it goes back to the begin of the line
		return -1
	case r == '\n', r == '\t', r == '\v', r == '\f', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
		return ' '
	case r == '\u200c', r == '\u200d':
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co), invisible(r):
		return -1
	}
	return r
}

// invisible lists fillers that take no or blank room though they count as letters or marks, and what Unicode ignores by
// default, assigned or not.
func invisible(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2065', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return r >= 0x180b && r <= 0x180f || r >= 0xfff0 && r <= 0xfff8 || r >= 0xe0000 && r <= 0xe0fff
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
	switch {
	case kind == '[':
		body = controlLen(rest)
	case strings.IndexByte("]PX^_", kind) >= 0:
		body = stringLen(rest)
	case r == 0x1b && kind >= 0x20 && kind <= 0x2f: // such as ESC ( B
		body = choiceLen(rest)
	case r == 0x1b && (kind < 0x20 || kind > 0x7e):
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

// choiceLen measures what follows the first intermediate byte of an escape sequence.
func choiceLen(s string) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
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
