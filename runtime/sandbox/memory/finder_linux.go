package memory

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pagemap returns the process's /proc/self/pagemap, which stays open, and what makes a finder from it: the best that works
// here, which is tried once. That is nil where none does.
var pagemap = sync.OnceValues(func() (*os.File, func(pages *os.File) finder) {
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil, nil
	}
	for _, make := range finders {
		if works(make(pages)) {
			return pages, make
		}
	}
	_ = pages.Close()
	return nil, nil
})

// finders are the ways in which a kernel tells, the best one first.
var finders = []func(pages *os.File) finder{newWatcher, newScanner, newReader}

// newFinder returns a finder for one region, nil when the system does not tell.
func newFinder() finder {
	pages, make := pagemap()
	if make == nil {
		return nil
	}
	return make(pages)
}

// works tries a finder where the answer is known: of a file of three pages one was written and one read, and of three behind
// it without a file too. Systems that only look like Linux may know the call and answer something else.
func works(f finder) bool {
	if f == nil {
		return false
	}
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 6*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(mem) }()
	fd, err := unix.MemfdCreate("wrun-try", unix.MFD_CLOEXEC)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	if unix.Ftruncate(fd, int64(3*page)) != nil {
		return false
	}
	_, err = unix.MmapPtr(fd, 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(3*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return false
	}
	if f.follow(mem) != nil || f.clean(mem) != nil {
		return false
	}
	mem[page], mem[4*page] = 1, 1
	touched := mem[2*page] + mem[5*page]
	var found foundPages
	err = f.written(mem, &found)
	found[5] = false // it was read, and some kernels cannot tell that from written
	return err == nil && touched == 0 && found == foundPages{1: true, 4: true}
}

type foundPages [6]bool

func (f *foundPages) visit(piece []byte, at uint64) {
	for page := os.Getpagesize(); len(piece) > 0; piece = piece[page:] {
		f[int(at)/page] = true
		at += uint64(page)
	}
}
