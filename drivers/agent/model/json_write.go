package model

import (
	"bytes"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. It is not left to encoding/json, whose spelling has changed between releases of Go: a
// request is recognised by its bytes for as long as its run lasts. What is no UTF-8 becomes U+FFFD.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		out = append(out, s[from:i]...)
		out = appendEscaped(out, c)
		i++
		from = i
	}
	out = append(out, s[from:]...)
	return append(out, '"')
}

func appendEscaped(out []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(out, '\\', c)
	case c == '\n':
		return append(out, '\\', 'n')
	case c == '\r':
		return append(out, '\\', 'r')
	case c == '\t':
		return append(out, '\\', 't')
	case c < ' ':
		return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return utf8.AppendRune(out, utf8.RuneError) // a byte of no rune
}

// appendQuoted appends b as the body of a string. What is no UTF-8 stays what it is.
func appendQuoted(out, b []byte) []byte {
	for _, c := range b {
		if c < ' ' || c == '"' || c == '\\' {
			out = appendEscaped(out, c)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// mendText returns the JSON v with U+FFFD for each byte of a string that is no UTF-8, and for each escape that is half of a
// surrogate pair: a provider refuses a request with either. What has none is returned as it is.
func mendText(v []byte) []byte {
	if utf8.Valid(v) && !bytes.Contains(v, []byte(`\u`)) {
		return v
	}
	out := make([]byte, 0, len(v)+16)
	for i := 0; i < len(v); {
		switch r, n := utf8.DecodeRune(v[i:]); {
		case v[i] == '\\':
			n = escapeLen(v[i:])
			if n < 0 {
				out, n = append(out, `\ufffd`...), -n
			} else {
				out = append(out, v[i:i+n]...)
			}
			i += n
		case r == utf8.RuneError && n == 1:
			out = utf8.AppendRune(out, utf8.RuneError)
			i++
		default:
			out = append(out, v[i:i+n]...)
			i += n
		}
	}
	return out
}

// escapeLen returns the length of the escape that v begins with, both halves of a pair being one. It is negative for one half
// without the other.
func escapeLen(v []byte) int {
	if len(v) < 6 || v[1] != 'u' {
		return min(2, len(v))
	}
	switch r := hexCode(v[2:]); {
	case r >= 0xdc00 && r <= 0xdfff:
		return -6
	case r >= 0xd800 && r <= 0xdbff:
		if len(v) >= 12 && v[6] == '\\' && v[7] == 'u' {
			if low := hexCode(v[8:]); low >= 0xdc00 && low <= 0xdfff {
				return 12
			}
		}
		return -6
	}
	return 6
}
