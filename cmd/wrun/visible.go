package main

import (
	"fmt"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// visible is the same JSON with escapes for what a terminal would act upon or not show: invisible formatting, marks that turn
// the direction of text, control characters over 0x7e. JSON holds them in strings only. What is not UTF-8 becomes U+FFFD.
func visible(doc []byte) []byte {
	if toolabi.CleanText(string(doc), len(doc)) == string(doc) {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		switch {
		case r < 0x7f && r >= ' ', r == '\n', r == '\t', toolabi.CleanLine(string(r), n) == string(doc[:n]):
			out = append(out, doc[:n]...)
		case r == '\r': // between two values; a terminal would go back to the begin of the line
			out = append(out, ' ')
		case r >= 0x10000:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		doc = doc[n:]
	}
	return out
}

// oneLine is JSON as people see it, on one line.
func oneLine(doc []byte) string {
	return toolabi.CleanLine(string(visible(doc)), 16<<10)
}
