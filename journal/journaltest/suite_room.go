package journaltest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testRoom(t *testing.T) {
	t.Run("held, used and dropped", m.roomHeld)
	t.Run("more than there is", m.roomTooMuch)
	t.Run("held by many at once", m.roomMany)
	t.Run("after the end", m.roomClosed)
}

// roomHeld makes an effect's way through the journal: held, announced, used, recorded.
func (m Maker) roomHeld(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	at := uint64(2)
	for _, n := range []int64{0, 1, 512, journal.MaxInline, journal.MaxInline + 1, 1 << 20} {
		use, drop, err := j.Reserve(t.Context(), n)
		if err != nil {
			t.Fatalf("hold %d bytes: %v", n, err)
		}
		step := journal.Step(runName(int(at)))
		mustAppend(t, j, "r", at, intent(3, step, journal.Doubt))
		use()
		res := result(3, step)
		if err := journal.SetBody(t.Context(), j, &res, []byte(strings.Repeat("x", int(n)))); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, j, "r", at+1, res)
		at += 2
		for range 2 { // as often as one likes, in any order
			drop()
			use()
		}
	}
}

// roomTooMuch is refused, and holds nothing of what was refused.
func (m Maker) roomTooMuch(t *testing.T) {
	j := m.open(t)
	for range 3 {
		for _, n := range []int64{1 << 60, 1<<63 - 1} {
			if _, _, err := j.Reserve(t.Context(), n); !errors.Is(err, journal.ErrNoSpace) {
				t.Fatalf("hold %d bytes: got %v, want %v", n, err, journal.ErrNoSpace)
			}
		}
		_, drop, err := j.Reserve(t.Context(), 100)
		if err != nil {
			t.Fatalf("hold 100 bytes after that: %v", err)
		}
		defer drop()
	}
	if _, _, err := j.Reserve(t.Context(), -1); err == nil {
		t.Error("less than nothing is held")
	}
	if _, _, err := j.Reserve(cancelled(t), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	begin(t, j, "r")
}

func (m Maker) roomMany(t *testing.T) {
	dir := t.TempDir()
	handles := []Store{m.openDir(t, dir), m.openDir(t, dir)}
	var wg sync.WaitGroup
	for i := range 8 {
		j := handles[i%len(handles)]
		wg.Go(func() {
			for n := range int64(20) {
				use, drop, err := j.Reserve(t.Context(), n*10_000)
				if err != nil {
					t.Errorf("hold %d bytes: %v", n*10_000, err)
					return
				}
				if n%2 == 0 {
					use()
				}
				drop()
			}
		})
	}
	wg.Wait()
	begin(t, handles[0], "r")
}

// roomClosed lets go of what a handle held, and holds nothing more.
func (m Maker) roomClosed(t *testing.T) {
	dir := t.TempDir()
	j, other := m.Open(t, dir), m.openDir(t, dir)
	use, drop, err := j.Reserve(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	use()
	drop()
	if _, _, err := j.Reserve(t.Context(), 1); !errors.Is(err, journal.ErrUnusable) {
		t.Errorf("after Close: got %v, want %v", err, journal.ErrUnusable)
	}
	if _, drop, err = other.Reserve(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	drop()
	begin(t, other, "r")
}
