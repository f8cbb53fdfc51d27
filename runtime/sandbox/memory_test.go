package sandbox

import (
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/runtime/sandbox/memory"
)

// poor is a region that gives up to have bytes.
type poor struct {
	memory.Region
	have  uint64
	freed int
}

var errPoor = errors.New("cannot allocate memory")

func (p *poor) First(size uint64) ([]byte, error) {
	if size > p.have {
		return nil, errPoor
	}
	return make([]byte, size), nil
}

func (p *poor) Free() error {
	p.freed++
	return nil
}

// spares is the user of a memory beside which something can be spared.
type spares struct {
	onlyMemory
	spared func()
}

func (s spares) spare() { s.spared() }

// TestWhatNoCallUsesIsGivenBackFirst: then there is enough.
func TestWhatNoCallUsesIsGivenBackFirst(t *testing.T) {
	p := &poor{have: pageSize}
	l := &linear{region: p}
	l.serve(spares{onlyMemory(func(err error) { t.Error(err) }), func() { p.have = 2 * pageSize }}, 8*pageSize, 0)
	if b := l.Reallocate(2 * pageSize); len(b) != 2*pageSize {
		t.Errorf("got %d bytes", len(b))
	}
}

// TestTheGuestIsNotToldThatTheHostIsPoor: what is over the limit is refused, what the host cannot give unwinds.
func TestTheGuestIsNotToldThatTheHostIsPoor(t *testing.T) {
	p := &poor{have: 2 * pageSize}
	var ended error
	spared := 0
	l := &linear{region: p}
	l.serve(spares{onlyMemory(func(err error) { ended = err }), func() { spared++ }}, 8*pageSize, 0)
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
	if spared != 1 {
		t.Errorf("what no call uses was given back %d times", spared)
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
