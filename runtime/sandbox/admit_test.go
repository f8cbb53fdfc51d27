package sandbox_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// openBudget opens a sandbox with a budget in MiB, and checks in the end that nothing of it is in use.
func openBudget(t *testing.T, mib uint64) (*sandbox.Sandbox, shelf) {
	box, s := open(t, sandbox.Config{MemoryBudget: mib << 20})
	t.Cleanup(func() {
		if err := box.Audit(); err != nil {
			t.Error(err)
		}
		if used, waiting := box.MemoryInUse(); used != 0 || waiting != 0 {
			t.Errorf("after all calls %d bytes are in use and %d calls wait", used, waiting)
		}
	})
	return box, s
}

// tell is code that uses log with the 4 bytes that f leaves on the stack as its request.
func (g *guest) tell(f ...[]byte) []byte {
	return slices.Concat(I32Const(0), slices.Concat(f...), I32Store, I32Const(0), I32Const(4), Call(g.host[toolabi.FuncLog]), Drop)
}

func grow(pages int32) []byte { return slices.Concat(I32Const(pages), MemoryGrow) }

// TestAHundredCallsUnderASmallBudgetAllEnd: of 64 MiB each under 256 MiB, once from the start and once grown to.
func TestAHundredCallsUnderASmallBudgetAllEnd(t *testing.T) {
	fixed, growing := newGuest(), newGuest()
	fixed.Memory(1024)
	fixed.invokeOnly(0, fixed.ok(t))
	// It grows by 4 MiB at a time, writes into each piece, and traps should it be refused.
	growing.invoke(1, Loop,
		grow(64), I32Const(-1), I32Eq, If, Unreachable, End,
		LocalGet(1), I32Const(64<<16), I32Add, LocalSet(1),
		LocalGet(1), I32Const(1), I32Store,
		LocalGet(1), I32Const(62<<20), I32LtS, BrIf(0), End, growing.ok(t))
	for name, g := range map[string]*guest{"from the start": fixed, "grown to": growing} {
		t.Run(name, func(t *testing.T) {
			box, s := openBudget(t, 256)
			inv := toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					if out, err := box.Invoke(t.Context(), inv, nil); err != nil || string(out.Output) != "{}" {
						t.Errorf("%s, %v, %v", out.Output, out.Err, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestOfTwoCallsThatCannotGoOnOneIsLeft has two calls hold 100 MiB and grow to 200 of 256. The one that is left does not
// get to see what came of its growing.
func TestOfTwoCallsThatCannotGoOnOneIsLeft(t *testing.T) {
	g := newGuest(toolabi.FuncLog)
	g.Memory(1600)
	ok := g.ok(t)
	g.invokeOnly(0, g.tell(I32Const(1)), g.tell(grow(1600)), ok)
	box, s := openBudget(t, 256)
	inv := toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}
	var both sync.WaitGroup
	both.Add(2)
	var grown, left, finished atomic.Int32
	host := func(_ context.Context, _ string, request []byte) (toolabi.Answer, error) {
		if request[0] == 1 { // before it grows
			both.Done()
			both.Wait()
			return toolabi.Answer{}, nil
		}
		grown.Add(1)
		if pages := int(request[0]) + int(request[1])<<8 + int(request[2])<<16; pages != 1600 {
			t.Errorf("growing gave the guest %#x pages", pages)
		}
		return toolabi.Answer{}, nil
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			out, err := box.Invoke(t.Context(), inv, host)
			var e *sandbox.MemoryError
			switch {
			case errors.As(err, &e) && !e.Never && e.Budget == 256<<20 && e.Wanted == 100<<20 && e.Calls == 2:
				left.Add(1)
			case err == nil && string(out.Output) == "{}":
				finished.Add(1)
			default:
				t.Errorf("%s, %v, %v", out.Output, out.Err, err)
			}
		})
	}
	wg.Wait()
	if left.Load() != 1 || finished.Load() != 1 || grown.Load() != 1 {
		t.Errorf("%d were left, %d finished, %d grew", left.Load(), finished.Load(), grown.Load())
	}
}

// TestACallThatNeverFitsIsRefused also when that shows only as it grows, and though it would try to go on.
func TestACallThatNeverFitsIsRefused(t *testing.T) {
	begins, grows := newGuest(), newGuest(toolabi.FuncLog)
	begins.Memory(1600)
	begins.invokeOnly(0, begins.ok(t))
	grows.invoke(0, g2(grow(1600)), grows.tell(I32Const(7)), grows.ok(t))
	box, s := openBudget(t, 64)
	for name, g := range map[string]*guest{"begins": begins, "grows": grows} {
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}, func(context.Context, string, []byte) (toolabi.Answer, error) {
			t.Error("the guest went on")
			return toolabi.Answer{}, nil
		})
		var e *sandbox.MemoryError
		if !errors.As(err, &e) || !e.Never || !strings.Contains(e.Error(), "raise the memory budget") {
			t.Errorf("%s: %v, %v, want that it never fits", name, out.Err, err)
		}
	}
}

func g2(code []byte) []byte { return slices.Concat(code, Drop) }

// TestTheBudgetIsGivenBackHoweverACallEnds runs guests that end badly, one after the other, each with half of the budget.
func TestTheBudgetIsGivenBackHoweverACallEnds(t *testing.T) {
	box, s := openBudget(t, 16)
	big := func(f func(*guest), functions ...string) *guest {
		g := newGuest(functions...)
		g.Memory(128)
		f(g)
		return g
	}
	panics := func(context.Context, string, []byte) (toolabi.Answer, error) { panic("oh") }
	fails := func(context.Context, string, []byte) (toolabi.Answer, error) {
		return toolabi.Answer{}, errors.New("no")
	}
	asks := func(g *guest) { g.invokeOnly(0, g.tell(I32Const(1)), g.ok(t)) }
	for name, tc := range map[string]struct {
		g    *guest
		host toolabi.HostFunc
	}{
		"trap":                      {big(func(g *guest) { g.invokeOnly(0, Unreachable) }), nil},
		"trap in _initialize":       {big(func(g *guest) { g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, Unreachable)); g.invokeOnly(0) }), nil},
		"data outside of memory":    {big(func(g *guest) { g.Data(128*65536-1, []byte("ab")); g.invokeOnly(0, g.ok(t)) }), nil},
		"a host function panics":    {big(asks, toolabi.FuncLog), panics},
		"a host function fails":     {big(asks, toolabi.FuncLog), fails},
		"a pointer out of memory":   {big(func(g *guest) { g.invokeOnly(0, I32Const(-8), I32Const(4), Call(g.output), Drop) }), nil},
		"memory over its own limit": {big(func(g *guest) { g.invokeOnly(0, g2(grow(1<<15)), Unreachable) }), nil},
		"memory over the budget":    {big(func(g *guest) { g.invokeOnly(0, g2(grow(1<<11)), Unreachable) }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			for range 4 {
				out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(tc.g.build(t)), Tool: "echo"}, tc.host)
				if err == nil && out.Err == nil {
					t.Fatalf("it ended well: %s", out.Output)
				}
				if used, _ := box.MemoryInUse(); used != 0 {
					t.Fatalf("%d bytes are in use after %v, %v", used, out.Err, err)
				}
			}
		})
	}
}

