package memory

import (
	"os"
	"testing"
)

const calmResetsHere = calmResets

// waysHere are those of other kernels.
var waysHere = []way{
	{"watched", Native, with(newWatcher)},
	{"scanned", Native, with(newScanner)},
	{"read", Native, with(newReader)},
	{"compared", Native, func(r Region, i *Image) error {
		r.(*mapped).tells = func() finder { return nil }
		return r.Adopt(i)
	}},
}

// with adopts an image and has its pages found in one way. A kernel that lacks it compares, and TestThisKernelTells says so.
func with(make func(*os.File) finder) func(Region, *Image) error {
	return func(r Region, i *Image) error {
		pages, _ := pagemap()
		if pages == nil || !works(make(pages)) {
			r.(*mapped).tells = func() finder { return nil }
		} else {
			r.(*mapped).tells = func() finder { return make(pages) }
		}
		return r.Adopt(i)
	}
}

func TestThisKernelTells(t *testing.T) {
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skip(err)
	}
	defer pages.Close()
	if !works(newReader(pages)) {
		t.Error("reading the pagemap does not work here; every kernel since 4.2 has it")
	}
	if !works(newScanner(pages)) {
		t.Log("this kernel has no PAGEMAP_SCAN, which came with 6.7")
	}
	if !works(newWatcher(pages)) {
		t.Log("this kernel has no asynchronous write protection, which came with 6.7, or not for this user")
	}
}
