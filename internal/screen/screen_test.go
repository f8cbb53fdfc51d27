package screen_test

import (
	"os"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/screen"
)

func TestColumnsAndCuts(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		cut     string // to five columns
		front   string
	}{
		{"", 0, "", ""},
		{"abcde", 5, "abcde", "abcde"},
		{"abcdef", 6, "abcd…", "…cdef"},
		{"日本語", 6, "日本…", "…本語"},
		{"a日本語", 7, "a日…", "…本語"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", 6, "e\u0301e\u0301e\u0301e\u0301…", "…e\u0301e\u0301e\u0301e\u0301"},
		{"\u0301\u0301", 0, "\u0301\u0301", "\u0301\u0301"},
		{"👍👍👍", 6, "👍👍…", "…👍👍"},
		{"❤\ufe0f", 2, "❤\ufe0f", "❤\ufe0f"},
		{"ﾊﾝｶｸ", 4, "ﾊﾝｶｸ", "ﾊﾝｶｸ"},
		{"\xff\xfe", 2, "\xff\xfe", "\xff\xfe"},
	} {
		if got := screen.Columns(c.text); got != c.columns {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.columns)
		}
		if got := screen.Cut(c.text, 5); got != c.cut {
			t.Errorf("%q cut to 5 is %q, want %q", c.text, got, c.cut)
		}
		if got := screen.CutFront(c.text, 5); got != c.front {
			t.Errorf("%q cut to 5 at its front is %q, want %q", c.text, got, c.front)
		}
	}
	if got := screen.Left("日本", 5) + "|" + screen.Right("ab", 4) + "|" + screen.Cut("ab", 0); got != "日本 |  ab|" {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"one two three", 8, "one two|three"},
		{"abcdefgh ij", 4, "abcd|efgh|ij"},
		{`{"a":1,"b":22,"c":3}`, 16, `{"a":1,"b":22,|"c":3}`},
		{"a\nb", 4, "a|b"},
		{"日本語", 1, "日|本|語"},
		{"x", 0, "x"},
	} {
		if got := strings.Join(screen.Wrap(c.text, c.columns), "|"); got != c.want {
			t.Errorf("%q in %d columns: got %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestBars(t *testing.T) {
	for _, c := range []struct {
		done, of float64
		want     string
	}{{0, 10, "    "}, {5, 10, "##  "}, {12, 10, "####"}, {1, 0, "    "}, {-1, 10, "    "}} {
		if got := screen.Bar(c.done, c.of, 4); got != c.want {
			t.Errorf("%v of %v: got %q, want %q", c.done, c.of, got, c.want)
		}
	}
}

func marked(a *screen.Axis, s screen.Span, mark byte) string {
	line := a.Line()
	a.Mark(line, s, mark)
	return string(line)
}

func TestAnAxisShortensWhatTakesLongAndIsNothing(t *testing.T) {
	a := screen.NewAxis(screen.Span{To: 100}, []screen.Span{{0, 40}, {60, 100}}, 10)
	if got := marked(a, screen.Span{From: 60, To: 100}, '#'); got != "......####" || a.Left != 0 {
		t.Errorf("got %q, %d left out", got, a.Left)
	}
	const hour = 3600_000
	a = screen.NewAxis(screen.Span{To: 3 * hour}, []screen.Span{{0, 500}, {3*hour - 500, 3 * hour}}, 15)
	for _, c := range []struct {
		span screen.Span
		mark byte
		want string
	}{
		{screen.Span{To: 500}, '#', "#####.........."},
		{screen.Span{From: 500, To: 3*hour - 500}, '~', ".....~~~~~....."},
		{screen.Span{From: 3*hour - 500, To: 3 * hour}, '#', "..........#####"},
		{screen.Span{From: 3 * hour, To: 3 * hour}, '!', "..............!"},
	} {
		if got := marked(a, c.span, c.mark); got != c.want {
			t.Errorf("%v: got %q, want %q", c.span, got, c.want)
		}
	}
	if want := int64(3*hour - 1000 - 500); a.Left != want {
		t.Errorf("%d are left out, want %d", a.Left, want)
	}
	for _, a := range []*screen.Axis{screen.NewAxis(screen.Span{}, nil, 3), screen.NewAxis(screen.Span{From: 9, To: 5}, []screen.Span{{7, 6}}, 0)} {
		if got := marked(a, screen.Span{From: -5, To: 1 << 62}, '#'); !strings.HasPrefix(got, "#") {
			t.Errorf("nothing at all is %q", got)
		}
	}
}

func TestWhenColoursAreWritten(t *testing.T) {
	for _, c := range []struct {
		when               screen.When
		terminal, unwanted bool
		kind               string
		want               bool
	}{
		{"", true, false, "xterm", true}, {screen.Auto, true, false, "", true}, {"", false, false, "xterm", false}, {"", true, true, "xterm", false},
		{"", true, false, "dumb", false}, {screen.Always, false, true, "dumb", true}, {screen.Never, true, false, "xterm", false},
	} {
		if got := bool(c.when.Colours(c.terminal, c.unwanted, c.kind)); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	if got := screen.Paint(true).Red("x") + screen.Paint(true).Red("") + screen.Paint(false).Green("y"); got != "\x1b[31mx\x1b[0my" {
		t.Errorf("got %q", got)
	}
}

func TestAPipeIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := screen.NewLive(w)
	l.Draw("a block")
	if _, err := l.Write([]byte("text\n")); err != nil {
		t.Fatal(err)
	}
	w.Close()
	b := make([]byte, 100)
	n, _ := r.Read(b)
	if columns, lines, ok := screen.Size(w); string(b[:n]) != "text\n" || l.Terminal() || ok || columns != 80 || lines != 24 {
		t.Errorf("it gets %q, and has %d columns and %d lines, %v", b[:n], columns, lines, ok)
	}
}
