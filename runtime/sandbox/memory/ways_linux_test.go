package memory

import (
	"os"
	"testing"
)

const calmResetsHere = calmResets

// waysHere are those of other kernels. A kernel that lacks one of the finders fails TestThisKernelTells and runs the other.
var waysHere = []way{
	{"read", Native, with(newReader)},
	{"scanned", Native, with(newScanner)},
	{"compared", Native, func(r Region, i *Image) error {
		return r.Adopt(Portable.NewImage(i.content))
	}},
}

// with adopts an image and has its pages found by another finder.
func with(make func(*os.File) finder) func(Region, *Image) error {
	return func(r Region, i *Image) error {
		err := r.Adopt(i)
		if pages, _ := pagemap(); pages != nil && r.(*mapped).find != nil {
			r.(*mapped).find = make(pages)
		}
		return err
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
}
