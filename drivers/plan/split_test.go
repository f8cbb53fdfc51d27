package plan

import (
	"strings"
	"testing"
)

// join writes pieces so that split takes them apart again.
func join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.expr {
			b.WriteString("${ " + p.text + " \n}") // the new line ends a comment
		} else {
			b.WriteString(strings.ReplaceAll(p.text, "${", "$${"))
		}
	}
	return b.String()
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "plain", "${ .a }", "a ${ .a } b", "$${ .a }", "$$${", "${", "${ \"}\" }", "${ \"\\(1)}\" }", "${ {a: [1]} }",
		"${ ) }", "${ # }\n}", "${ # \\\n}\n}", "${ # \\\r\n}\n}", "${ \"\\\\\" }", "${a}${b}", "}{$", "${ \"\\(\"\\(1)\")\" }", "${ #\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pieces, err := split(s)
		if err != nil {
			return
		}
		if !strings.Contains(s, "${") && len(pieces) > 1 {
			t.Fatalf("%v has no expression and was split into %v", s, pieces)
		}
		for i, p := range pieces {
			if p.text == "" && !p.expr || i > 0 && !p.expr && !pieces[i-1].expr {
				t.Fatalf("%q was split into %v, with an empty piece or two literal ones in a row", s, pieces)
			}
			if p.expr && strings.HasSuffix(p.text, "\\") {
				return // a comment that would go on over the line that join adds
			}
		}
		again, err := split(join(pieces))
		if err != nil {
			t.Fatalf("%q was split into %v; %q: %v", s, pieces, join(pieces), err)
		}
		if len(again) != len(pieces) {
			t.Fatalf("%q was split into %v, and that again into %v", s, pieces, again)
		}
		for i := range pieces {
			if again[i] != pieces[i] {
				t.Fatalf("%q was split into %v, and that again into %v", s, pieces, again)
			}
		}
	})
}
