package boltdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

const smallPage = 1024

// image puts the beginnings of four pages where they belong, with right checksums of the two meta pages if wanted.
func image(sealed bool, pages ...[]byte) []byte {
	b := make([]byte, len(pages)*smallPage)
	for i, p := range pages {
		at := b[i*smallPage : (i+1)*smallPage]
		copy(at, p)
		if sealed && i < 2 {
			h := fnv.New64a()
			h.Write(at[16:72])
			binary.LittleEndian.PutUint64(at[72:], h.Sum64())
		}
	}
	return b
}

func FuzzInspect(f *testing.F) {
	whole, _ := sample(f)
	page := os.Getpagesize()
	var begin [4][]byte
	for i := range begin {
		begin[i] = bytes.Clone(whole[i*page : i*page+80])
		if i < 2 {
			m := begin[i][16:]
			binary.LittleEndian.PutUint32(m[8:], smallPage)
			binary.LittleEndian.PutUint64(m[16:], 3) // root
			binary.LittleEndian.PutUint64(m[32:], 2) // free pages
			binary.LittleEndian.PutUint64(m[40:], 4) // pages in all
		}
	}
	free := []byte{2, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0}
	root := []byte{3, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0}
	good := image(true, begin[0], begin[1], free, root)
	if err := boltdb.Inspect(bytes.NewReader(good), int64(len(good))); err != nil {
		f.Fatalf("the seed itself: %v", err)
	}
	f.Add(begin[0], begin[1], free, root, int64(len(good)))
	f.Add(begin[0], []byte{}, free, root, int64(len(good)))
	f.Add([]byte("0"), []byte{}, []byte{}, []byte{}, int64(-53))
	f.Add([]byte("SQLite format 3\x00"), []byte{}, []byte{}, []byte{}, int64(16))
	f.Fuzz(func(t *testing.T, first, second, third, fourth []byte, size int64) {
		for _, sealed := range []bool{false, true} {
			b := image(sealed, first, second, third, fourth)
			err := boltdb.Inspect(bytes.NewReader(b), size)
			if err != nil && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrForeign) {
				t.Errorf("got %v, want that it is damaged or foreign", err)
			}
			if err == nil && size < 4*smallPage {
				t.Errorf("a file of %d bytes is accepted", size)
			}
		}
	})
}

func FuzzDecodeValue(f *testing.F) {
	f.Add([]byte("key"), []byte("\x00\x00\x00\x00\x00\x00\x00\x01\x01value"))
	f.Add([]byte("key"), []byte("\x00\x00\x00\x00\x00\x00\x00\x02\x00"))
	f.Add([]byte{}, []byte("\x00\x00\x00\x00\x00\x00\x00\x02\x00deleted, and yet a value"))
	f.Fuzz(func(t *testing.T, key, b []byte) {
		for _, sealed := range [][]byte{b, boltdb.Reseal(key, b)} {
			if err := boltdb.DecodeValue(key, sealed); err != nil && !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("got %v, want %v", err, journal.ErrDamaged)
			}
		}
	})
}

func FuzzParseOwner(f *testing.F) {
	f.Add("123 1764430198000000000\n")
	f.Add("123 1764430198000000000")
	f.Add("-1 \x1b[31m\n")
	f.Fuzz(func(t *testing.T, s string) {
		pid, since, ok := boltdb.ParseOwner(s)
		if !ok && (pid != 0 || !since.IsZero()) {
			t.Errorf("%q is refused and yet process %d since %v", s, pid, since)
		}
	})
}
