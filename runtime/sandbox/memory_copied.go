package sandbox

import "errors"

// copied is a region that Go's heap holds, for systems without another one. Where it grows it is copied.
type copied struct {
	limit uint64
	buf   []byte
}

func newCopied(limit uint64) (region, error) {
	if limit > maxInt {
		return nil, errors.New("that is more than this processor can address")
	}
	return &copied{limit: limit}, nil
}

const maxInt = uint64(^uint(0) >> 1)

func (c *copied) first(size uint64) ([]byte, error) {
	if size > uint64(cap(c.buf)) {
		// A quarter more than asked for, so that growing page by page does not copy each time.
		grown := make([]byte, size, min(size+size/4, c.limit))
		copy(grown, c.buf)
		c.buf = grown
	}
	c.buf = c.buf[:size]
	return c.buf[:size:size], nil
}

func (c *copied) free() error {
	c.buf = nil
	return nil
}
