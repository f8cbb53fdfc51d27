package toolabi_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// TestCleanTextAndCleanLine says for each hostile text what is left of it on one line, and with its lines kept where that
// is something else.
func TestCleanTextAndCleanLine(t *testing.T) {
	for _, tc := range []struct{ name, in, line, text string }{
		{name: "plain", in: "plain äöü 漢字 👩‍👩‍👧", line: "plain äöü 漢字 👩‍👩‍👧"},
		{name: "empty"},
		{name: "line breaks", in: "a\nb\r\nc\td", line: "a b  c d", text: "a\nb\nc\td"},
		{name: "a lone return", in: "safe\rforged", line: "safe forged", text: "safeforged"},
		{name: "line breaks of other kinds", in: "a\u0085b\u2028c\u2029d\ve\ff", line: "a b c d e f"},
		{name: "a forged log line", in: "x\nERROR root logged in", line: "x ERROR root logged in", text: "x\nERROR root logged in"},
		{name: "NUL, bell, backspace, DEL", in: "a\x00b\ac\bd\x7fe", line: "abcde"},
		{name: "CSI colour", in: "a\x1b[1;31mred\x1b[0m", line: "ared"},
		{name: "CSI that clears the screen", in: "\x1b[2J\x1b[Hgone", line: "gone"},
		{name: "CSI cut off", in: "a\x1b[31", line: "a"},
		{name: "CSI broken off by another", in: "\x1b[31\x1b[32mb", line: "b"},
		{name: "OSC title", in: "\x1b]0;title\aafter", line: "after"},
		{name: "OSC 8 link", in: "\x1b]8;;https://evil\x1b\\click\x1b]8;;\x1b\\", line: "click"},
		{name: "OSC 52 clipboard", in: "\x1b]52;c;cm0gLXJm\ax", line: "x"},
		{name: "OSC without an end", in: "\x1b]open\nnext", line: " next", text: "\nnext"},
		{name: "OSC broken off", in: "\x1b]open\x1b[31mnext", line: "next"},
		{name: "OSC ended by C1", in: "\x1b]0;t\u009cx", line: "x"},
		{name: "DCS", in: "\x1bPdcs\x1b\\x", line: "x"},
		{name: "SOS, PM, APC", in: "\x1bXa\x1b\\\x1b^b\x1b\\\x1b_c\x1b\\x", line: "x"},
		{name: "reset and save", in: "\x1bc\x1b7reset", line: "reset"},
		{name: "character set", in: "\x1b(0qqq\x1b(B", line: "qqq"},
		{name: "escape at the end", in: "a\x1b", line: "a"},
		{name: "escape before what is no escape", in: "a\x1b\x1b\x1bä", line: "aä"},
		{name: "C1 CSI", in: "\u009b31mred", line: "red"},
		{name: "C1 OSC", in: "\u009d0;t\u009cx", line: "x"},
		{name: "C1 DCS", in: "\u0090q\u009cx", line: "x"},
		{name: "C1 alone", in: "a\u0080\u008e\u009c\u0099b", line: "ab"},
		{name: "C1 as a byte", in: "\x9b31m", line: "\ufffd31m"},
		{name: "direction overrides and isolates", in: "\u202eevil\u2066x\u2069\u200e\u200f\u061c", line: "evilx"},
		{name: "byte order mark, zero width, soft hyphen", in: "\ufeffz\u200bw\u2060n\u00adj\u180e", line: "zwnj"},
		{name: "tags", in: "tag\U000e0001\U000e0041\U000e007f", line: "tag"},
		{name: "variation selectors that carry bytes", in: "x\U000e0100\U000e01ef", line: "x"},
		{name: "fillers", in: "f\u3164i\u115fl\u2800", line: "fil"},
		{name: "private use", in: "a\ue000\U000f0000\U0010fffdb", line: "ab"},
		{name: "invalid UTF-8", in: "bad\xff\xfeutf\xc3", line: "bad\ufffd\ufffdutf\ufffd"},
		{name: "surrogates and overlong", in: "\xed\xa0\x80\xc0\x9b", line: "\ufffd\ufffd\ufffd\ufffd\ufffd"},
	} {
		if tc.text == "" {
			tc.text = tc.line
		}
		if got := toolabi.CleanLine(tc.in, 100); got != tc.line {
			t.Errorf("%s: CleanLine(%q) = %q, want %q", tc.name, tc.in, got, tc.line)
		}
		if got := toolabi.CleanText(tc.in, 100); got != tc.text {
			t.Errorf("%s: CleanText(%q) = %q, want %q", tc.name, tc.in, got, tc.text)
		}
	}
	if got := toolabi.CleanLine("aäa", 2); got != "a" {
		t.Errorf("cut in a rune: %q, want a", got)
	}
}

// TestCleaningALongTextKeepsLittle cleans what is long and mostly removed; anything but linear time would show.
func TestCleaningALongTextKeepsLittle(t *testing.T) {
	for _, unit := range []string{"a", "\x1b", "\x1b[", "\x1b]", "\u009b1", "\u202e", "\xff", "\x00"} {
		if got := toolabi.CleanLine(strings.Repeat(unit, 1<<20/len(unit)), toolabi.MaxText); len(got) > toolabi.MaxText {
			t.Errorf("%q many times left %d bytes", unit, len(got))
		}
	}
}

func FuzzCleanText(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;t\a", "\u009b", "\x1b", "\x1b\x1b[\x1b", "\x1b(\x1b( ", "\xff\u202e\r\n", "\x1b[" + strings.Repeat("1", 50)} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < 0 {
			return
		}
		for name, clean := range map[string]func(string, int) string{"CleanText": toolabi.CleanText, "CleanLine": toolabi.CleanLine} {
			got := clean(s, max)
			if len(got) > max || !utf8.ValidString(got) {
				t.Fatalf("%s(%q, %d) has %d bytes, %q", name, s, max, len(got), got)
			}
			for _, r := range got {
				kept := name == "CleanText" && (r == '\n' || r == '\t')
				if !kept && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
					t.Fatalf("%s(%q, %d) = %q has %U", name, s, max, got, r)
				}
			}
			if again := clean(got, max); again != got {
				t.Fatalf("%s is not at rest: %q, then %q", name, got, again)
			}
		}
	})
}
