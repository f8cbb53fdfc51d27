package boltdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"github.com/wrun-dev/wrun/journal"
)

// pages reads the pages of a bbolt file by themselves: it believes nothing that they say, and maps nothing, so that a page that
// is missing, damaged or was made up is an error and neither a fault of memory nor an endless search. Layout: the comment of
// inspect.go, and go.etcd.io/bbolt/internal/common/page.go.
//
// It takes the memory of the branch pages that it comes by, and of one leaf page at a time.
type pages struct {
	r        io.ReaderAt
	pageSize int64
	count    uint64 // how many there are: what the meta page says, or what the file has room for if that is less
	root     uint64
	branches map[uint64]*page // those that were read, as long as the file is not let go of
}

// page is a page that holds keys, or one that lies within a value of such a page.
type page struct {
	id       uint64
	leaf     bool
	overflow uint64
	elements []element
}

// element is a key with what belongs to it: a value, a bucket or, in a branch page, the page below.
type element struct {
	key, value []byte
	child      uint64
	bucket     bool
}

const (
	elementSize  = 16
	bucketFlag   = 0x01
	bucketHeader = 16

	maxDepth = 32
	// maxOverflow is how long a page with its overflow may be, in bytes: far longer than any that wrun makes, whose largest values are
	// folded logs.
	maxOverflow = 256 << 20
	// maxBranches is how many branch pages are kept.
	maxBranches = 4096
)

func newPages(r io.ReaderAt, size int64, m meta) *pages {
	return &pages{r: r, pageSize: m.pageSize, count: min(m.pgid, uint64(size/m.pageSize)), root: m.root, branches: map[uint64]*page{}}
}

func damaged(format string, a ...any) error {
	return fmt.Errorf("%w: %w", journal.ErrDamaged, fmt.Errorf(format, a...))
}

// head is the beginning of a page.
type head struct {
	flags    uint16
	count    int
	overflow uint64
}

// head reads the beginning of a page and checks what does not need the rest.
func (p *pages) head(id uint64) (h head, err error) {
	if id < 2 || id >= p.count {
		return h, damaged("page %d is named, and the file has %d", id, p.count)
	}
	b := make([]byte, pageHeader)
	if err := p.readAt(b, id); err != nil {
		return h, err
	}
	if got := binary.LittleEndian.Uint64(b); got != id {
		return h, damaged("page %d says that it is %d", id, got)
	}
	h = head{binary.LittleEndian.Uint16(b[8:]), int(binary.LittleEndian.Uint16(b[10:])), uint64(binary.LittleEndian.Uint32(b[12:]))}
	if h.overflow >= p.count-id || (h.overflow+1)*uint64(p.pageSize) > maxOverflow {
		return h, damaged("page %d goes on for %d more, of %d", id, h.overflow, p.count)
	}
	return h, nil
}

func (p *pages) readAt(b []byte, id uint64) error {
	n, err := p.r.ReadAt(b, int64(id)*p.pageSize)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return damaged("page %d is cut off", id)
	}
	return fmt.Errorf("read page %d: %w", id, err)
}

// read reads a page of keys. Its elements share memory with nothing.
func (p *pages) read(id uint64) (*page, error) {
	if pg := p.branches[id]; pg != nil {
		return pg, nil
	}
	h, err := p.head(id)
	if err != nil {
		return nil, err
	}
	if h.flags != branchPage && h.flags != leafPage {
		return nil, damaged("page %d is of kind %#x", id, h.flags)
	}
	b := make([]byte, int64(h.overflow+1)*p.pageSize)
	if err := p.readAt(b, id); err != nil {
		return nil, err
	}
	pg := &page{id: id, leaf: h.flags == leafPage, overflow: h.overflow}
	if pg.elements, err = elements(b, h.count, pg.leaf); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	if !pg.leaf && len(p.branches) < maxBranches {
		p.branches[id] = pg
	}
	return pg, nil
}

// elements takes a page apart. Errors: ErrDamaged.
func elements(b []byte, count int, leaf bool) ([]element, error) {
	body := pageHeader + count*elementSize
	if body > len(b) {
		return nil, damaged("it counts %d keys in %d bytes", count, len(b))
	}
	all := make([]element, count)
	for i := range all {
		at := pageHeader + i*elementSize
		el := b[at : at+elementSize]
		u32 := binary.LittleEndian.Uint32
		e := &all[i]
		pos, key, value := u32(el), u32(el[4:]), uint32(0)
		if leaf {
			pos, key, value = u32(el[4:]), u32(el[8:]), u32(el[12:])
			e.bucket = u32(el)&bucketFlag != 0
		} else {
			e.child = binary.LittleEndian.Uint64(el[8:])
		}
		from := uint64(at) + uint64(pos)
		end := from + uint64(key) + uint64(value)
		if from < uint64(body) || end > uint64(len(b)) {
			return nil, damaged("key %d of %d lies at %d to %d of %d bytes", i, count, from, end, len(b))
		}
		e.key, e.value = b[from:from+uint64(key):from+uint64(key)], b[from+uint64(key):end:end]
		if i > 0 && bytes.Compare(all[i-1].key, e.key) >= 0 {
			return nil, damaged("key %d of %d does not come behind the one before", i, count)
		}
	}
	return all, nil
}

