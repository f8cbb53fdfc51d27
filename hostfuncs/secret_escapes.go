package hostfuncs

import (
	"bytes"
	"html"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is what an escape sequence stands for, and how long it is.
type escape struct {
	char [utf8.UTFMax]byte
	size int // bytes of char
	len  int
}

func byteEscape(c byte, length int) escape {
	return escape{char: [utf8.UTFMax]byte{c}, size: 1, len: length}
}

func runeEscape(r rune, length int) escape {
	e := escape{len: length}
	e.size = utf8.EncodeRune(e.char[:], r)
	return e
}

// maxEscape is the longest escape sequence that is read, in bytes, and maxNested how often one may have been escaped again.
const (
	maxEscape = 40
	maxNested = 3
)

// escapes appends what b can begin with to all: several where it was perhaps escaped twice. short says that there might be more
// if b went on.
func escapes(b []byte, all []escape) (_ []escape, short bool) {
	short = len(b) < maxEscape
	switch b[0] {
	case '%':
		all = percents(b, all)
	case '\\':
		all = backslashes(b, all)
	case '&':
		all = entities(b, all)
	default:
		short = false
	}
	return all, short
}

// percents reads %41, %2541 and so on.
func percents(b []byte, all []escape) []escape {
	for i, level := 1, 0; i+1 < len(b) && level <= maxNested; level++ {
		if hi, lo := hexDigit(b[i]), hexDigit(b[i+1]); hi >= 0 && lo >= 0 {
			all = append(all, byteEscape(byte(hi<<4|lo), i+2))
		}
		if b[i] != '2' || b[i+1] != '5' {
			break
		}
		i += 2
	}
	return all
}

// controls are what follows a backslash in JSON, and what it stands for; 0 for nothing.
var controls = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '"': '"', '\'': '\'', '/': '/'}

// backslashes reads \", \\, \n, \u0041, \x41 and the same with more backslashes, as JSON in JSON has it.
func backslashes(b []byte, all []escape) []escape {
	run := 0
	for run < len(b) && run <= 1<<maxNested && b[run] == '\\' {
		run++
		if run&(run-1) == 0 && run > 1 {
			all = append(all, byteEscape('\\', run))
		}
	}
	if run == len(b) {
		return all
	}
	switch c := b[run]; c {
	case 'u':
		r, n := utf16Escape(b[run:])
		if n > 0 {
			all = append(all, runeEscape(r, run+n))
		}
	case 'x':
		if len(b) > run+2 && hexDigit(b[run+1]) >= 0 && hexDigit(b[run+2]) >= 0 {
			all = append(all, byteEscape(byte(hexDigit(b[run+1])<<4|hexDigit(b[run+2])), run+3))
		}
	default:
		if char := controls[c]; char != 0 {
			all = append(all, byteEscape(char, run+1))
		}
	}
	return all
}

// utf16Escape reads what follows the backslash of \u0041, or of a pair of surrogates, and its length.
func utf16Escape(b []byte) (rune, int) {
	unit := func(b []byte) rune {
		if len(b) < 5 || b[0] != 'u' {
			return -1
		}
		r := rune(0)
		for _, c := range b[1:5] {
			if hexDigit(c) < 0 {
				return -1
			}
			r = r<<4 | rune(hexDigit(c))
		}
		return r
	}
	high := unit(b)
	if !utf16.IsSurrogate(high) {
		return high, 5 * btoi(high >= 0)
	}
	rest := bytes.TrimLeft(b[5:], `\`)
	if r := utf16.DecodeRune(high, unit(rest)); r != utf8.RuneError {
		return r, len(b) - len(rest) + 5
	}
	return 0, 0
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// entities reads &amp;, &#65;, &#x41; and so on, and the same behind &amp; in place of its &.
func entities(b []byte, all []escape) []escape {
	b = b[:min(len(b), maxEscape)]
	begin := 1
	for range maxNested {
		end := bytes.IndexByte(b[begin:], ';')
		if end < 1 {
			return all
		}
		if r := entity(b[begin : begin+end]); r != 0 {
			all = append(all, runeEscape(r, begin+end+1))
			if r != '&' {
				return all
			}
		}
		begin += end + 1
	}
	return all
}

// entity is the character that stands between & and ;, 0 for none.
func entity(name []byte) rune {
	switch string(name) {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	}
	text := "&" + string(name) + ";"
	said := html.UnescapeString(text)
	if r, n := utf8.DecodeRuneInString(said); n == len(said) && r != utf8.RuneError {
		return r
	}
	return 0
}

// hexDigit is the value of a digit, -1 for what is none.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
