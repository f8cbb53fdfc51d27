package boltdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// branches returns the pages of an image that lead to others, at most one for each page number.
func branches(image []byte) (ids []int) {
	page := os.Getpagesize()
	for i := 2; i < len(image)/page; i++ {
		b := image[i*page:]
		if binary.LittleEndian.Uint64(b) == uint64(i) && binary.LittleEndian.Uint16(b[8:]) == 1 {
			ids = append(ids, i)
		}
	}
	return ids
}

// A branch page that leads back to itself is damage, for whoever reads by pages.
func TestPagesThatGoInACircleAreDamage(t *testing.T) {
	image, _ := sample(t)
	page := os.Getpagesize()
	ids := branches(image)
	if len(ids) == 0 {
		t.Fatal("the sample has no branch page")
	}
	found := 0
	for _, id := range ids {
		b := bytes.Clone(image)
		at := b[id*page:]
		for i := range int(binary.LittleEndian.Uint16(at[10:])) {
			binary.LittleEndian.PutUint64(at[16+16*i+8:], uint64(id))
		}
		_, faults := boltdb.WalkPages(bytes.NewReader(b), int64(len(b)))
		for _, err := range faults {
			if strings.Contains(err.Error(), "leads back") {
				found++
				break
			}
		}
		path := filepath.Join(t.TempDir(), "journal.db")
		place(t, path, b)
		if faults != nil {
			openAs(t, path, journal.ErrDamaged) // and not that the process has no memory left
		}
		if got, _ := boltdb.Verify(t.Context(), path, boltdb.VerifyOptions{}, func(journal.Fault) {}); got.Bytes != int64(len(b)) {
			t.Errorf("verify did not read page %d", id)
		}
	}
	if found == 0 {
		t.Errorf("of %d branch pages that lead back to themselves none was found", len(ids))
	}
}

// A journal that somebody cuts off while it is open and mapped ends in an error, and in no signal. What is not there any more is not
// written around.
func TestAJournalThatIsCutOffWhileItIsOpen(t *testing.T) {
	page := int64(os.Getpagesize())
	for _, n := range []int64{0, 100, page, 2 * page, 3*page + 7, 8 * page} {
		for _, held := range []bool{true, false} {
			j := fill(t, t.TempDir(), 8)
			release := func() {}
			if held {
				var err error
				if release, err = boltdb.Hold(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			} else {
				letGo(t, j)
			}
			if err := os.Truncate(j.Path(), n); err != nil {
				t.Skip("not possible here: ", err)
			}
			for _, err := range j.List(t.Context(), journal.Query{}) {
				if err != nil && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrUnusable) {
					t.Errorf("%d bytes, held %t: list: %v", n, held, err)
				}
			}
			err := j.Append(t.Context(), "new", 0, created())
			if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrUnusable) {
				t.Errorf("%d bytes, held %t: append: %v, want that it is damaged", n, held, err)
			}
			if info, err := os.Stat(j.Path()); err != nil || info.Size() != n {
				t.Errorf("%d bytes, held %t: it was written to: %d bytes, %v", n, held, info.Size(), err)
			}
			release()
			if err := j.Close(); err != nil && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrUnusable) {
				t.Errorf("%d bytes, held %t: close: %v", n, held, err)
			}
		}
	}
}

// FuzzPages changes a journal's file in one place, and the numbers in front of a page.
func FuzzPages(f *testing.F) {
	whole, _ := sample(f)
	if keys, faults := boltdb.WalkPages(bytes.NewReader(whole), int64(len(whole))); len(faults) > 0 || keys < 240 {
		f.Fatalf("the sample itself: %d keys, %v", keys, faults)
	}
	page := os.Getpagesize()
	for _, id := range branches(whole) {
		f.Add(uint32(id*page+16), bytes.Clone(whole[id*page+16:id*page+48]), 0)
	}
	f.Add(uint32(2*page), []byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 0)
	f.Add(uint32(0), []byte{}, 100)
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut int) {
		b := bytes.Clone(whole)
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-min(max(cut, 0), len(b))]
		keys, faults := boltdb.WalkPages(bytes.NewReader(b), int64(len(b)))
		if keys > len(b)/16 {
			t.Errorf("%d keys in %d bytes", keys, len(b))
		}
		for _, err := range faults {
			if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrForeign) {
				t.Errorf("got %v, want that it is damaged", err)
			}
		}
	})
}
