package memory

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// way is one way of keeping regions and images.
type way struct {
	name  string
	kind  Kind
	adopt func(Region, *Image) error
}

func plainly(r Region, i *Image) error { return r.Adopt(i) }

// ways are all that this system has.
func ways() []way {
	return append([]way{{"native", Native, plainly}, {"portable", Portable, plainly}}, waysHere...)
}

func reserve1(t testing.TB, w way, limit uint64) Region {
	t.Helper()
	r, err := w.kind.Reserve(limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Free(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func first(t testing.TB, r Region, size uint64) []byte {
	t.Helper()
	b, err := r.First(size)
	if err != nil || uint64(len(b)) != size || cap(b) != len(b) {
		t.Fatalf("%d bytes of it are %d with room for %d, %v", size, len(b), cap(b), err)
	}
	return b
}

func TestARegionGrowsAndKeepsWhatIsInIt(t *testing.T) {
	const limit = 5<<20 + PageSize
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			r := reserve1(t, w, limit)
			first(t, r, 0)
			for size := uint64(PageSize); size <= limit; size += PageSize {
				b := first(t, r, size)
				last := b[size-PageSize:]
				if !bytes.Equal(last, make([]byte, PageSize)) {
					t.Fatalf("the page before %d is not zero", size)
				}
				last[0], last[PageSize-1] = byte(size>>16), 1
				for at := uint64(PageSize); at <= size; at += PageSize {
					if b[at-PageSize] != byte(at>>16) || b[at-1] != 1 {
						t.Fatalf("the page before %d lost what was in it when %d were reached", at, size)
					}
				}
			}
			if err := r.Free(); err != nil {
				t.Error(err)
			}
			if err := r.Free(); err != nil {
				t.Errorf("freed again: %v", err)
			}
		})
	}
}

func TestARegionThatCannotBeIsAnError(t *testing.T) {
	for _, w := range ways() {
		if _, err := w.kind.Reserve(math.MaxUint64); err == nil {
			t.Errorf("%s: a region of 2^64-1 bytes was made", w.name)
		}
	}
}

// TestTheLimitOfARegionIsAnyNumber: a person chose it, and not with pages in mind.
func TestTheLimitOfARegionIsAnyNumber(t *testing.T) {
	image := content(PageSize)
	for _, limit := range []uint64{PageSize + 1, 2*PageSize - 1, 1_000_000} {
		for _, w := range ways() {
			i, r := w.kind.NewImage(image), reserve1(t, w, limit)
			defer i.Close()
			if err := w.adopt(r, i); err != nil {
				t.Errorf("%s: a region of %d bytes: %v", w.name, limit, err)
				continue
			}
			first(t, r, limit/PageSize*PageSize)[0]++
			r.Reset()
			isReset(t, r, image, limit/PageSize*PageSize)
		}
	}
}

// content is what an image has in these tests: pages of zeros, full pages, and some that are zero but for a byte.
func content(size int) []byte {
	b := make([]byte, size)
	random := rand.New(rand.NewPCG(1, uint64(size)))
	for at := 0; at < size; at += osPage {
		switch random.IntN(3) {
		case 0:
			for i := range osPage {
				b[at+i] = byte(random.Uint32())
			}
		case 1:
			b[at+random.IntN(osPage)] = 7
		}
	}
	return b
}

// use does what a call may do to a memory: it writes here and there, and grows it first.
func use(t *testing.T, r Region, random *rand.Rand, size, limit uint64) {
	if random.IntN(3) == 0 {
		size += PageSize * random.Uint64N((limit-size)/PageSize+1)
	}
	b := first(t, r, size)
	if size == 0 {
		return
	}
	for range random.IntN(200) {
		at := random.IntN(len(b))
		switch n := min(random.IntN(3*osPage), len(b)-at); random.IntN(4) {
		case 0:
			clear(b[at : at+n])
		case 1:
			for i := range n {
				b[at+i] ^= 0xff
			}
		default:
			b[at]++
		}
	}
}

// isReset checks that a region is as an image has it, and zero behind.
func isReset(t *testing.T, r Region, image []byte, limit uint64) {
	t.Helper()
	b := first(t, r, limit)
	if !bytes.Equal(b[:len(image)], image) || !isZero(b[len(image):]) {
		at := 0
		for at < len(image) && b[at] == image[at] || at >= len(image) && b[at] == 0 {
			at++
		}
		t.Fatalf("byte %d of %d is %d; the image has %d", at, len(b), b[at], len(image))
	}
}

