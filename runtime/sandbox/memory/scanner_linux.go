package memory

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scanner finds pages with the ioctl PAGEMAP_SCAN of Linux 6.7: include/uapi/linux/fs.h and
// Documentation/admin-guide/mm/pagemap.rst of the kernel's source. It has to lie in the heap, because the kernel is given the
// address of one part in another.
//
// A page was written when it is the mapping's own: not the file's, and in memory or swapped out. The kernel looks at each page
// that is mapped for that, also at those that were only read.
type scanner struct {
	pages  *os.File
	arg    scanArg
	ranges [64]pageRange
}

// scanArg is struct pm_scan_arg.
type scanArg struct {
	size, flags           uint64
	start, end, walkEnd   uint64
	vec, vecLen, maxPages uint64
	scanFor
}

// scanFor says which pages are wanted, as categories of pages.
type scanFor struct{ inverted, all, any, tell uint64 }

// pageRange is struct page_region: addresses, and what its pages have in common.
type pageRange struct{ start, end, _ uint64 }

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	// What a page is.
	pageWritten = 1 << 1 // since it was write-protected by a userfaultfd
	pageFile    = 1 << 2
	pagePresent = 1 << 3
	pageSwapped = 1 << 4
	pageZero    = 1 << 5 // the one page of zeros that everyone shares
)

func newScanner(pages *os.File) finder { return &scanner{pages: pages} }

// follow implements finder.
func (s *scanner) follow([]byte) error { return nil }

// clean implements finder.
func (s *scanner) clean([]byte) error { return nil }

// written implements finder.
func (s *scanner) written(begin []byte, to visitor) error {
	return s.scan(begin, scanFor{inverted: pageFile | pageZero, all: pageFile | pageZero, any: pagePresent | pageSwapped, tell: pagePresent}, to)
}

func (s *scanner) scan(begin []byte, wanted scanFor, to visitor) error {
	base := address(begin)
	s.arg = scanArg{
		size:  uint64(unsafe.Sizeof(s.arg)),
		start: base, end: base + uint64(len(begin)),
		vec: uint64(uintptr(unsafe.Pointer(&s.ranges))), vecLen: uint64(len(s.ranges)),
		scanFor: wanted,
	}
	for s.arg.start < s.arg.end {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, s.pages.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s.arg)))
		if errno != 0 {
			return errno
		}
		for _, r := range s.ranges[:n] {
			to.visit(begin[r.start-base:r.end-base], r.start-base)
		}
		if s.arg.walkEnd <= s.arg.start {
			return unix.EIO // it would not end
		}
		s.arg.start = s.arg.walkEnd
	}
	return nil
}

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
