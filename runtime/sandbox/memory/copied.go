package memory

// copied is a region in Go's heap. Until it adopts an image, it is copied where it grows.
type copied struct {
	limit uint64
	buf   []byte
	used  uint64 // the most bytes that were asked for since everything behind the image was zero
	image *Image
}

// First implements Region.
func (c *copied) First(size uint64) ([]byte, error) {
	if size > uint64(cap(c.buf)) {
		room := size
		if len(c.buf) > 0 { // a quarter more than asked for, so that growing page by page does not copy each time
			room = min(size+size/4, c.limit)
		}
		grown := make([]byte, size, room)
		copy(grown, c.buf[:c.used])
		c.buf = grown
	}
	c.used = max(c.used, size)
	return c.buf[:size:size], nil
}

// Adopt implements Region.
func (c *copied) Adopt(i *Image) error {
	i.Retain()
	c.image.release()
	c.image = i
	if _, err := c.First(i.Size()); err != nil {
		return err
	}
	c.Reset()
	return nil
}

// Reset implements Region.
func (c *copied) Reset() {
	restore(c.buf[:c.used], c.image.content, 0)
	c.used = c.image.Size()
}

// Held implements Region.
func (c *copied) Held() uint64 { return uint64(cap(c.buf)) }

// Free implements Region.
func (c *copied) Free() error {
	c.image.release()
	c.buf, c.used, c.image = nil, 0, nil
	return nil
}
