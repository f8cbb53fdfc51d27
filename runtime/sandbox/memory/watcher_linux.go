package memory

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher is a scanner for regions whose clean pages are write-protected: Documentation/admin-guide/mm/userfaultfd.rst of the
// kernel's source, with the asynchronous mode of Linux 6.7, in which the kernel itself lets a write through and notes it. It
// finds the same pages, and needs to look at one bit of each, not at what lies behind it.
type watcher struct {
	scanner
	faults int // the userfaultfd
}

// userfaultfd returns the one of this process, which stays open: a region is registered with it until it is unmapped.
var userfaultfd = sync.OnceValues(func() (int, error) {
	const userModeOnly = 1 // what every user may have
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	const unpopulated, async = 1 << 13, 1 << 15
	api := struct{ api, features, ioctls uint64 }{api: 0xaa, features: unpopulated | async}
	if err := ioctl(int(fd), 0xc018aa3f, unsafe.Pointer(&api)); err != nil { // UFFDIO_API
		_ = unix.Close(int(fd))
		return -1, err
	}
	return int(fd), nil
})

func newWatcher(pages *os.File) finder {
	fd, err := userfaultfd()
	if err != nil {
		return nil
	}
	return &watcher{scanner: scanner{pages: pages}, faults: fd}
}

// follow implements finder.
func (w *watcher) follow(region []byte) error {
	const writeProtect = 1 << 1
	register := struct{ start, len, mode, ioctls uint64 }{start: address(region), len: uint64(len(region)), mode: writeProtect}
	return ioctl(w.faults, 0xc020aa00, unsafe.Pointer(&register)) // UFFDIO_REGISTER
}

// clean implements finder.
func (w *watcher) clean(pages []byte) error {
	if len(pages) == 0 {
		return nil
	}
	protect := struct{ start, len, mode uint64 }{start: address(pages), len: uint64(len(pages)), mode: 1}
	return ioctl(w.faults, 0xc018aa06, unsafe.Pointer(&protect)) // UFFDIO_WRITEPROTECT
}

// written implements finder.
func (w *watcher) written(begin []byte, to visitor) error {
	return w.scan(begin, scanFor{all: pageWritten, tell: pageWritten}, to)
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
