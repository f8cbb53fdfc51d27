package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func (i *Image) canBeMapped() bool { return i.file != noFile }

// mapOver puts a private copy of the image, which has a file, over a piece of memory of its size.
func (i *Image) mapOver(mem []byte) error {
	_, err := unix.MmapPtr(int(i.file), 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}