// TestResetLeavesNothing uses regions at random, for long enough that pages are given back too, and looks at every byte.
func TestResetLeavesNothing(t *testing.T) {
	const limit = 4 << 20
	for _, size := range []int{0, PageSize, 2 << 20, limit} {
		image := content(size)
		for _, w := range ways() {
			t.Run(fmt.Sprint(w.name, "/", size), func(t *testing.T) {
				i := w.kind.NewImage(image)
				defer i.Close()
				if i.Size() != uint64(size) {
					t.Fatalf("the image has %d bytes, want %d", i.Size(), size)
				}
				r, random := reserve1(t, w, limit), rand.New(rand.NewPCG(2, uint64(size)))
				use(t, r, random, uint64(size), limit) // as _initialize did
				if err := w.adopt(r, i); err != nil {
					t.Fatal(err)
				}
				isReset(t, r, image, limit)
				for range 30 {
					use(t, r, random, uint64(size), limit)
					r.Reset()
					isReset(t, r, image, limit) // which touches all of it
					for range random.IntN(2 * calmResetsHere) {
						r.Reset()
					}
				}
			})
		}
	}
}

// TestWhatARegionHoldsCounts: a page that was used is held until it is given back, also when it is zero again.
func TestWhatARegionHoldsCounts(t *testing.T) {
	const limit = 4 << 20
	for _, w := range ways() {
		i, r := w.kind.NewImage(content(PageSize)), reserve1(t, w, limit)
		defer i.Close()
		if err := w.adopt(r, i); err != nil {
			t.Fatal(err)
		}
		if got := r.Held(); got != PageSize {
			t.Errorf("%s: it holds %d bytes when only its image is in it, which has %d", w.name, got, PageSize)
		}
		for b := first(t, r, limit); len(b) > 0; b = b[osPage:] {
			b[0] = 1
		}
		for range 2 {
			r.Reset()
			if got := r.Held(); got != limit {
				t.Errorf("%s: it holds %d bytes, want %d", w.name, got, limit)
			}
		}
	}
}

// BenchmarkResetAfterALargeUse resets a memory of which little is used, after one use of 64 MiB.
func BenchmarkResetAfterALargeUse(b *testing.B) {
	for _, w := range ways() {
		b.Run(w.name, func(b *testing.B) {
			i, r := w.kind.NewImage(content(1<<20)), reserve1(b, w, 64<<20)
			defer i.Close()
			if err := w.adopt(r, i); err != nil {
				b.Fatal(err)
			}
			for mem := first(b, r, 64<<20); len(mem) > 0; mem = mem[osPage:] {
				mem[0] = 1
			}
			r.Reset()
			for b.Loop() {
				first(b, r, 1<<20)[0]++
				r.Reset()
			}
		})
	}
}

// TestAnImageOutlivesItsUsers: regions of one image do not see each other, and have it as long as they need it.
func TestAnImageOutlivesItsUsers(t *testing.T) {
	const size, limit = 1 << 20, 2 << 20
	image := content(size)
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			i := w.kind.NewImage(image)
			var together sync.WaitGroup
			for n := range 4 {
				r, random := reserve1(t, w, limit), rand.New(rand.NewPCG(3, uint64(n)))
				if err := w.adopt(r, i); err != nil {
					t.Fatal(err)
				}
				together.Go(func() {
					for range 20 {
						use(t, r, random, size, limit)
						r.Reset()
						isReset(t, r, image, limit)
					}
				})
			}
			i.Close()
			together.Wait()
		})
	}
}

func BenchmarkGrowPageByPageTo64MiB(b *testing.B) {
	for _, w := range ways() {
		b.Run(w.name, func(b *testing.B) {
			for b.Loop() {
				r, err := w.kind.Reserve(256 << 20)
				if err != nil {
					b.Fatal(err)
				}
				for size := uint64(PageSize); size <= 64<<20; size += PageSize {
					if _, err := r.First(size); err != nil {
						b.Fatal(err)
					}
				}
				if err := r.Free(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReset resets a memory of which some pages were written, in the image and behind it.
func BenchmarkReset(b *testing.B) {
	for _, w := range ways() {
		for _, bb := range []struct{ size, written, grown int }{{128 << 10, 2, 0}, {4 << 20, 0, 0}, {4 << 20, 25, 0}, {4 << 20, 400, 2000}, {4 << 20, 400, 5000}} {
			b.Run(fmt.Sprintf("%s/of=%dKiB/written=%d/grown=%d", w.name, bb.size>>10, bb.written, bb.grown), func(b *testing.B) {
				i := w.kind.NewImage(content(bb.size))
				defer i.Close()
				r := reserve1(b, w, 64<<20)
				if err := w.adopt(r, i); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					mem := first(b, r, uint64(bb.size+bb.grown*osPage))
					for p := range bb.written {
						mem[p*(bb.size/bb.written)]++
					}
					for p := range bb.grown {
						mem[bb.size+p*osPage]++
					}
					r.Reset()
				}
			})
		}
	}
}
