package sandbox

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tü\n":                       "plain\tü\n",
		"a\x1b[1;31mred\x1b[0m":            "ared",
		"\x1b]0;title\x07after":            "after",
		"\x1b]8;;https://e.org\x1b\\link":  "link",
		"\x1b]never ends\nnext line":       "\nnext line",
		"\x1bPdevice\x1b\\x":               "x",
		"\x1bc\x1b7reset":                  "reset",
		"a\x1b":                            "a",
		"a\x1b[31":                         "a",
		"\x1b[31\x1b[32mb":                 "b",
		"one\rtwo\bthree\x00\x7f\u009b31m": "onetwothree31m",
		"bad \xff\xfe":                     "bad \uFFFD\uFFFD",
		"\u202eevil\u2066":                 "evil",
	} {
		if got := cleanText(in); got != want {
			t.Errorf("cleanText(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\x1b[31mb\x1b]0;x\a\x1b\\\xff\u202e")
	f.Add("\x1b\x1b[[")
	f.Fuzz(func(t *testing.T, s string) {
		got := cleanText(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\a\x00\u009b\u202e") {
			t.Errorf("cleanText(%q) = %q", s, got)
		}
		if again := cleanText(got); again != got {
			t.Errorf("cleaning %q again gives %q", got, again)
		}
	})
}
