package boltdb

import (
	"encoding/binary"
	"os"

	"github.com/wrun-dev/wrun/journal"
)

// maxSalvaged is the longest value that is looked for outside of the tree, in bytes: longer than any entry, and than any value that an
// entry can write.
const maxSalvaged = journal.MaxEntry + 1024

// piece is a key and a value that were found on a page, wherever that belongs to, if to anything.
type piece struct {
	key, value []byte
}

// salvage calls fn with everything on every page that looks like a key with a value. What it finds may be stale, of a commit that never
// was one, half overwritten or made up: whoever takes it has to know by what is in it that it is right. It believes of a page's
// header as little as it can.
func (p *pages) salvage(fn func(piece) error) error {
	b := make([]byte, p.pageSize)
	for id := uint64(2); id < p.count; id++ {
		if err := p.readAt(b, id); err != nil {
			continue
		}
		if err := p.salvagePage(id, b, fn); err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) salvagePage(id uint64, b []byte, fn func(piece) error) error {
	u32 := binary.LittleEndian.Uint32
	// The data of the first key begins where the list of the keys ends, which says how many there are if the header does not.
	count := max(int(binary.LittleEndian.Uint16(b[8:])), int(u32(b[pageHeader+4:])/elementSize))
	count = min(count, (len(b)-pageHeader)/elementSize)
	for i := range count {
		at := pageHeader + i*elementSize
		el := b[at : at+elementSize]
		pos, key, value := u32(el[4:]), u32(el[8:]), u32(el[12:])
		from := int64(at) + int64(pos)
		if u32(el)&bucketFlag != 0 || key == 0 || key > 4096 || value > maxSalvaged || pos < elementSize {
			continue
		}
		all := make([]byte, int64(key)+int64(value))
		if end := from + int64(len(all)); end <= int64(len(b)) {
			copy(all, b[from:end])
		} else if n, _ := p.r.ReadAt(all, int64(id)*p.pageSize+from); n < len(all) {
			continue
		}
		if err := fn(piece{all[:key:key], all[key:]}); err != nil {
			return err
		}
	}
	return nil
}

// salvageHeader looks for the header, which lies within the page that lists the buckets. Its name or its mark may have changed where a
// checksum says that the rest has not. Errors: ErrDamaged.
func (p *pages) salvageHeader() (header, error) {
	u32 := binary.LittleEndian.Uint32
	b := make([]byte, p.pageSize)
	for id := uint64(2); id < p.count; id++ {
		if p.readAt(b, id) != nil {
			continue
		}
		for i := range (len(b) - pageHeader) / elementSize {
			at := pageHeader + i*elementSize
			pos, key, value := int64(u32(b[at+4:])), int64(u32(b[at+8:])), int64(u32(b[at+12:]))
			from := int64(at) + pos
			if key != int64(len(headerBucket)) || from+key+value > int64(len(b)) {
				continue
			}
			t, err := p.open(element{key: headerBucket, value: b[from+key : from+key+value], bucket: true})
			if err != nil || t.inline == nil {
				continue
			}
			fields := map[string][]byte{}
			for _, e := range t.inline.elements {
				fields[string(e.key)] = e.value
			}
			get := func(key []byte) []byte { return fields[string(key)] }
			named := string(b[from:from+key]) == string(headerBucket) && marked(get)
			if h := (header{}); h.parse(get) == nil && (named || h.schema >= 2) {
				return h, nil
			}
		}
	}
	return header{}, damaged("which journal it is cannot be found in it")
}

// guessPages is for a file of which no meta page can be used: pages are as long as most of them say that they are where they are.
func guessPages(f *os.File, size int64) *pages {
	best, most := (*pages)(nil), 0
	for pageSize := int64(minPage); pageSize <= maxPage; pageSize *= 2 {
		p := &pages{r: f, pageSize: pageSize, count: uint64(size / pageSize), branches: map[uint64]*page{}}
		right := 0
		for id := uint64(2); id < min(p.count, 4096); id++ {
			if h, err := p.head(id); err == nil && (h.flags == leafPage || h.flags == branchPage) {
				right++
			}
		}
		if right > most {
			best, most = p, right
		}
	}
	return best
}