// TestWaitingForMemoryIsNotTheCallsTime ends the context of a call that waits, as the limit on its time would.
func TestWaitingForMemoryIsNotTheCallsTime(t *testing.T) {
	box, s := openBudget(t, 64)
	holds := newGuest(toolabi.FuncLog)
	holds.Memory(900)
	holds.invokeOnly(0, holds.tell(I32Const(1)), holds.ok(t))
	inv := toolabi.Invocation{Module: s.add(holds.build(t)), Tool: "echo"}
	inside, let, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if _, err := box.Invoke(t.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
			close(inside)
			<-let
			return toolabi.Answer{}, nil
		}); err != nil {
			t.Error(err)
		}
	}()
	<-inside
	ctx, cancel := context.WithCancelCause(t.Context())
	paused, resumed := 0, 0
	inv.Pause = func() func() {
		paused++
		cancel(toolabi.NewError(toolabi.LimitTime, "used up"))
		return func() { resumed++ }
	}
	out, err := box.Invoke(ctx, inv, nil)
	if out.Err != nil || !errors.Is(err, toolabi.LimitTime) || !strings.Contains(err.Error(), "wait for") {
		t.Errorf("got %v, %v, want an error of the host", out.Err, err)
	}
	if paused != 1 || resumed != 1 {
		t.Errorf("paused %d times, resumed %d times", paused, resumed)
	}
	close(let)
	<-done
}