// tree is a bucket: pages below a root, or one page that lies within a value.
type tree struct {
	p      *pages
	root   uint64
	inline *page
}

// top is the bucket of buckets.
func (p *pages) top() tree { return tree{p: p, root: p.root} }

// open returns what is in an element that is a bucket. Errors: ErrDamaged.
func (p *pages) open(e element) (tree, error) {
	if !e.bucket || len(e.value) < bucketHeader {
		return tree{}, damaged("%.80q is no bucket", e.key)
	}
	root := binary.LittleEndian.Uint64(e.value)
	if root != 0 {
		return tree{p: p, root: root}, nil
	}
	b := e.value[bucketHeader:]
	if len(b) < pageHeader || binary.LittleEndian.Uint16(b[8:]) != leafPage {
		return tree{}, damaged("bucket %.80q is cut off", e.key)
	}
	all, err := elements(b, int(binary.LittleEndian.Uint16(b[10:])), true)
	if err != nil {
		return tree{}, fmt.Errorf("bucket %.80q: %w", e.key, err)
	}
	return tree{p: p, inline: &page{leaf: true, elements: all}}, nil
}

// bucket finds one of the journal's buckets. Errors: ErrDamaged, ErrNotFound when it is not there.
func (p *pages) bucket(name []byte) (tree, error) {
	e, err := p.top().get(name)
	if err != nil {
		return tree{}, err
	}
	return p.open(e)
}

// get finds a key. Errors: ErrNotFound, ErrDamaged when a page on the way is.
func (t tree) get(key []byte) (element, error) {
	for e, err := range t.from(key) {
		if err != nil {
			return element{}, err
		}
		if bytes.Equal(e.key, key) {
			return e, nil
		}
		break
	}
	return element{}, fmt.Errorf("key %.80q: %w", key, journal.ErrNotFound)
}

// from yields the elements from a key on, in order. In the place of what lies below a page that cannot be used comes its error, once,
// with the least key that can be there, and then what comes behind. Each page may only have keys that the one above has put there, so a
// page comes at most once, whatever the pages say, and there is an end.
func (t tree) from(key []byte) iter.Seq2[element, error] {
	return func(yield func(element, error) bool) {
		if t.inline != nil {
			t.visit(t.inline, nil, key, yield)
			return
		}
		pg, err := t.p.read(t.root)
		if err != nil {
			yield(element{}, err)
			return
		}
		t.visit(pg, nil, key, yield)
	}
}

func (t tree) visit(pg *page, path []uint64, from []byte, yield func(element, error) bool) bool {
	all := pg.elements
	if pg.leaf {
		i := sort.Search(len(all), func(i int) bool { return bytes.Compare(all[i].key, from) >= 0 })
		for _, e := range all[i:] {
			if !yield(e, nil) {
				return false
			}
		}
		return true
	}
	path = append(path, pg.id)
	for i, e := range all {
		var behind []byte // nil: there is no bound here
		if i+1 < len(all) {
			if behind = all[i+1].key; bytes.Compare(behind, from) <= 0 {
				continue
			}
		}
		child, err := t.p.below(e, behind, path)
		if err != nil {
			if !yield(element{key: e.key}, err) {
				return false
			}
			continue
		}
		if !t.visit(child, path, from, yield) {
			return false
		}
	}
	return true
}

// below reads the page that an element of a branch page leads to. What lies on the path to it cannot lie below it.
func (p *pages) below(e element, behind []byte, path []uint64) (*page, error) {
	above := path[len(path)-1]
	if slices.Contains(path, e.child) {
		return nil, damaged("page %d leads back to page %d, from which it is reached", above, e.child)
	}
	if len(path) >= maxDepth {
		return nil, damaged("page %d lies more than %d pages deep", e.child, maxDepth)
	}
	child, err := p.read(e.child)
	if err != nil {
		return nil, err
	}
	all := child.elements
	if len(all) == 0 {
		return nil, damaged("page %d is empty", child.id)
	}
	if bytes.Compare(all[0].key, e.key) < 0 || behind != nil && bytes.Compare(all[len(all)-1].key, behind) >= 0 {
		return nil, damaged("page %d has keys that do not belong where page %d puts it", child.id, above)
	}
	return child, nil
}
