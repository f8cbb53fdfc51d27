package memory

import (
	"encoding/binary"
	"os"
)

// reader finds pages by reading /proc/self/pagemap, which has 64 bits for each of them:
// Documentation/admin-guide/mm/pagemap.rst of the kernel's source. It takes the shared page of zeros for written.
type reader struct {
	pages   *os.File
	entries [4 << 10]byte
}

const (
	entryFile    = 1 << 61 // it is the file's, or shared
	entrySwapped = 1 << 62
	entryPresent = 1 << 63
)

func newReader(pages *os.File) finder { return &reader{pages: pages} }

// follow implements finder.
func (r *reader) follow([]byte) error { return nil }

// clean implements finder.
func (r *reader) clean([]byte) error { return nil }

// written implements finder.
func (r *reader) written(mem []byte, to visitor) error {
	page := os.Getpagesize()
	first := address(mem) / uint64(page)
	for at := 0; at < len(mem); {
		entries := r.entries[:min(len(r.entries), (len(mem)-at)/page*8)]
		if _, err := r.pages.ReadAt(entries, int64(first+uint64(at/page))*8); err != nil {
			return err
		}
		for ; len(entries) > 0; entries = entries[8:] {
			if e := binary.NativeEndian.Uint64(entries); e&(entryPresent|entrySwapped) != 0 && e&entryFile == 0 {
				to.visit(mem[at:at+page], uint64(at))
			}
			at += page
		}
	}
	return nil
}
