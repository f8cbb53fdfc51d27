package hostfuncs

import "io"

// dotWriter doubles the dot at the begin of a line, as a message needs it on its way. Lines end with carriage return and line
// feed, and w is nowhere in a line at the start.
type dotWriter struct {
	w      io.Writer
	within bool // the last byte was not a line feed
}

// Write writes b with its dots doubled, and returns how much of b was written.
func (d *dotWriter) Write(b []byte) (int, error) {
	start := 0
	for i, c := range b {
		if c == '.' && !d.within {
			if _, err := d.w.Write(b[start:i]); err != nil {
				return start, err
			}
			if _, err := io.WriteString(d.w, "."); err != nil {
				return i, err
			}
			start = i
		}
		d.within = c != '\n'
	}
	n, err := d.w.Write(b[start:])
	return start + n, err
}
