package sandbox

import (
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxStdio is how much is kept of what a guest writes to its standard output and error, in bytes.
const maxStdio = 64 << 10

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

func (t *tail) write(p []byte) {
	if n := len(p); n > maxStdio {
		p = p[n-maxStdio:]
	}
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*maxStdio {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxStdio:]...)
	}
}

// text returns the end as people may see it, at most maxStdio bytes, with its lines.
func (t *tail) text() []byte {
	b := t.buf
	if len(b) == 0 {
		return nil
	}
	if len(b) > maxStdio {
		b = b[len(b)-maxStdio:]
	}
	s := toolabi.CleanText(string(b), 3*maxStdio) // a stray byte becomes three
	if cut := len(s) - maxStdio; cut > 0 {
		for !utf8.RuneStart(s[cut]) {
			cut++
		}
		s = s[cut:]
	}
	if s == "" {
		return nil
	}
	return []byte(s)
}
