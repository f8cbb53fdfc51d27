package hostfuncs

import "bytes"

// search finds values in text. It does not change, so it may be used concurrently.
type search struct {
	forms   []*form
	first   [256][]*form    // the forms that can begin with a character, unescaped
	pairs   [1 << 10]uint64 // the two bytes that an occurrence can begin with, as a set
	longest int
}

// newSearch makes a search for all the forms.
func newSearch(forms []*form) *search {
	s := &search{forms: forms}
	for _, f := range forms {
		s.longest = max(s.longest, f.longest())
		for c := range 256 {
			if !f.takes(0, byte(c)) {
				continue
			}
			s.first[c] = append(s.first[c], f)
			for d := range 256 {
				if f.takes(1, byte(d)) || mayEscape(byte(d)) || f.kind == asBase64 && isBreak(byte(d)) {
					s.pairs[c<<2|d>>6] |= 1 << (d & 63)
				}
			}
		}
	}
	for _, c := range `%\&` {
		for d := range 4 {
			s.pairs[int(c)<<2|d] = ^uint64(0)
		}
	}
	return s
}

// mayEscape says whether c can be the first byte of what stands for another one.
func mayEscape(c byte) bool { return c == '%' || c == '\\' || c == '&' || c == '+' }

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// begun returns the first place from i on where an occurrence can begin; the last byte is one.
func (s *search) begun(b []byte, i int) int {
	for ; i+1 < len(b); i++ {
		c, d := b[i], b[i+1]
		if s.pairs[int(c)<<2|int(d)>>6]&(1<<(d&63)) != 0 && !s.dull(b[i:]) {
			return i
		}
	}
	return i
}

// dull says of the most frequent escape sequences that nothing begins with what they stand for.
func (s *search) dull(b []byte) bool {
	switch b[0] {
	case '%':
		if len(b) < 3 || b[1] == '2' && b[2] == '5' || s.first['%'] != nil {
			return false
		}
		hi, lo := hexDigit(b[1]), hexDigit(b[2])
		return hi < 0 || lo < 0 || s.first[hi<<4|lo] == nil
	case '\\':
		return s.first['\\'] == nil && controls[b[1]] != 0 && s.first[controls[b[1]]] == nil
	}
	return false
}

// at returns the longest occurrence that begins at b[i]: where it ends, and of which secret; an end of 0 where there is none. short
// says that there might be a longer one if b went on. Where the patience ends, name is of the secret that was looked for then.
func (s *search) at(b []byte, i int, p *patience) (end int, name string, short bool) {
	var room [8]escape
	all, short := escapes(b[i:], append(room[:0], byteEscape(b[i], 1)))
	p.left -= escapeWork * int64(len(all))
	for _, e := range all {
		for _, f := range s.first[e.char[0]] {
			m := matching{form: f, b: b, limit: i + f.longest(), steps: 8*len(f.units) + 64}
			k := 1
			if e.size > 1 {
				k = m.take(0, e)
			}
			if k > 0 {
				if to := m.from(i+e.len, k); to > end {
					end, name = to, f.name
				}
				short = short || m.short
			}
			if p.left -= int64(1 + m.work); p.over() {
				return end, f.name, false
			}
		}
	}
	if p.over() {
		return end, s.forms[0].name, false
	}
	return end, name, short
}

// patience is how much may still be done for a text, in units that a match of a byte is one of. A value that repeats itself in a text that repeats it could
// take thousands for each byte; usual ones take a few. A text for which it does not last counts as full of the value.
type patience struct{ left int64 }

const (
	leastPatience   = 4 << 20
	patiencePerByte = 16
	escapeWork      = 8 // what it takes to read an escape sequence
)

// add makes it last for so many bytes more.
func (p *patience) add(bytes int) { p.left += patiencePerByte * int64(bytes) }

func (p *patience) over() bool { return p.left <= 0 }

// matching follows one form through the text from one place.
type matching struct {
	form  *form
	b     []byte
	limit int  // where an occurrence must have ended
	steps int  // that may still be taken: there can be several ways to read an escape sequence
	work  int  // that was done
	short bool // the text ended before it was known
}

// from returns where an occurrence ends whose unit k begins at b[i], or -1.
func (m *matching) from(i, k int) int {
	for k < len(m.form.units) {
		m.steps--
		m.work++
		switch {
		case i > m.limit || m.steps <= 0:
			return -1
		case i == len(m.b):
			m.short = true
			return -1
		}
		c := m.b[i]
		if c == '%' || c == '\\' || c == '&' {
			if end := m.escaped(i, k); end >= 0 {
				return end
			}
		}
		switch {
		case m.form.takes(k, c), c == '+' && m.form.kind == asText && m.form.units[k] == ' ':
			k++
		case !m.skips(c):
			return -1
		}
		i++
	}
	if i > m.limit {
		return -1
	}
	return i
}

// escaped is from for a place where an escape sequence may be.
func (m *matching) escaped(i, k int) int {
	var room [8]escape
	all, short := escapes(m.b[i:], room[:0])
	m.work += escapeWork
	m.short = m.short || short
	for _, e := range all {
		if next := m.take(k, e); next >= 0 {
			if end := m.from(i+e.len, next); end >= 0 {
				return end
			}
		}
	}
	return -1
}

// take returns the unit behind those that an escape sequence stands for, or -1.
func (m *matching) take(k int, e escape) int {
	switch {
	case e.size == 1 && m.form.takes(k, e.char[0]):
		return k + 1
	case e.size == 1 && m.skips(e.char[0]):
		return k
	case m.form.kind == asText && bytes.HasPrefix(m.form.units[k:], e.char[:e.size]):
		return k + e.size
	}
	return -1
}

// skips says whether c can stand between two units: base64 is often broken into lines.
func (m *matching) skips(c byte) bool { return m.form.kind == asBase64 && isBreak(c) }
