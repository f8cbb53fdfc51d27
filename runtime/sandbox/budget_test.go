package sandbox

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wrun-dev/wrun/runtime/sandbox/memory"
	"github.com/wrun-dev/wrun/toolabi"
)

// empty checks that nothing is left of the calls that a budget had.
func (b *budget) empty(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used != 0 || len(b.calls) != 0 || len(b.begun) != 0 || len(b.fresh) != 0 {
		t.Errorf("%d bytes are used by %d calls; %d and %d wait", b.used, len(b.calls), len(b.begun), len(b.fresh))
	}
}

// admit begins a call that has no pool.
func (b *budget) admit(ctx context.Context, parent *holding, n uint64) (*holding, error) {
	h := &holding{budget: b, parent: parent}
	_, _, err := b.begin(ctx, h, wants{bytes: n})
	return h, err
}

// enters begins a call in the background and says on the channel how that went.
func enters(ctx context.Context, b *budget, parent *holding, n uint64) (<-chan *holding, <-chan error) {
	held, failed := make(chan *holding, 1), make(chan error, 1)
	go func() {
		h, err := b.admit(ctx, parent, n)
		if err != nil {
			failed <- err
			return
		}
		held <- h
	}()
	return held, failed
}

func grows(ctx context.Context, h *holding, n uint64) <-chan error {
	done := make(chan error, 1)
	go func() { done <- h.more(ctx, n) }()
	return done
}

func begin(t *testing.T, b *budget, parent *holding, n uint64) *holding {
	t.Helper()
	h, err := b.admit(t.Context(), parent, n)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func waiting[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	synctest.Wait()
	select {
	case v := <-c:
		t.Fatalf("%s did not wait: %v", what, v)
	default:
	}
}

func TestNewCallsBeginInTheOrderInWhichTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		first := begin(t, b, nil, 60)
		large, _ := enters(t.Context(), b, nil, 50)
		synctest.Wait()
		small, _ := enters(t.Context(), b, nil, 10)
		waiting(t, "the small one", small) // there would be room for it
		first.leave()
		l, s := <-large, <-small
		l.leave()
		s.leave()
		b.empty(t)
	})
}

func TestCallsThatHaveBegunComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		one, two := begin(t, b, nil, 50), begin(t, b, nil, 40)
		fresh, _ := enters(t.Context(), b, nil, 20)
		synctest.Wait()
		grown := grows(t.Context(), one, 30)
		waiting(t, "growing", grown)
		two.leave()
		if err := <-grown; err != nil {
			t.Fatal(err)
		}
		(<-fresh).leave()
		one.leave()
		b.empty(t)
	})
}

// TestOfTwoThatCannotGoOnTheLastIsLeft: both want 200 of 256 and hold 100.
func TestOfTwoThatCannotGoOnTheLastIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(256)
		one, two := begin(t, b, nil, 100), begin(t, b, nil, 100)
		first := grows(t.Context(), one, 100)
		waiting(t, "the first", first)
		second := grows(t.Context(), two, 100)
		var e *MemoryError
		if err := <-second; !errors.As(err, &e) || e.Wanted != 100 || e.Held != 100 || e.InUse != 200 || e.Budget != 256 || e.Calls != 2 || e.Never {
			t.Fatalf("the last one got %+v", err)
		}
		waiting(t, "the first", first)
		two.leave()
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		one.leave()
		b.empty(t)
	})
}

// TestWhoCanGoOnPassesWhoCannot: it does not fit, and so it keeps nobody from finishing.
func TestWhoCanGoOnPassesWhoCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		one, two := begin(t, b, nil, 40), begin(t, b, nil, 40)
		large := grows(t.Context(), one, 30)
		waiting(t, "the large one", large)
		if err := two.more(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		two.leave()
		if err := <-large; err != nil {
			t.Fatal(err)
		}
		one.leave()
		b.empty(t)
	})
}

// TestACallInsideAnotherIsOfThoseThatHaveBegun: the one it is inside of cannot end before it, so it passes new ones, and
// where all who hold memory wait so, the last is left.
func TestACallInsideAnotherIsOfThoseThatHaveBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		one, two := begin(t, b, nil, 50), begin(t, b, nil, 40)
		fresh, _ := enters(t.Context(), b, nil, 20)
		synctest.Wait()
		inner, _ := enters(t.Context(), b, one, 20)
		waiting(t, "the inner one", inner)
		innermost, failed := enters(t.Context(), b, two, 20)
		var e *MemoryError
		if err := <-failed; !errors.As(err, &e) || e.Held != 40 || e.anew != 0 {
			t.Fatalf("got %+v", err)
		}
		waiting(t, "a call that was left", innermost)
		two.leave()
		(<-inner).leave()
		(<-fresh).leave()
		one.leave()
		b.empty(t)
	})
}

