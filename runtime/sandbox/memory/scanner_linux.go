package memory

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scanner finds pages with the ioctl PAGEMAP_SCAN of Linux 6.7: include/uapi/linux/fs.h and
// Documentation/admin-guide/mm/pagemap.rst of the kernel's source. It has to lie in the heap, because the kernel is given the
// address of one part in another.
type scanner struct {
	pages  *os.File
	arg    scanArg
	ranges [64]pageRange
}

// scanArg is struct pm_scan_arg.
type scanArg struct {
	size, flags                                       uint64
	start, end, walkEnd                               uint64
	vec, vecLen, maxPages                             uint64
	categoryInverted, categoryMask, categoryAnyOfMask uint64
	returnMask                                        uint64
}

// pageRange is struct page_region: addresses, and what its pages have in common.
type pageRange struct{ start, end, _ uint64 }

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	// What a page is.
	pageFile    = 1 << 2
	pagePresent = 1 << 3
	pageSwapped = 1 << 4
	pageZero    = 1 << 5 // the one page of zeros that everyone shares
)

func newScanner(pages *os.File) finder { return &scanner{pages: pages} }

// written implements finder: a page is the mapping's own when it is not the file's and is in memory or swapped out.
func (s *scanner) written(mem []byte, to visitor) error {
	if len(mem) == 0 {
		return nil
	}
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
	s.arg = scanArg{
		size:  uint64(unsafe.Sizeof(s.arg)),
		start: base, end: base + uint64(len(mem)),
		vec: uint64(uintptr(unsafe.Pointer(&s.ranges))), vecLen: uint64(len(s.ranges)),
		categoryInverted: pageFile | pageZero, categoryMask: pageFile | pageZero,
		categoryAnyOfMask: pagePresent | pageSwapped,
	}
	for s.arg.start < s.arg.end {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, s.pages.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s.arg)))
		if errno != 0 {
			return errno
		}
		for _, r := range s.ranges[:n] {
			to.visit(mem[r.start-base:r.end-base], r.start-base)
		}
		if s.arg.walkEnd <= s.arg.start {
			return unix.EIO // it would not end
		}
		s.arg.start = s.arg.walkEnd
	}
	return nil
}
