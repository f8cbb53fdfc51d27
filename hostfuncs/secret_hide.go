package hostfuncs

import (
	"errors"
	"io"

	"github.com/wrun-dev/wrun/toolabi"
)

// hiding replaces values in a text that comes in parts. Where occurrences overlap they are replaced together, by the mark of each
// secret that reaches further than those before it.
type hiding struct {
	search *search
	in     []byte // what was not decided on yet
	over   int    // so many bytes at its begin belong to an occurrence
	marked string // the secret whose mark was written last, while over > 0
}

// next appends to out what is decided of the text so far, and of all of it when it is final.
func (h *hiding) next(out []byte, final bool) []byte {
	clean, i := h.over, 0 // in[clean:i] is what nothing was found in
	for ; i < len(h.in); i++ {
		if i = h.search.begun(h.in, i); i+1 == len(h.in) && !final {
			break
		}
		end, name, short := h.search.at(h.in, i)
		if short && !final {
			break
		}
		if end <= h.over {
			continue
		}
		if i >= h.over {
			out = append(out, h.in[clean:i]...)
			h.marked = ""
		}
		if name != h.marked {
			out = append(out, toolabi.SecretMark(name)...)
			h.marked = name
		}
		h.over, clean = end, end
	}
	if i > clean {
		out = append(out, h.in[clean:i]...)
	}
	h.in = h.in[i:]
	h.over = max(h.over-i, 0)
	return out
}

// hide returns b itself when nothing is found in it.
func (s *search) hide(b []byte) []byte {
	if s.find(b) == "" {
		return b
	}
	h := hiding{search: s, in: b}
	return h.next(nil, true)
}

// find returns the name of the first secret in b.
func (s *search) find(b []byte) string {
	for i := s.begun(b, 0); i < len(b); i = s.begun(b, i+1) {
		if end, name, _ := s.at(b, i); end > 0 {
			return name
		}
	}
	return ""
}

// hidingReader is hiding over what a reader yields. It holds back as much as an occurrence may be long.
type hidingReader struct {
	r    io.Reader
	h    hiding
	read []byte
	out  []byte // decided, and not read yet
	room []byte // where out is written
	err  error
}

// hidingChunk is how many bytes are asked for at once.
const hidingChunk = 32 << 10

func (r *hidingReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		var n int
		if r.read == nil {
			r.read = make([]byte, hidingChunk)
		}
		n, r.err = r.r.Read(r.read)
		if n < 0 || n > len(r.read) {
			return 0, errors.New("a reader said that it read what cannot be")
		}
		r.h.in = append(r.h.in[:len(r.h.in):cap(r.h.in)], r.read[:n]...)
		r.out = r.h.next(r.room[:0], r.err != nil)
		r.room = r.out
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}
