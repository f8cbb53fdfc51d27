package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapOver puts a private copy of the image over a piece of memory of its size, and returns what finds the pages of it that
// are written from then on. It is nil, and nothing was done, where the image has no file or the system does not tell.
func (i *Image) mapOver(mem []byte) (finder, error) {
	find := newFinder()
	if i.file == noFile || find == nil {
		return nil, nil
	}
	_, err := unix.MmapPtr(int(i.file), 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return find, err
}
