package memory

import (
	"bytes"
	"sync/atomic"
)

// Image is what a memory is put back to. It never changes and may be used concurrently. Its bytes live until Close was called
// once for NewImage and for each Retain, and every region that adopted it was freed or has adopted another.
type Image struct {
	content []byte // nobody writes it
	file    handle // what regions map it from
	users   atomic.Int64
}

// NewImage makes an image of a memory whose size is a multiple of PageSize. The bytes are copied.
func (k Kind) NewImage(content []byte) *Image {
	i := &Image{}
	i.users.Store(1)
	if k == Portable || !i.fill(content) {
		i.content, i.file = bytes.Clone(content), noFile
	}
	return i
}

// Size is how many bytes it has.
func (i *Image) Size() uint64 { return uint64(len(i.content)) }

// Retain keeps the image for one more user, who calls Close, while there is another one.
func (i *Image) Retain() { i.users.Add(1) }

// Close ends one use.
func (i *Image) Close() { i.release() }

// release ends one use of an image; nil is none.
func (i *Image) release() {
	if i != nil && i.users.Add(-1) == 0 {
		i.free()
		i.content = nil
	}
}
