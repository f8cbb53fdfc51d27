package tooltest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTwoTracesBesideEachOther(t *testing.T) {
	a := []Line{{LineJournal, "call intent"}, {LineWorld, "POST shop.example.com/payments {\"cents\":500}: acted, 201"}, {LineMoment, "output 1"}}
	b := []Line{{LineJournal, "call intent"}, {LineMoment, "the process dies"}, {LineMoment, "output 1"}}
	want := strings.TrimPrefix(`
undisturbed                              dies before append 2
-------------------------------------- + --------------------------------------
call intent                            | call intent
POST shop.example.com/payments         <
    {"cents":500}: acted, 201          <
                                       > ** the process dies
** output 1                            | ** output 1`, "\n")
	if got := strings.Join(Beside("undisturbed", "dies before append 2", a, b), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Nothing is lost and nothing is wider than a terminal, whatever is in the lines.
func FuzzBeside(f *testing.F) {
	f.Add("a b\nc", "a b\nd")
	f.Add(strings.Repeat("x", 200), strings.Repeat("ä ", 100))
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		lines := func(s string) (all []Line) {
			for l := range strings.SplitSeq(s, "\n") {
				all = append(all, Line{LineWorld, l})
			}
			return all
		}
		x, y := lines(a), lines(b)
		if len(x)*len(y) > 10000 {
			return
		}
		for _, line := range Beside("left", "right", x, y) {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%q is wider than 80", line)
			}
		}
		var left, right []Line
		for _, p := range align(x, y) {
			if p.left != nil {
				left = append(left, *p.left)
			}
			if p.right != nil {
				right = append(right, *p.right)
			}
		}
		if !slices.Equal(left, x) || !slices.Equal(right, y) {
			t.Errorf("%q and %q became %v and %v", a, b, left, right)
		}
	})
}
