package sandbox

// maxStdio is how much is kept of what a guest writes to its standard output and error, in bytes.
const maxStdio = 64 << 10

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

// Write implements io.Writer; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if n > maxStdio {
		p = p[n-maxStdio:]
	}
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*maxStdio {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxStdio:]...)
	}
	return n, nil
}

// text returns the end as people may see it.
func (t *tail) text() []byte {
	b := t.buf
	if len(b) > maxStdio {
		b = b[len(b)-maxStdio:]
	}
	s := cleanText(string(b))
	if len(s) > maxStdio { // a stray byte becomes three
		s = cleanText(s[len(s)-maxStdio:])
	}
	if s == "" {
		return nil
	}
	return []byte(s)
}
