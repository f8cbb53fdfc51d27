package boltdb

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// account finds out whether every page is used once or is free, and says to fault what is not so. Of pages that hold the journal's
// data it reads branch pages, and only the beginnings of leaf pages: what is in those is for whoever reads the data. It takes two bits of
// memory for each page.
func (p *pages) account(freelist uint64, fault func(error)) {
	a := accounts{p: p, used: newBits(p.count), free: newBits(p.count), fault: fault}
	a.tree(p.top(), nil, true)
	a.freelist(freelist)
	a.close()
}

type accounts struct {
	p          *pages
	used, free bits
	partial    bool // what lies below a page that cannot be read is not known
	fault      func(error)
}

// bits is a set of pages.
type bits []uint64

func newBits(n uint64) bits          { return make(bits, n/64+1) }
func (b bits) has(n uint64) bool     { return b[n/64]&(1<<(n%64)) != 0 }
func (b bits) set(n uint64)          { b[n/64] |= 1 << (n % 64) }
func (a *accounts) failed(err error) { a.fault(err); a.partial = true }
func (a *accounts) again(n uint64)   { a.fault(damaged("page %d is used twice", n)) }
func (a *accounts) mark(n, more uint64) (first bool) {
	first = true
	for i := n; i <= n+more; i++ {
		if a.used.has(i) {
			if first {
				a.again(i)
			}
			first = false
		}
		a.used.set(i)
	}
	return first
}

// tree goes through a bucket. With buckets it may have others inside.
func (a *accounts) tree(t tree, name []byte, buckets bool) {
	if t.inline != nil {
		a.inside(t.inline, buckets)
		return
	}
	a.page(t.root, nil, nil, nil, buckets)
}

// page goes through a page and what lies below. e is where the page above names it, nil for a root.
func (a *accounts) page(id uint64, e *element, behind []byte, path []uint64, buckets bool) {
	h, err := a.p.head(id)
	if err != nil {
		a.failed(err)
		return
	}
	if !a.mark(id, h.overflow) {
		return
	}
	if h.flags == leafPage && !buckets {
		return // what is in it is read with the data
	}
	var pg *page
	if e == nil {
		pg, err = a.p.read(id)
	} else {
		pg, err = a.p.below(*e, behind, path)
	}
	if err != nil {
		a.failed(err)
		return
	}
	if pg.leaf {
		a.inside(pg, buckets)
		return
	}
	path = append(slices.Clone(path), id)
	for i := range pg.elements {
		var behind []byte
		if i+1 < len(pg.elements) {
			behind = pg.elements[i+1].key
		}
		a.page(pg.elements[i].child, &pg.elements[i], behind, path, buckets)
	}
}

// inside opens the buckets in a page.
func (a *accounts) inside(pg *page, buckets bool) {
	for _, e := range pg.elements {
		if !e.bucket || !buckets {
			continue
		}
		t, err := a.p.open(e)
		if err != nil {
			a.failed(err)
			continue
		}
		a.tree(t, e.key, string(e.key) == string(copiesBucket))
	}
}

// freelist reads the list of free pages, a piece at a time.
func (a *accounts) freelist(id uint64) {
	h, err := a.p.head(id)
	if err != nil {
		a.failed(err)
		return
	}
	if h.flags != freelistPage {
		a.failed(damaged("page %d should list the free pages and is of kind %#x", id, h.flags))
		return
	}
	a.mark(id, h.overflow)
	at, end := int64(id)*a.p.pageSize+pageHeader, int64(id+h.overflow+1)*a.p.pageSize
	count := uint64(h.count)
	if count == 0xFFFF {
		b := make([]byte, 8)
		if _, err := a.p.r.ReadAt(b, at); err != nil {
			a.failed(fmt.Errorf("read page %d: %w", id, err))
			return
		}
		count, at = binary.LittleEndian.Uint64(b), at+8
	}
	if count > uint64(end-at)/8 {
		a.failed(damaged("page %d counts %d free pages", id, count))
		return
	}
	b, last := make([]byte, 4096), uint64(0)
	for count > 0 {
		n := min(count, uint64(len(b)/8))
		if _, err := a.p.r.ReadAt(b[:n*8], at); err != nil {
			a.failed(fmt.Errorf("read page %d: %w", id, err))
			return
		}
		for i := range n {
			free := binary.LittleEndian.Uint64(b[i*8:])
			switch {
			case free < 2 || free >= a.p.count:
				a.failed(damaged("page %d lists page %d as free, of %d", id, free, a.p.count))
				return
			case free <= last:
				a.failed(damaged("page %d lists page %d as free behind page %d", id, free, last))
				return
			case a.used.has(free):
				a.fault(damaged("page %d is used, and listed as free", free))
			}
			a.free.set(free)
			last = free
		}
		count, at = count-n, at+int64(n*8)
	}
}

// close says which pages are neither used nor free. Nothing is lost with them but room.
func (a *accounts) close() {
	if a.partial {
		return // they may be below what could not be read
	}
	lost, first := 0, uint64(0)
	for id := uint64(2); id < a.p.count; id++ {
		if !a.used.has(id) && !a.free.has(id) {
			if lost++; lost == 1 {
				first = id
			}
		}
	}
	if lost > 0 {
		a.fault(damaged("%d pages are neither used nor free, the first is page %d", lost, first))
	}
}