func TestWhatNeverFitsIsRefusedAtOnce(t *testing.T) {
	b := newBudget(100)
	var e *MemoryError
	if _, err := b.admit(t.Context(), nil, 101); !errors.As(err, &e) || !e.Never {
		t.Errorf("got %v", err)
	}
	outer := begin(t, b, nil, 60)
	if err := outer.more(t.Context(), 41); !errors.As(err, &e) || !e.Never {
		t.Errorf("got %v", err)
	}
	if err := outer.more(t.Context(), ^uint64(0)); !errors.As(err, &e) || !e.Never {
		t.Errorf("got %v", err)
	}
	if _, err := b.admit(t.Context(), outer, 41); !errors.As(err, &e) || !e.Never {
		t.Errorf("inside a call that holds 60: got %v", err)
	}
	outer.leave()
	b.empty(t)
}

// TestACancelledWaitLeavesNothing: neither those that begin nor those that grow, and those behind them go on.
func TestACancelledWaitLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		one := begin(t, b, nil, 60)
		why, limit := errors.New("not wanted"), toolabi.NewError(toolabi.LimitTime, "too long")
		ctx, cancel := context.WithCancelCause(t.Context())
		_, large := enters(ctx, b, nil, 90)
		synctest.Wait()
		small, _ := enters(t.Context(), b, nil, 40)
		waiting(t, "the small one", small)
		cancel(why)
		if err := <-large; err != why {
			t.Errorf("got %v, want the cause", err)
		}
		s := <-small
		ctx, cancel = context.WithCancelCause(t.Context())
		grown := grows(ctx, s, 1)
		waiting(t, "growing", grown)
		cancel(limit)
		if err := <-grown; err == error(limit) || !errors.Is(err, toolabi.LimitTime) {
			t.Errorf("got %v, want an error about the wait that wraps the cause", err)
		}
		s.leave()
		one.leave()
		b.empty(t)
	})
}

func TestTheTimeOfAWaitIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		one := begin(t, b, nil, 60)
		var told []string
		done := make(chan *holding)
		go func() {
			h := &holding{budget: b, pause: func() func() {
				told = append(told, "waits")
				return func() { told = append(told, "goes on") }
			}}
			_, _, err := b.begin(t.Context(), h, wants{bytes: 60})
			if err != nil {
				t.Error(err)
			}
			done <- h
		}()
		synctest.Wait()
		if len(told) != 1 {
			t.Errorf("told %q", told)
		}
		one.leave()
		(<-done).leave()
		if len(told) != 2 {
			t.Errorf("told %q", told)
		}
	})
}

// TestManyCallsThatGrowAllEndSomehow holds that nobody waits for ever, and that all is given back.
func TestManyCallsThatGrowAllEndSomehow(t *testing.T) {
	b := newBudget(1000)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			h, err := b.admit(t.Context(), nil, 10)
			if err != nil {
				t.Error(err)
				return
			}
			defer h.leave()
			for range 1 + i%12 {
				if err := h.more(t.Context(), uint64(10+i%50)); err != nil {
					return
				}
			}
			inner, err := b.admit(t.Context(), h, 100)
			if err == nil {
				inner.leave()
			}
		})
	}
	wg.Wait()
	b.empty(t)
}

// TestASnapshotIsTakenWhereThereIsRoom: its bytes count while it is taken, for the call that takes it.
func TestASnapshotIsTakenWhereThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := func() *snapshot { return &snapshot{image: memory.Portable.NewImage(make([]byte, memory.PageSize))} }
		const n, size = memory.PageSize, 3 * memory.PageSize
		b, p := newBudget(size), &pool{}
		one, two := begin(t, b, nil, n), begin(t, b, nil, n)
		if s, room := b.reserve(p, one, n); s != nil || !room {
			t.Fatalf("the first has %v, %v", s, room)
		}
		if s, room := b.reserve(p, two, n); s != nil || room {
			t.Errorf("the second has %v, %v where there is no room", s, room)
		}
		grown := grows(t.Context(), two, 1)
		waiting(t, "the second", grown)
		if s := b.share(p, one, n, nil); s != nil { // it could not be taken
			t.Errorf("the first shares %v", s)
		}
		if err := <-grown; err != nil {
			t.Fatal(err)
		}
		two.leave()
		if _, room := b.reserve(p, one, n); !room {
			t.Fatal("the first has no room beside nobody")
		}
		large, _ := enters(t.Context(), b, nil, size-n)
		waiting(t, "the large one", large)
		if s := b.share(p, one, n, taken()); s != nil {
			t.Error("a snapshot is kept while a call waits that has room without it")
		}
		(<-large).leave()
		if _, room := b.reserve(p, one, n); !room {
			t.Fatal("the first has no room beside nobody")
		}
		if s := b.share(p, one, n, taken()); s == nil || s != p.snapshot {
			t.Errorf("the first shares %v, want what is in the pool", s)
		}
		if s, room := b.reserve(p, one, n); s != p.snapshot || room {
			t.Errorf("the next has %v, %v, want what is in the pool", s, room)
		}
		one.leave()
		b.closePools()
		b.empty(t)
	})
}
