package sandbox

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// regions are the kinds of region there are: that of this system, and the one for systems without another.
var regions = map[string]func(uint64) (region, error){"of this system": newRegion, "copied": newCopied}

func TestARegionGrowsAndKeepsWhatIsInIt(t *testing.T) {
	const limit = 5<<20 + pageSize
	for name, make := range regions {
		t.Run(name, func(t *testing.T) {
			r, err := make(limit)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := r.first(0); err != nil || len(b) != 0 {
				t.Fatalf("nothing of it is %d bytes, %v", len(b), err)
			}
			for size := uint64(pageSize); size <= limit; size += pageSize {
				b, err := r.first(size)
				if err != nil || uint64(len(b)) != size || cap(b) != len(b) {
					t.Fatalf("%d bytes of it are %d with room for %d, %v", size, len(b), cap(b), err)
				}
				last := b[size-pageSize:]
				if !bytes.Equal(last, zeroPage[:]) {
					t.Fatalf("the page before %d is not zero", size)
				}
				last[0], last[pageSize-1] = byte(size>>16), 1
				for at := uint64(pageSize); at <= size; at += pageSize {
					if b[at-pageSize] != byte(at>>16) || b[at-1] != 1 {
						t.Fatalf("the page before %d lost what was in it when %d were reached", at, size)
					}
				}
			}
			if err := r.free(); err != nil {
				t.Error(err)
			}
			if err := r.free(); err != nil {
				t.Errorf("freed again: %v", err)
			}
		})
	}
}

var zeroPage [pageSize]byte

func TestARegionThatCannotBeIsAnError(t *testing.T) {
	for name, make := range regions {
		if _, err := make(math.MaxUint64); err == nil {
			t.Errorf("%s: a region of 2^64-1 bytes was made", name)
		}
	}
}

// poor is a region that gives up to have bytes.
type poor struct {
	have  uint64
	freed int
}

var errPoor = errors.New("cannot allocate memory")

func (p *poor) first(size uint64) ([]byte, error) {
	if size > p.have {
		return nil, errPoor
	}
	return make([]byte, size), nil
}

func (p *poor) free() error {
	p.freed++
	return nil
}

// TestTheGuestIsNotToldThatTheHostIsPoor: what is over the limit is refused, what the host cannot give unwinds.
func TestTheGuestIsNotToldThatTheHostIsPoor(t *testing.T) {
	p := &poor{have: 2 * pageSize}
	var ended error
	l := &linear{limit: 8 * pageSize, region: p, end: func(err error) { ended = err; panic(errUnwind) }}
	if b := l.Reallocate(pageSize); len(b) != pageSize {
		t.Fatalf("got %d bytes", len(b))
	}
	if b := l.Reallocate(9 * pageSize); b != nil || !l.refused {
		t.Errorf("over the limit: got %d bytes, refused is %v", len(b), l.refused)
	}
	func() {
		defer func() {
			if r := recover(); r != errUnwind {
				t.Errorf("recovered %v", r)
			}
		}()
		l.Reallocate(3 * pageSize)
	}()
	var e *MemoryError
	if !errors.As(ended, &e) || !errors.Is(ended, errPoor) || e.Wanted != 2*pageSize || e.Held != pageSize {
		t.Errorf("ended with %+v", ended)
	}
	l.Free()
	if p.freed != 0 {
		t.Error("the memory went away while the call could still use it")
	}
	l.release()
	l.release()
	if p.freed != 1 {
		t.Errorf("freed %d times", p.freed)
	}
}

func BenchmarkGrowPageByPageTo64MiB(b *testing.B) {
	for name, make := range regions {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := make(256 << 20)
				if err != nil {
					b.Fatal(err)
				}
				for size := uint64(pageSize); size <= 64<<20; size += pageSize {
					if _, err := r.first(size); err != nil {
						b.Fatal(err)
					}
				}
				if err := r.free(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
