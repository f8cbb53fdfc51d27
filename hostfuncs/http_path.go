package hostfuncs

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitPath returns the decoded segments of a path that begins with /, the last of them empty where it ends with one.
//
// What a server, or a proxy before it, could take for another path is an error: dot segments however they are written, empty
// segments, slashes and backslashes that are encoded, parameters (behind a ; some servers see a path that others do not), what is
// encoded twice, control and format characters, bytes that are no UTF-8 (overlong forms among them), and characters that some servers
// replace by dots and slashes.
func splitPath(path string) ([]string, error) {
	raw := strings.Split(strings.TrimPrefix(path, "/"), "/")
	segments := make([]string, len(raw))
	for i, s := range raw {
		s = decodePercent(s)
		switch {
		case s == "" && i < len(raw)-1:
			return nil, errors.New("a segment is empty")
		case s != "" && strings.TrimFunc(s, func(r rune) bool { return r == '.' || unicode.IsSpace(r) }) == "":
			return nil, errors.New("a segment is nothing but dots or spaces")
		case !utf8.ValidString(s):
			return nil, errors.New("what it encodes is no UTF-8")
		case strings.ContainsFunc(s, ambiguous):
			return nil, errors.New("an encoded slash, backslash or percent sign, a semicolon, a control character, or one that looks like these")
		}
		segments[i] = s
	}
	return segments, nil
}

// lookalikes are characters that conversions to other character sets turn into dots, slashes, semicolons and percent signs.
const lookalikes = "\u2024\u2025\u2026\u2044\u2215\u2216\u29f5\u29f8\ufe52\ufe54\ufe68\ufe6a\uff05\uff0e\uff0f\uff1b\uff3c\uff61\u3002"

// ambiguous says whether there are servers that do not take r in a segment for itself.
func ambiguous(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf) || strings.ContainsRune(`/\%;`+lookalikes, r)
}

// decodePercent undoes the percent-encoding of what checkTarget has found in order.
func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// joinPath returns the only spelling of a path in a grant. It can stand between double quotes of a shell.
func joinPath(segments []string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		for i := 0; i < len(s); i++ {
			if isTokenByte(s[i]) && strings.IndexByte("!#$%`^|", s[i]) < 0 || strings.IndexByte(":@=,()", s[i]) >= 0 {
				b.WriteByte(s[i])
				continue
			}
			b.WriteString("%" + string(hex[s[i]>>4]) + string(hex[s[i]&15]))
		}
	}
	return b.String()
}

// hasPrefix says whether a path is prefix or lies below it. Where prefix ends with an empty segment, only what is below counts.
func hasPrefix(path, prefix []string) bool {
	n := len(prefix)
	if prefix[n-1] == "" {
		return len(path) >= n && slices.Equal(path[:n-1], prefix[:n-1])
	}
	return len(path) >= n && slices.Equal(path[:n], prefix)
}