// TestALargeInputCountsToo: 16 MiB of it do not fit beside a small memory.
func TestALargeInputCountsToo(t *testing.T) {
	box, s := openBudget(t, 8)
	_, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(echo(t)), Tool: "echo", Input: make([]byte, toolabi.MaxInput)}, nil)
	var e *sandbox.MemoryError
	if !errors.As(err, &e) || !e.Never {
		t.Errorf("got %v", err)
	}
	// A request of 8 MiB to the host, and a reply of 16 MiB, count as well.
	g := newGuest(toolabi.FuncLog)
	g.Memory(160)
	g.invokeOnly(0, I32Const(0), I32Const(8<<20), Call(g.host[toolabi.FuncLog]), Drop, g.ok(t))
	for _, mib := range []uint64{16, 24, 64} {
		box, s := openBudget(t, mib)
		asked := false
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}, func(context.Context, string, []byte) (toolabi.Answer, error) {
			asked = true
			return toolabi.Answer{Reply: make([]byte, toolabi.MaxOutput)}, nil
		})
		if fits := err == nil && out.Err == nil; fits != (mib == 64) || !fits && !errors.As(err, &e) || asked != (mib > 16) {
			t.Errorf("%d MiB: asked is %v; %v, %v", mib, asked, out.Err, err)
		}
	}
}

// TestMemoryIsGivenBackToTheSystem runs many calls of 200 MiB each that touch theirs.
func TestMemoryIsGivenBackToTheSystem(t *testing.T) {
	g := newGuest()
	g.Memory(3200)
	g.invokeOnly(1, I32Const(65536), LocalSet(1), Loop, LocalGet(1), I32Const(1), I32Store, LocalGet(1), I32Const(4096), I32Add, LocalSet(1),
		LocalGet(1), I32Const(200<<20), I32LtS, BrIf(0), End, g.ok(t))
	box, s := openBudget(t, 512)
	inv := toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}
	before := heap()
	for range 6 {
		if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
			t.Fatal(out.Err, err)
		}
	}
	if after := heap(); after > before+64<<20 && runtime.GOOS != "windows" {
		t.Errorf("Go's heap got %d bytes from the system, %d before", after, before)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys
}

// TestAGuestThatTalksTooMuchIsToldSo: the first thousand lines arrive, ten million more do not, nor does one of 1 GiB.
func TestAGuestThatTalksTooMuchIsToldSo(t *testing.T) {
	const times = 10_000_000
	talk := newGuest(toolabi.FuncLog, toolabi.FuncProgress)
	ok := talk.ok(t)
	talk.invoke(2, Loop,
		I32Const(0), I32Const(1), Call(talk.host[toolabi.FuncLog]), I32WrapI64, LocalSet(2),
		LocalGet(1), I32Const(1), I32Add, LocalSet(1), LocalGet(1), I32Const(times), I32LtS, BrIf(0), End,
		// What it was told last, for the test to look at.
		I32Const(0), I32Const(4000), I32Const(0), Call(talk.result), Drop,
		I32Const(0), I32Const(200), Call(talk.host[toolabi.FuncProgress]), Drop, ok)
	var said int
	var last []byte
	out := outcome(t, talk.build(t), func(_ context.Context, name string, request []byte) (toolabi.Answer, error) {
		if said++; name == toolabi.FuncProgress {
			said--
			last = request
		}
		return toolabi.Answer{}, nil
	})
	if string(out.Output) != "{}" || said != toolabi.MaxSaid {
		t.Errorf("outcome is %s, %v after %d lines", out.Output, out.Err, said)
	}
	if !strings.Contains(string(last), "log was used 1000 times") {
		t.Errorf("the guest was told %q", last)
	}

	long := newGuest(toolabi.FuncLog)
	long.Memory(16385)
	long.invokeOnly(0, I32Const(0), I32Const(1<<30), Call(long.host[toolabi.FuncLog]), I32WrapI64, I32Const(0), I32LtS, I32Eqz, If, Unreachable, End, long.ok(t))
	box, s := open(t, sandbox.Config{Limits: toolabi.Limits{MemoryBytes: 2 << 30}, MemoryBudget: 2 << 30})
	out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(long.build(t)), Tool: "echo"}, func(context.Context, string, []byte) (toolabi.Answer, error) {
		t.Error("a line of 1 GiB arrived")
		return toolabi.Answer{}, nil
	})
	if err != nil || string(out.Output) != "{}" {
		t.Errorf("outcome is %s, %v, %v", out.Output, out.Err, err)
	}
}

