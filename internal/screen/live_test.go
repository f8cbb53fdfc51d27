package screen

import (
	"strings"
	"testing"
)

// glass is what a terminal shows: as much of one as a block needs. It breaks lines that are too long when it becomes narrower.
type glass struct {
	columns int
	rows    [][]rune // up to the cursor's and those below it
	broken  []bool   // of a row: it goes on in the next
	row     int
	at      int
}

func newGlass(columns int) *glass {
	return &glass{columns: columns, rows: [][]rune{nil}, broken: []bool{false}}
}

func (g *glass) Write(p []byte) (int, error) {
	s := []rune(string(p))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\r':
			g.at = 0
		case s[i] == '\n':
			g.down(false)
			g.at = 0
		case s[i] == 0x1b:
			i++ // [
			n := 0
			for i++; s[i] >= '0' && s[i] <= '9'; i++ {
				n = 10*n + int(s[i]-'0')
			}
			g.act(s[i], n)
		default:
			if g.at == g.columns {
				g.down(true)
				g.at = 0
			}
			for len(g.rows[g.row]) <= g.at {
				g.rows[g.row] = append(g.rows[g.row], ' ')
			}
			g.rows[g.row][g.at] = s[i]
			g.at++
		}
	}
	return len(p), nil
}

func (g *glass) down(broken bool) {
	g.broken[g.row] = broken
	if g.row++; g.row == len(g.rows) {
		g.rows, g.broken = append(g.rows, nil), append(g.broken, false)
	}
}

func (g *glass) act(what rune, n int) {
	switch what {
	case 'A':
		g.row = max(g.row-n, 0)
	case 'K':
		g.rows[g.row] = g.rows[g.row][:min(g.at, len(g.rows[g.row]))]
	case 'J':
		g.rows[g.row] = g.rows[g.row][:min(g.at, len(g.rows[g.row]))]
		g.rows, g.broken = g.rows[:g.row+1], g.broken[:g.row+1]
	default:
		panic("a sequence that no terminal here knows: " + string(what))
	}
}

// resize breaks the lines anew. The cursor stays at the end, where a block leaves it.
func (g *glass) resize(columns int) {
	lines, again := []string{""}, newGlass(columns)
	for i, row := range g.rows {
		lines[len(lines)-1] += string(row)
		if !g.broken[i] && i < len(g.rows)-1 {
			lines = append(lines, "")
		}
	}
	_, _ = again.Write([]byte(strings.Join(lines, "\n")))
	*g = *again
}

func (g *glass) String() string {
	var rows []string
	for _, row := range g.rows {
		rows = append(rows, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

func TestABlockStaysBelowWhatIsWritten(t *testing.T) {
	g := newGlass(30)
	l := &Live{w: g, size: func() (int, int, bool) { return g.columns, 6, true }}
	shows := func(want string) {
		t.Helper()
		if got := g.String(); got != want {
			t.Fatalf("it shows\n%s\nwant\n%s", got, want)
		}
		if g.at != 0 && !l.partial {
			t.Fatalf("the cursor is in column %d", g.at)
		}
	}
	_, _ = l.Write([]byte("$ wrun\n"))
	l.Draw("- one", "- two")
	shows("$ wrun\n- one\n- two")
	l.Draw("| one, which goes on", "| two")
	_, _ = l.Write([]byte("a warning\n"))
	shows("$ wrun\na warning\n| one, which goes on\n| two")
	l.Draw("/ two")
	shows("$ wrun\na warning\n/ two")
	_, _ = l.Write([]byte("are you? "))
	l.Draw("/ not now")
	shows("$ wrun\na warning\nare you?")
	_, _ = l.Write([]byte("yes\n"))
	shows("$ wrun\na warning\nare you? yes\n/ not now")
	l.Draw("1", "2", "3", "4", "5", "6", "7")
	shows("$ wrun\na warning\nare you? yes\n1\n2\n3\n4")
	l.Draw(strings.Repeat("x", 50))
	shows("$ wrun\na warning\nare you? yes\n" + strings.Repeat("x", 28) + "…")
	g.resize(10)
	l.Draw("- narrow now")
	shows("$ wrun\na warning\nare you? y\nes\n- narrow…")
	g.resize(30)
	l.Draw("- wide again", "- two")
	shows("$ wrun\na warning\nare you? yes\n- wide again\n- two")
	l.Draw()
	_, _ = l.Write([]byte("done\n"))
	shows("$ wrun\na warning\nare you? yes\ndone")
	l.Draw("- one")
	l.Without(func() {
		l.Draw("- not now")
		_, _ = g.Write([]byte("data\n"))
		l.Draw("- one")
	})
	shows("$ wrun\na warning\nare you? yes\ndone\ndata\n- one")
	l.Close()
	l.Draw("- two")
	l.Without(func() {})
	shows("$ wrun\na warning\nare you? yes\ndone\ndata")
}
