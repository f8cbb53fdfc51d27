package toolabi

import "unicode/utf8"

// reader reads what the functions above write. After anything else, bad is set, what it returns means nothing, and the
// general decoder says what is wrong.
type reader struct {
	rest []byte
	bad  bool
}

func readRequest(b []byte) (r Request, ok bool) {
	in := reader{rest: b}
	in.want(cborMap | 3)
	in.want(1)
	r.ABI = uint8(in.number(1<<8 - 1))
	in.want(2)
	r.Tool = in.text()
	in.want(3)
	r.Input = in.bytes(cborBytes)
	return r, in.done()
}

func readReply(b []byte) (r Reply, ok bool) {
	in := reader{rest: b}
	pairs := in.head(cborMap)
	if pairs > 0 && in.key(1) {
		pairs--
		r.Output = in.bytes(cborBytes)
		in.bad = in.bad || len(r.Output) == 0
	}
	if pairs > 0 && in.key(2) {
		pairs--
		r.Err = in.error()
	}
	return r, in.done() && pairs == 0
}

func (r *reader) error() *Error {
	e := new(Error)
	pairs := r.head(cborMap)
	r.want(1)
	e.Code = Code(r.number(1<<16 - 1))
	pairs--
	field := func(key byte, read func()) {
		if pairs > 0 && r.key(key) {
			pairs--
			read()
		}
	}
	field(2, func() { e.Message = r.text(); r.bad = r.bad || e.Message == "" })
	field(3, func() { e.Retry = Retry(r.positive(1<<8 - 1)) })
	field(4, func() { e.Effect = EffectState(r.positive(1<<8 - 1)) })
	field(5, func() { e.RetryAfterMS = r.positive(1<<64 - 1) })
	field(6, func() { e.Detail = r.text(); r.bad = r.bad || e.Detail == "" })
	r.bad = r.bad || pairs != 0
	return e
}

func (r *reader) done() bool { return !r.bad && len(r.rest) == 0 }

// key takes a byte if it is the next one.
func (r *reader) key(b byte) bool {
	if r.bad || len(r.rest) == 0 || r.rest[0] != b {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// want takes a byte that has to be the next one.
func (r *reader) want(b byte) { r.bad = !r.key(b) || r.bad }

// take takes n bytes.
func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// head takes the head of an item of a major type, which has to be in its shortest form.
func (r *reader) head(major byte) uint64 {
	first := r.take(1)
	if r.bad || first[0]&0xe0 != major {
		r.bad = true
		return 0
	}
	info := first[0] & 0x1f
	if info < 24 {
		return uint64(info)
	}
	if info > 27 {
		r.bad = true
		return 0
	}
	size := uint64(1) << (info - 24)
	var n uint64
	for _, b := range r.take(size) {
		n = n<<8 | uint64(b)
	}
	least := uint64(24)
	if size > 1 {
		least = 1 << (4 * size)
	}
	r.bad = r.bad || n < least
	return n
}

func (r *reader) number(most uint64) uint64 {
	n := r.head(cborUint)
	r.bad = r.bad || n > most
	return n
}

func (r *reader) positive(most uint64) uint64 {
	n := r.number(most)
	r.bad = r.bad || n == 0
	return n
}

func (r *reader) bytes(major byte) []byte { return r.take(r.head(major)) }

func (r *reader) text() string {
	b := r.bytes(cborText)
	r.bad = r.bad || !utf8.Valid(b)
	return string(b)
}
