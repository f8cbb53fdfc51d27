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
	patience
	full bool // the patience has ended: what came then and comes behind it is one occurrence
}

// newHiding returns a hiding of a text that comes in parts.
func newHiding(s *search) hiding { return hiding{search: s, patience: patience{leastPatience}} }

// more adds to the text.
func (h *hiding) more(b []byte) {
	h.in = append(h.in[:len(h.in):cap(h.in)], b...)
	h.add(len(b))
}

// next appends to out what is decided of the text so far, and of all of it when it is final.
func (h *hiding) next(out []byte, final bool) []byte {
	if h.full {
		h.in = nil
		return out
	}
	clean, i := h.over, 0 // in[clean:i] is what nothing was found in
	for ; i < len(h.in); i++ {
		if i = h.search.begun(h.in, i); i+1 == len(h.in) && !final {
			break
		}
		end, name, short := h.search.at(h.in, i, &h.patience)
		if h.full = h.patience.over(); h.full {
			end = len(h.in)
		}
		if short && !final && !h.full {
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
		if h.full {
			i = end
			break
		}
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
	h := newHiding(s)
	h.in = b
	h.add(len(b))
	return h.next(nil, true)
}

// find returns the name of the first secret in b.
func (s *search) find(b []byte) string {
	p := patience{leastPatience}
	p.add(len(b))
	for i := s.begun(b, 0); i < len(b); i = s.begun(b, i+1) {
		if end, name, _ := s.at(b, i, &p); end > 0 || p.over() {
			return name
		}
	}
	return ""
}

// errFull says that too much of a text looks like the value of a secret to tell where it does not.
var errFull = errors.New("too much of it looks like the value of a secret")

// hidingReader is hiding over what a reader yields. It holds back as much as an occurrence may be long. A text that its patience
// does not last for ends with errFull.
type hidingReader struct {
	r    io.Reader
	h    hiding
	read []byte
	out  []byte // decided, and not read yet
	room []byte // where out is written
	err  error
}

// hidingChunk is how many bytes are looked at at once, where there are so many: what was held back is looked at again with each.
const hidingChunk = 32 << 10

func (r *hidingReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		r.h.more(r.chunk())
		r.out = r.h.next(r.room[:0], r.err != nil)
		r.room = r.out
		if r.h.full {
			r.err = errFull
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// chunk reads until there is a chunk, or an error.
func (r *hidingReader) chunk() []byte {
	if r.read == nil {
		r.read = make([]byte, hidingChunk)
	}
	have := 0
	for idle := 0; have < len(r.read) && r.err == nil; {
		var n int
		n, r.err = r.r.Read(r.read[have:])
		if n < 0 || n > len(r.read)-have {
			r.err = errors.New("a reader said that it read what cannot be")
			return nil
		}
		if idle++; n > 0 {
			idle = 0
		}
		if idle == maxIdle {
			r.err = io.ErrNoProgress
		}
		have += n
	}
	return r.read[:have]
}

// maxIdle is how often a reader may yield nothing and no error.
const maxIdle = 100