// TestAToolThatIsCalledWaitsForItsCallersToo has two calls hold memory while tools that they call want more than there is:
// nobody could go on, so one is left, and the other's tool runs.
func TestAToolThatIsCalledWaitsForItsCallersToo(t *testing.T) {
	outer, inner := newGuest(toolabi.FuncLog), newGuest()
	outer.Memory(400)
	outer.invokeOnly(0, outer.tell(I32Const(1)), outer.ok(t))
	inner.Memory(400)
	inner.invokeOnly(0, inner.ok(t))
	box, s := openBudget(t, 64)
	o := toolabi.Invocation{Module: s.add(outer.build(t)), Tool: "echo"}
	in := toolabi.Invocation{Module: s.add(inner.build(t)), Tool: "echo"}
	var both, wg sync.WaitGroup
	both.Add(2)
	var left, finished atomic.Int32
	for range 2 {
		wg.Go(func() {
			out, err := box.Invoke(t.Context(), o, func(ctx context.Context, _ string, _ []byte) (toolabi.Answer, error) {
				both.Done()
				both.Wait()
				out, err := box.Invoke(context.WithoutCancel(ctx), in, nil)
				return toolabi.Answer{Err: out.Err}, err
			})
			var e *sandbox.MemoryError
			switch {
			case errors.As(err, &e) && !e.Never:
				left.Add(1)
			case err == nil && string(out.Output) == "{}":
				finished.Add(1)
			default:
				t.Errorf("%s, %v, %v", out.Output, out.Err, err)
			}
		})
	}
	wg.Wait()
	if left.Load() != 1 || finished.Load() != 1 {
		t.Errorf("%d were left, %d finished", left.Load(), finished.Load())
	}
}

// TestTablesAndElementsAreCounted: they are up to 8 and 14 MiB for each call.
func TestTablesAndElementsAreCounted(t *testing.T) {
	growing, fixed, elements := newGuest(), newGuest(), newGuest()
	for range 4 {
		growing.Table(0, 1)
		fixed.Table(0, 1)
	}
	growing.invoke(0, RefNull, I32Const(1<<18-1), TableGrow(3), Drop, growing.ok(t))
	fixed.invoke(0, fixed.ok(t))
	elements.Table(0, 1)
	f := elements.Func(nil, nil, 0)
	elements.PassiveElements(slices.Repeat([]uint32{f}, 250_000)...)
	elements.invoke(0, elements.ok(t))
	for name, tc := range map[string]struct {
		g    *guest
		fits bool
	}{"growing tables": {growing, false}, "tables that stay": {fixed, true}, "elements": {elements, false}} {
		box, s := openBudget(t, 8)
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(tc.g.build(t)), Tool: "echo"}, nil)
		var none *sandbox.MemoryError
		if fits := err == nil && string(out.Output) == "{}"; fits != tc.fits || !fits && !errors.As(err, &none) {
			t.Errorf("%s: %s, %v, %v", name, out.Output, out.Err, err)
		}
	}
}

// TestADeepStackIsCounted: calls in each other may use 16 MiB, which is moved as it grows.
func TestADeepStackIsCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		depth int32
		fits  bool
	}{"shallow": {100, true}, "deep": {100_000, false}} {
		g := newGuest()
		ok := g.ok(t)
		self := g.Func(nil, nil, 0) + 1
		f := g.Func(i32, nil, 0, LocalGet(0), If, LocalGet(0), I32Const(1), I32Sub, Call(self), End)
		g.invoke(0, I32Const(tc.depth), Call(f), ok)
		box, s := openBudget(t, 8)
		inv := toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}
		out, err := box.Invoke(t.Context(), inv, nil)
		var none *sandbox.MemoryError
		if fits := err == nil && string(out.Output) == "{}"; fits != tc.fits || !fits && !errors.As(err, &none) {
			t.Errorf("%s: %s, %v, %v", name, out.Output, out.Err, err)
		}
	}
}
