package wasm

import (
	"fmt"
	"unicode/utf8"
)

// reader reads the binary format of WebAssembly. The first thing that is wrong stays in err, everything read after it is
// zero, and nothing is ever allocated for a count or a length that the bytes left could not hold.
type reader struct {
	b    []byte
	pos  int
	base int // where b begins in the module, for messages
	err  error
}

func (r *reader) fail(format string, a ...any) {
	if r.err == nil {
		r.err = &FormatError{r.base + r.pos, fmt.Sprintf(format, a...)}
	}
}

func (r *reader) left() int { return len(r.b) - r.pos }

// more says whether there is something left to read and nothing went wrong.
func (r *reader) more() bool { return r.err == nil && r.left() > 0 }

func (r *reader) byte() byte {
	if r.err == nil && r.pos < len(r.b) {
		r.pos++
		return r.b[r.pos-1]
	}
	r.fail("unexpected end")
	return 0
}

// bytes returns the next n bytes, which are not copied.
func (r *reader) bytes(n uint32) []byte {
	if r.err != nil {
		return nil
	}
	if uint64(n) > uint64(r.left()) {
		r.fail("%d bytes wanted, %d left", n, r.left())
		return nil
	}
	b := r.b[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// u32 reads an unsigned LEB128 of at most five bytes.
func (r *reader) u32() uint32 {
	if r.err == nil && r.pos < len(r.b) && r.b[r.pos] < 0x80 { // nearly all of them
		r.pos++
		return uint32(r.b[r.pos-1])
	}
	return r.longU32()
}

func (r *reader) longU32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x0f {
			r.fail("number is over 32 bits")
			return 0
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail("number is over 32 bits")
	return 0
}

// skipLEB passes over a LEB128 of at most max bytes, whatever its value.
func (r *reader) skipLEB(max int) {
	for range max {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("number has more than %d bytes", max)
}

// count reads how many items follow, each of which takes at least size bytes, and holds it against the bytes left and a cap.
func (r *reader) count(what string, size, limit uint32) int {
	n := r.u32()
	if r.err != nil {
		return 0
	}
	if uint64(n)*uint64(size) > uint64(r.left()) {
		r.fail("%d %s announced, %d bytes left", n, what, r.left())
		return 0
	}
	r.within(what, uint64(n), limit)
	if r.err != nil {
		return 0
	}
	return int(n)
}

// within holds a number against a cap.
func (r *reader) within(what string, found uint64, limit uint32) {
	if r.err == nil && found > uint64(limit) {
		r.err = &CapError{What: what, Found: found, Limit: uint64(limit)}
	}
}

// name reads a UTF-8 string.
func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail("a name is not UTF-8")
		return ""
	}
	return string(b)
}

// sub returns a reader of the next n bytes.
func (r *reader) sub(n uint32) *reader {
	s := &reader{base: r.base + r.pos}
	s.b = r.bytes(n)
	s.err = r.err
	return s
}

// end takes over the outcome of a reader made by sub, which must have read everything.
func (r *reader) end(s *reader, what string) {
	if r.err != nil {
		return
	}
	if r.err = s.err; r.err == nil && s.left() > 0 {
		s.fail("%s has %d bytes too many", what, s.left())
		r.err = s.err
	}
}
