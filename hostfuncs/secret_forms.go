package hostfuncs

import (
	"bytes"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// form is one way in which a value shows in text. Each of its units stands for one character, which may be escaped besides:
// percent-encoded, or as JSON, JavaScript and HTML have it.
type form struct {
	name  string // the secret's
	kind  kind
	units []byte // bytes of the text; digits of base64 by their value; digits of hexadecimal in lower case
	last  byte   // in base64, the bits of the last unit that are known
}

type kind uint8

const (
	asText kind = iota
	asBase64
	asHex
)

// longest is how many bytes an occurrence of the form can have: what is longer is not looked for.
func (f *form) longest() int { return 16*len(f.units) + 64 }

// forms returns the ways in which a value shows: as it is, with either kind of line break, and read or written as ISO 8859-1
// where that makes a difference, each also in hexadecimal and in base64, where it may stand behind other bytes. Blanks around it do not
// count, since much that passes it on cuts them off. Of a value in the PEM format each line counts by itself.
func forms(name string, value []byte) (all []*form) {
	core := bytes.TrimSpace(value)
	texts := [][]byte{core}
	other := func(text []byte) {
		for _, t := range texts {
			if bytes.Equal(t, text) {
				return
			}
		}
		texts = append(texts, text)
	}
	unix := bytes.ReplaceAll(core, []byte("\r\n"), []byte("\n"))
	other(unix)
	other(bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n")))
	for _, t := range texts {
		other(fromLatin1(t))
		if latin1, ok := toLatin1(t); ok {
			other(latin1)
		}
	}
	for _, t := range texts {
		all = append(all, &form{name: name, kind: asText, units: t}, &form{name: name, kind: asHex, units: []byte(hex.EncodeToString(t))})
		for behind := range 3 {
			all = append(all, base64Form(name, t, behind))
		}
	}
	for _, line := range pemLines(unix) {
		all = append(all, &form{name: name, kind: asText, units: line})
	}
	return all
}

// fromLatin1 reads bytes as ISO 8859-1.
func fromLatin1(b []byte) (text []byte) {
	for _, c := range b {
		text = utf8.AppendRune(text, rune(c))
	}
	return text
}

// toLatin1 writes text in ISO 8859-1, where it can be.
func toLatin1(text []byte) (b []byte, ok bool) {
	for _, r := range string(text) {
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

// pemLines are the lines of what is armoured text, such as a private key, without the lines around it that everybody knows.
func pemLines(value []byte) (lines [][]byte) {
	if !bytes.Contains(value, []byte("-----BEGIN ")) {
		return nil
	}
	for line := range bytes.Lines(value) {
		line = bytes.TrimSpace(line)
		if len(line) >= 2*minSecret && !bytes.HasPrefix(line, []byte("-----")) && !bytes.ContainsAny(line, ": ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// base64Form is how b shows in base64 when it stands behind so many bytes. The first digit is left out where it holds bits of
// the byte before as well.
func base64Form(name string, b []byte, behind int) *form {
	f := &form{name: name, kind: asBase64, last: 0x3f}
	skip := []int{0, 4, 2}[behind%3]
	bits, have := uint32(b[0]), 8-skip
	for _, c := range b[1:] {
		bits, have = bits<<8|uint32(c), have+8
		for have >= 6 {
			have -= 6
			f.units = append(f.units, byte(bits>>have)&0x3f)
		}
	}
	if have > 0 {
		f.last = byte(0x3f<<(6-have)) & 0x3f
		f.units = append(f.units, byte(bits<<(6-have))&f.last)
	}
	return f
}

const (
	base64Digits    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	base64URLDigits = "-_" // in place of the last two
)

// sextets has the value of each digit of base64, of either alphabet; 0xff for what is none.
var sextets = func() (t [256]byte) {
	for c := range t {
		t[c] = 0xff
		if i := strings.IndexByte(base64Digits, byte(c)); i >= 0 {
			t[c] = byte(i)
		}
		if i := strings.IndexByte(base64URLDigits, byte(c)); i >= 0 {
			t[c] = byte(62 + i)
		}
	}
	return t
}()

// takes says whether the unit k can be the character c.
func (f *form) takes(k int, c byte) bool {
	switch f.kind {
	case asBase64:
		s := sextets[c]
		if k == len(f.units)-1 {
			s &= f.last | 0xc0
		}
		return s == f.units[k]
	case asHex:
		if 'A' <= c && c <= 'F' {
			c += 'a' - 'A'
		}
	}
	return f.units[k] == c
}
