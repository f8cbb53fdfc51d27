package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bytes is text that need not be UTF-8. As JSON it is a string in which the bytes that are no UTF-8 stand as they are, which
// is what some providers send.
type Bytes string

// MarshalJSON returns the string, of which json.Valid says that it is JSON although it need not be UTF-8.
func (s Bytes) MarshalJSON() ([]byte, error) {
	out := []byte{'"'}
	for part, ok := range stretches(string(s)) {
		if !ok {
			out = append(out, part...)
			continue
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(part); err != nil {
			return nil, err
		}
		quoted := bytes.TrimSpace(b.Bytes())
		out = append(out, quoted[1:len(quoted)-1]...)
	}
	return append(out, '"'), nil
}

// UnmarshalJSON reads a string, and null as "".
func (s *Bytes) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = ""
		return nil
	}
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return errors.New("want a string")
	}
	var out strings.Builder
	for part, ok := range stretches(string(text[1 : len(text)-1])) {
		if ok {
			var plain string
			if err := json.Unmarshal([]byte(`"`+part+`"`), &plain); err != nil {
				return err
			}
			part = plain
		}
		out.WriteString(part)
	}
	*s = Bytes(out.String())
	return nil
}

// stretches takes a string apart into what is UTF-8 and what is not. Escapes are ASCII, and so stay whole.
func stretches(s string) func(func(part string, ok bool) bool) {
	return func(yield func(string, bool) bool) {
		for s != "" {
			good := 0
			for good < len(s) {
				r, n := utf8.DecodeRuneInString(s[good:])
				if r == utf8.RuneError && n == 1 {
					break
				}
				good += n
			}
			if good > 0 && !yield(s[:good], true) {
				return
			}
			bad := good
			for bad < len(s) {
				if r, n := utf8.DecodeRuneInString(s[bad:]); r != utf8.RuneError || n != 1 {
					break
				}
				bad++
			}
			if bad > good && !yield(s[good:bad], false) {
				return
			}
			s = s[bad:]
		}
	}
}

// unescape puts the byte in the place of \xNN, and \xNN in the place of \\xNN.
func unescape(s string) string {
	var out strings.Builder
	for {
		i := strings.Index(s, `\x`)
		if i < 0 || len(s) < i+4 {
			return out.String() + s
		}
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		switch {
		case err != nil:
			out.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		case i > 0 && s[i-1] == '\\':
			out.WriteString(s[:i-1] + s[i:i+4])
		default:
			out.WriteString(s[:i])
			out.WriteByte(byte(n))
		}
		s = s[i+4:]
	}
}
