package model

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// What is here walks over JSON that valid has accepted and hands out its bytes as they are: encoding/json replaces what is
// no UTF-8, matches names without regard to case and forgets how a number was spelled, and an answer is kept byte for byte.
// On anything else it stops at the end of the bytes; it never fails.

// members calls f with the name and the value of each member of the object v, in order. It returns false when v is none.
func members(v []byte, f func(name, value []byte)) bool {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != '{' {
		return false
	}
	for i++; ; i++ {
		i = skipSpace(v, i)
		if i >= len(v) || v[i] != '"' {
			return true
		}
		end := skipString(v, i)
		name := unquote(v[i:end])
		i = skipSpace(v, end) + 1 // the colon
		i = skipSpace(v, i)
		end = skipValue(v, i)
		f(name, v[min(i, len(v)):end])
		i = skipSpace(v, end)
		if i >= len(v) || v[i] != ',' {
			return true
		}
	}
}

// elements calls f with each element of the array v, in order. It returns false when v is none.
func elements(v []byte, f func(value []byte)) bool {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != '[' {
		return false
	}
	for i++; ; i++ {
		i = skipSpace(v, i)
		if i >= len(v) || v[i] == ']' {
			return true
		}
		end := skipValue(v, i)
		f(v[i:end])
		i = skipSpace(v, end)
		if i >= len(v) || v[i] != ',' {
			return true
		}
	}
}

// member returns the value of the member that is called name; nil where v has none. Of several it is the last.
func member(v []byte, name string) (value []byte) {
	members(v, func(n, x []byte) {
		if string(n) == name {
			value = x
		}
	})
	return value
}

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }
func isArray(v []byte) bool  { return len(v) > 0 && v[0] == '[' }
func isString(v []byte) bool { return len(v) > 1 && v[0] == '"' }

// isNothing says whether a value is absent or null.
func isNothing(v []byte) bool { return len(v) == 0 || v[0] == 'n' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the place behind the string that begins at i.
func skipString(b []byte, i int) int {
	for begin := i + 1; begin <= len(b); {
		n := bytes.IndexByte(b[begin:], '"')
		if n < 0 {
			break
		}
		end, back := begin+n, 0
		for end-back > begin && b[end-back-1] == '\\' {
			back++
		}
		if begin = end + 1; back%2 == 0 {
			return begin
		}
	}
	return len(b)
}

// skipValue returns the place behind the value that begins at i.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			i++
			continue
		default:
			for i < len(b) && !isMark(b[i]) {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(b)
}

// isMark says whether c ends a number or a word.
func isMark(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '[', '{', '"', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}

// stringBody returns what stands between the quotes of the string v, escapes and all; nil when v is none.
func stringBody(v []byte) []byte {
	if !isString(v) {
		return nil
	}
	return v[1 : len(v)-1]
}

// unquote returns the bytes that the string v stands for, nil when it is none.
func unquote(v []byte) []byte { return unescape(stringBody(v)) }

// unescape returns the bytes that the body of a string stands for. What is no UTF-8 stays what it is, and half of a surrogate
// pair becomes the three bytes that it would have, which are none either. Without an escape the bytes are those of body.
func unescape(body []byte) []byte {
	at := bytes.IndexByte(body, '\\')
	if at < 0 {
		return body
	}
	out := append(make([]byte, 0, len(body)), body[:at]...)
	for i := at; i < len(body); {
		if body[i] != '\\' || i+1 >= len(body) {
			out = append(out, body[i])
			i++
			continue
		}
		c := body[i+1]
		i += 2
		switch c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			var n int
			out, n = appendCode(out, body[i:])
			i += n
		default: // a quote, a slash or a backslash
			out = append(out, c)
		}
	}
	return out
}

// appendCode appends what the four digits that rest begins with stand for, or the pair that they begin, and returns how many
// bytes of rest that took.
func appendCode(out, rest []byte) ([]byte, int) {
	r := hexCode(rest)
	if r < 0 {
		return out, min(4, len(rest))
	}
	if r >= 0xd800 && r < 0xdc00 && len(rest) >= 10 && rest[4] == '\\' && rest[5] == 'u' {
		if pair := utf16.DecodeRune(r, hexCode(rest[6:])); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair), 10
		}
	}
	if utf16.IsSurrogate(r) {
		return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f), 4
	}
	return utf8.AppendRune(out, r), 4
}

// hexCode returns the number that the first four bytes are in hexadecimal, -1 when they are none.
func hexCode(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var n rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			c = c&0x0f + 9
		default:
			return -1
		}
		n = n<<4 | rune(c)
	}
	return n
}

// count returns a number of tokens. What is no whole number, negative or beyond any bill is 0.
func count(v []byte) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0
	}
	return n
}

// blanks are what may stand around a JSON value.
const blanks = " \n\r\t"

// object returns v without the blanks around it when it is a JSON object, else nil.
func object(v []byte) []byte {
	v = bytes.Trim(v, blanks)
	if !isObject(v) || !valid(v) {
		return nil
	}
	return v
}
