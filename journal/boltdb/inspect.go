package boltdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/wrun-dev/wrun/journal"
)

// A bbolt file begins with two meta pages, written alternately; the valid one with the higher transaction id counts.
// All numbers are little-endian on every platform that wrun runs on. A page has a header of 16 bytes: id, flags, count,
// overflow.
const (
	pageHeader = 16
	metaSize   = 64
	metaMagic  = 0xED0CDAED
	metaFormat = 2

	minPage = 1 << 10
	maxPage = 1 << 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	noFreelist = ^uint64(0)
)

type meta struct {
	pageSize             int64
	root, freelist, pgid uint64
	txid                 uint64
	page                 uint64 // which of the two it says it is
}

// inspect finds out, by reading, whether r, size bytes long, is a whole bbolt file as wrun writes them: bbolt itself maps
// the file first, and then a page that is missing ends the process. Errors: ErrForeign, ErrDamaged.
func inspect(r io.ReaderAt, size int64) error {
	if size <= 0 {
		return fmt.Errorf("%w: the file is empty", journal.ErrDamaged)
	}
	m, err := findMeta(r, size)
	if err != nil {
		return err
	}
	if m.freelist == noFreelist {
		return fmt.Errorf("%w: a bbolt file of another program (it keeps no list of free pages)", journal.ErrForeign)
	}
	if m.pgid < 4 || m.pgid > uint64(size/m.pageSize) {
		return fmt.Errorf("%w: it has %d bytes and should have at least %d pages of %d: it was cut off", journal.ErrDamaged, size, m.pgid, m.pageSize)
	}
	if err := inspectPage(r, m, m.root, branchPage, leafPage); err != nil {
		return fmt.Errorf("%w: its root: %w", journal.ErrDamaged, err)
	}
	if err := inspectPage(r, m, m.freelist, freelistPage); err != nil {
		return fmt.Errorf("%w: its list of free pages: %w", journal.ErrDamaged, err)
	}
	return nil
}

// errOneMeta: with one of the two meta pages bbolt would go back by a transaction, and forget what it has acknowledged.
// A meta page is written within one sector, so that a crash does not leave half of one.
var errOneMeta = fmt.Errorf("%w: one of its two header pages has changed, so what was committed last may be missing", journal.ErrDamaged)

// findMeta returns the meta page that counts.
func findMeta(r io.ReaderAt, size int64) (meta, error) {
	first, ours, err0 := readMeta(r, 0)
	if err0 == nil {
		second, _, err := readMeta(r, first.pageSize)
		switch {
		case err != nil || second.pageSize != first.pageSize || first.page != 0 || second.page != 1:
			return meta{}, errOneMeta
		case second.txid > first.txid:
			return second, nil
		}
		return first, nil
	}
	for at := int64(minPage); at <= maxPage; at *= 2 {
		second, magic, err := readMeta(r, at)
		if err == nil && second.pageSize == at {
			return meta{}, errOneMeta
		}
		ours = ours || magic
	}
	if !ours && !blank(r, size) {
		return meta{}, journal.ErrForeign
	}
	return meta{}, fmt.Errorf("%w: neither of its first two pages is whole: %w", journal.ErrDamaged, err0)
}

// readMeta reads the meta page at a position, and says whether there is anything like one.
func readMeta(r io.ReaderAt, at int64) (m meta, magic bool, err error) {
	b := make([]byte, pageHeader+metaSize)
	n, err := r.ReadAt(b, at)
	if n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return m, n >= pageHeader+4 && binary.LittleEndian.Uint32(b[pageHeader:]) == metaMagic, err
	}
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	page := u64(b)
	b = b[pageHeader:]
	if u32(b) != metaMagic {
		return m, false, errors.New("no mark of bbolt")
	}
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	if sum.Sum64() != u64(b[metaSize-8:]) {
		return m, true, errors.New("wrong checksum")
	}
	if v := u32(b[4:]); v != metaFormat {
		return m, true, fmt.Errorf("format %d", v)
	}
	m = meta{page: page, pageSize: int64(u32(b[8:])), root: u64(b[16:]), freelist: u64(b[32:]), pgid: u64(b[40:]), txid: u64(b[48:])}
	if m.pageSize < minPage || m.pageSize > maxPage || m.pageSize&(m.pageSize-1) != 0 {
		return m, true, fmt.Errorf("pages of %d bytes", m.pageSize)
	}
	return m, true, nil
}

// blank says whether the first pages hold nothing but zeros, as a file does whose beginning was lost.
func blank(r io.ReaderAt, size int64) bool {
	b := make([]byte, min(size, 2*minPage))
	n, err := r.ReadAt(b, 0)
	return n == len(b) && (err == nil || errors.Is(err, io.EOF)) && len(bytes.Trim(b, "\x00")) == 0
}

// inspectPage checks the header of one of the two pages that bbolt reads before it can judge anything.
func inspectPage(r io.ReaderAt, m meta, id uint64, kinds ...uint16) error {
	if id < 2 || id >= m.pgid {
		return fmt.Errorf("it is said to be page %d of %d", id, m.pgid)
	}
	b := make([]byte, pageHeader+8)
	if _, err := r.ReadAt(b, int64(id)*m.pageSize); err != nil {
		return err
	}
	u16, u32, u64 := binary.LittleEndian.Uint16, binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	flags, count, overflow := u16(b[8:]), uint64(u16(b[10:])), uint64(u32(b[12:]))
	if got := u64(b); got != id {
		return fmt.Errorf("page %d says that it is %d", id, got)
	}
	known := false
	for _, k := range kinds {
		known = known || flags == k
	}
	if !known {
		return fmt.Errorf("page %d is of kind %#x", id, flags)
	}
	if id+overflow >= m.pgid {
		return fmt.Errorf("page %d goes on for %d more, of %d", id, overflow, m.pgid)
	}
	if flags == freelistPage {
		if count == 0xFFFF {
			count = u64(b[pageHeader:])
		}
		if count > (overflow+1)*uint64(m.pageSize)/8 {
			return fmt.Errorf("page %d counts %d free pages", id, count)
		}
	}
	return nil
}
