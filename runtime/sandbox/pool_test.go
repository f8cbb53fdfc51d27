package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// wantPool checks how many instances and snapshots are in the pools.
func wantPool(t *testing.T, box *sandbox.Sandbox, instances, snapshots int) {
	t.Helper()
	if !sandbox.PoolsByDefault {
		instances, snapshots = 0, 0
	}
	i, s, bytes := box.InPool()
	if i != instances || s != snapshots || (i+s == 0) != (bytes == 0) {
		t.Errorf("%d instances and %d snapshots with %d bytes are in the pools, want %d and %d", i, s, bytes, instances, snapshots)
	}
}

// steps is a guest that counts in a global, in its memory and in memory that it grows to, and answers with all three counts as
// digits. Its _initialize has counted to one, grown the memory by a page and used some fuel.
func steps(t testing.TB) []byte {
	g := newGuest()
	g.MemoryMax(2, 8)
	count := g.Global(0)
	inc := slices.Concat(
		GlobalGet(count), I32Const(1), I32Add, GlobalSet(count),
		I32Const(1024), I32Const(1024), I32Load, I32Const(1), I32Add, I32Store,
		I32Const(3<<16), I32Const(3<<16), I32Load, I32Const(1), I32Add, I32Store)
	g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, grow(2), Drop, inc))
	digit := func(value []byte, at int32) []byte {
		return slices.Concat(I32Const(at), value, I32Const('0'), I32Add, I32Store)
	}
	g.Data(replyAt, []byte{0xa1, 1, 0x43, '0', '0', '0'})
	f := g.Func(i32, i32, 0, grow(1), Drop, inc,
		digit(GlobalGet(count), replyAt+3),
		digit(slices.Concat(I32Const(1024), I32Load), replyAt+4),
		digit(slices.Concat(I32Const(3<<16), I32Load), replyAt+5),
		g.answer(6), I32Const(0))
	g.Export(toolabi.ExportInvoke, f)
	g.Export(toolabi.ExportMarker, g.Func(nil, nil, 0))
	g.ExportRaw(toolabi.ExportMemory, 2, 0)
	return g.build(t)
}

// TestAnInstanceIsUsedAgain: each call counts on from what _initialize left and not from another call, in the one instance that
// there is.
func TestAnInstanceIsUsedAgain(t *testing.T) {
	for _, kind := range []sandbox.Instances{sandbox.Pooled, sandbox.PooledPortably, sandbox.Fresh} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			box, s := open(t, sandbox.Config{Instances: kind})
			inv := toolabi.Invocation{Module: s.add(steps(t)), Tool: "echo", Input: []byte("{}")}
			var fuel uint64
			for n := range 20 {
				out, err := box.Invoke(t.Context(), inv, nil)
				if err != nil || string(out.Output) != "222" {
					t.Fatalf("call %d: %s, %v, %v", n, out.Output, out.Err, err)
				}
				if n > 0 && out.Fuel != fuel {
					t.Errorf("call %d used %d fuel, and the one before it %d", n, out.Fuel, fuel)
				}
				fuel = out.Fuel
			}
			if i, s, _ := box.InPool(); kind == sandbox.Fresh && i+s > 0 || kind == sandbox.PooledPortably && (i != 1 || s != 1) {
				t.Errorf("%d instances and %d snapshots are in the pool", i, s)
			}
		})
	}
}

// TestCallsTogetherHaveAnInstanceEach: the pool then has as many as were used at the same time.
func TestCallsTogetherHaveAnInstanceEach(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	g := newGuest(toolabi.FuncLog)
	inv := toolabi.Invocation{Module: s.add(g.invoke(0, g.tell(I32Const(1)), g.ok(t)).build(t)), Tool: "echo"}
	for range 3 {
		var inside, done sync.WaitGroup
		inside.Add(5)
		for range 5 {
			done.Go(func() {
				out, err := box.Invoke(t.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
					inside.Done()
					inside.Wait() // until all are
					return toolabi.Answer{}, nil
				})
				if err != nil || out.Err != nil {
					t.Error(out.Err, err)
				}
			})
		}
		done.Wait()
		wantPool(t, box, 5, 1)
	}
}

// TestWhatIsNotUsedIsGivenBack: the instances that many calls at once needed go when only one is needed, and all when none is.
func TestWhatIsNotUsedIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, s := open(t, sandbox.Config{})
		g := newGuest(toolabi.FuncSleep)
		naps := g.invoke(0, g.useThenOK(t, toolabi.FuncSleep)).build(t)
		inv := toolabi.Invocation{Module: s.add(naps), Tool: "echo"}
		host := func(context.Context, string, []byte) (toolabi.Answer, error) {
			time.Sleep(time.Second)
			return toolabi.Answer{}, nil
		}
		call := func() {
			if out, err := box.Invoke(t.Context(), inv, host); err != nil || out.Err != nil {
				t.Error(out.Err, err)
			}
		}
		var together sync.WaitGroup
		for range 6 {
			together.Go(call)
		}
		together.Wait()
		wantPool(t, box, 6, 1)
		for began := time.Now(); time.Since(began) < sandbox.IdleTime; {
			call()
		}
		wantPool(t, box, 1, 1)
		time.Sleep(sandbox.IdleTime)
		wantPool(t, box, 0, 0)
		call()
		wantPool(t, box, 1, 1)
	})
}

// useThenOK is code that uses a host function without looking at what it answers.
func (g *guest) useThenOK(t testing.TB, function string) []byte {
	return slices.Concat(I32Const(0), I32Const(0), Call(g.host[function]), Drop, g.ok(t))
}

// TestThePoolGivesWay: what is idle counts against the budget, and the one that was used the longest ago is dropped for a call
// that has no room beside it.
func TestThePoolGivesWay(t *testing.T) {
	box, s := openBudget(t, 64)
	module := func(pages, version uint32) toolabi.Invocation {
		g := newGuest()
		g.Memory(pages)
		g.manifest.Version = fmt.Sprintf("%d.0.0", version)
		return toolabi.Invocation{Module: s.add(g.invokeOnly(0, g.ok(t)).build(t)), Tool: "echo"}
	}
	run := func(inv toolabi.Invocation) {
		t.Helper()
		if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
			t.Fatal(out.Err, err)
		}
	}
	first, second, large := module(160, 1), module(160, 2), module(600, 3)
	run(first)
	run(second)
	wantPool(t, box, 2, 2) // of 10 MiB each, and a MiB beside
	run(first)
	run(module(320, 4))
	if _, _, bytes := box.InPool(); bytes > 64<<20 {
		t.Errorf("%d bytes are in the pools", bytes)
	}
	run(large) // 37.5 MiB, and its snapshot has no room beside it
	run(large)
	run(first)
	if _, _, bytes := box.InPool(); bytes > 64<<20 {
		t.Errorf("%d bytes are in the pools", bytes)
	}
}

// TestAModuleThatComesLaterHasAPoolToo: what others left idle fills the budget, and gives way to it.
func TestAModuleThatComesLaterHasAPoolToo(t *testing.T) {
	box, s := openBudget(t, 32)
	module := func(version int) toolabi.Invocation {
		g := newGuest(toolabi.FuncLog)
		g.Memory(64)
		g.manifest.Version = fmt.Sprintf("%d.0.0", version)
		return toolabi.Invocation{Module: s.add(g.invokeOnly(0, g.tell(I32Const(1)), g.ok(t)).build(t)), Tool: "echo"}
	}
	answer := func(context.Context, string, []byte) (toolabi.Answer, error) { return toolabi.Answer{}, nil }
	first, later := module(1), module(2)
	if out, err := box.Invoke(t.Context(), first, answer); err != nil || out.Err != nil {
		t.Fatal(out.Err, err)
	}
	var inside, done sync.WaitGroup
	inside.Add(5) // of 5 MiB each, beside an image of 4 MiB
	for range 5 {
		done.Go(func() {
			out, err := box.Invoke(t.Context(), first, func(context.Context, string, []byte) (toolabi.Answer, error) {
				inside.Done()
				inside.Wait()
				return toolabi.Answer{}, nil
			})
			if err != nil || out.Err != nil {
				t.Error(out.Err, err)
			}
		})
	}
	done.Wait()
	wantPool(t, box, 5, 1)
	for range 2 {
		if out, err := box.Invoke(t.Context(), later, answer); err != nil || out.Err != nil {
			t.Fatal(out.Err, err)
		}
	}
	if i, snapshots, _ := box.InPool(); sandbox.PoolsByDefault && (snapshots != 2 || i < 2) {
		t.Errorf("%d instances and %d snapshots are in the pools: the later module has none", i, snapshots)
	}
}

// TestAnInstanceIsNotKeptWithoutItsSnapshot: a call ends that held more than its instance takes, another that waited has most of
// that, and room for the instance is there only when the snapshot gives way.
func TestAnInstanceIsNotKeptWithoutItsSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, s := openBudget(t, 32)
		module := func(pages uint32) toolabi.Invocation {
			g := newGuest(toolabi.FuncLog)
			g.Memory(pages)
			return toolabi.Invocation{Module: s.add(g.invokeOnly(0, g.tell(I32Const(1)), g.ok(t)).build(t)), Tool: "echo"}
		}
		begin := func(inv toolabi.Invocation) (end func()) {
			goOn, ended := make(chan bool), make(chan error)
			go func() {
				out, err := box.Invoke(t.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
					<-goOn
					return toolabi.Answer{}, nil
				})
				ended <- errors.Join(err, toError(out.Err))
			}()
			synctest.Wait()
			return func() {
				t.Helper()
				close(goOn)
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		}
		small, large := module(64), module(400) // 4 MiB and 25 MiB, and one beside
		begin(small)()
		wantPool(t, box, 1, 1)
		small.Input = make([]byte, 2<<20)
		endSmall, endLarge := begin(small), begin(large)
		if _, waiting := box.MemoryInUse(); waiting != 1 {
			t.Fatalf("%d calls wait, want the large one", waiting)
		}
		endSmall()
		wantPool(t, box, 0, 0)
		endLarge()
		begin(small)()
		wantPool(t, box, 1, 1)
	})
}

// TestWhoCannotBeUsedAgain: its call did not return, or used much of the native stack, or its code can change what is not put back.
func TestWhoCannotBeUsedAgain(t *testing.T) {
	deep, table, vector, pointer, large := newGuest(), newGuest(), newGuest(), newGuest(), newGuest()
	large.Memory(64<<20/65536 + 1)
	deep.Memory(2)
	f := deep.Func(i32, i32, 0, LocalGet(0), If, LocalGet(0), I32Const(1), I32Sub, Call(3), Drop, End, I32Const(0))
	table.Table(0, 1)
	vector.GlobalOf(0x7b, V128Const())
	for _, c := range []struct {
		name  string
		guest *guest
		code  toolabi.Code // 0 for none
	}{
		{"trap", newGuest().invoke(0, Unreachable), toolabi.Trapped},
		{"loop", newGuest().invoke(0, Loop, Br(0), End), toolabi.LimitTime},
		{"fuel", newGuest().invoke(0, Loop, Br(0), End), toolabi.LimitFuel},
		{"misuse", pointer.invoke(0, I32Const(-8), I32Const(4), Call(pointer.output), Drop), toolabi.Protocol},
		{"deep stack", deep.invokeOnly(0, I32Const(100_000), Call(f), Drop, deep.ok(t)), 0},
		{"table", table.invoke(0, I32Const(0), []byte{0xd0, FuncRef}, I32Const(0), TableFill(0), table.ok(t)), 0},
		{"large memory", large.invokeOnly(0, large.ok(t)), 0},
		{"mutable vector", vector.invoke(0, vector.ok(t)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			box, s := open(t, sandbox.Config{})
			inv := toolabi.Invocation{Module: s.add(c.guest.build(t)), Tool: "echo"}
			if c.code == toolabi.LimitFuel {
				inv.Limits.Fuel = 1000
			}
			for range 2 {
				ctx := t.Context()
				if c.code == toolabi.LimitTime {
					var cancel func()
					ctx, cancel = context.WithTimeoutCause(ctx, time.Millisecond, toolabi.NewError(toolabi.LimitTime, "too long"))
					defer cancel()
				}
				out, err := box.Invoke(ctx, inv, nil)
				if err != nil {
					t.Fatal(err)
				}
				if c.code == 0 && out.Err != nil {
					t.Fatal(out.Err)
				}
				if c.code != 0 {
					wantCode(t, out, c.code)
				}
			}
			if i, _, _ := box.InPool(); i != 0 {
				t.Errorf("%d instances are kept", i)
			}
		})
	}
}

// TestLimitsOfACallAreKept: a call whose limits _initialize does not keep comes to what it comes to by itself, whatever is in
// the pool, and one with more memory than the last may have it.
func TestLimitsOfACallAreKept(t *testing.T) {
	busy := newGuest()
	busy.Memory(1)
	busy.Export(toolabi.ExportInitialize, busy.Func(nil, nil, 1,
		grow(15), Drop, I32Const(100_000), LocalSet(0), Loop, LocalGet(0), I32Const(1), I32Sub, LocalSet(0), LocalGet(0), BrIf(0), End))
	wasm := busy.invokeOnly(0, grow(16), I32Const(-1), I32Eq, If, Unreachable, End, busy.ok(t)).build(t)
	type limits = toolabi.Limits
	for _, c := range []struct {
		name   string
		limits limits
		want   toolabi.Code
	}{
		{"none", limits{}, 0},
		{"enough", limits{MemoryBytes: 2 << 20}, 0},
		{"too little to grow", limits{MemoryBytes: 2<<20 - 65536}, toolabi.LimitMemory},
		{"too little to begin", limits{MemoryBytes: 512 << 10}, toolabi.LimitMemory},
		{"too little fuel to begin", limits{Fuel: 1000}, toolabi.LimitFuel},
		{"fuel to begin", limits{Fuel: 1_000_000}, 0},
	} {
		for _, kind := range []sandbox.Instances{sandbox.Pooled, sandbox.Fresh} {
			t.Run(fmt.Sprint(c.name, kind), func(t *testing.T) {
				box, s := open(t, sandbox.Config{Instances: kind})
				inv := toolabi.Invocation{Module: s.add(wasm), Tool: "echo"}
				for range 2 { // before there is a snapshot, and after
					inv.Limits = c.limits
					out, err := box.Invoke(t.Context(), inv, nil)
					switch {
					case err != nil:
						t.Fatal(err)
					case c.want == 0 && out.Err != nil:
						t.Fatal(out.Err)
					case c.want != 0:
						wantCode(t, out, c.want)
					}
					inv.Limits = limits{}
					if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
						t.Fatal(out.Err, err)
					}
				}
			})
		}
	}
}

// TestAConfiguredLimitNeedNotBeWholePages: a hundred million bytes are a limit too.
func TestAConfiguredLimitNeedNotBeWholePages(t *testing.T) {
	for _, limit := range []uint64{100_000_000, 131_073} {
		box, s := open(t, sandbox.Config{Limits: toolabi.Limits{MemoryBytes: limit}})
		inv := toolabi.Invocation{Module: s.add(echo(t)), Tool: "echo", Input: []byte("{}")}
		for range 2 {
			if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
				t.Fatalf("under a limit of %d bytes it came to %v, %v", limit, out.Err, err)
			}
		}
		wantPool(t, box, 1, 1)
	}
}

// TestWhatInitializeSaidIsSaidByEveryCall: what a module writes while it starts belongs to each of its calls.
func TestWhatInitializeSaidIsSaidByEveryCall(t *testing.T) {
	g := newGuest()
	write := g.Import(toolabi.WASIModule, "fd_write", []byte{I32, I32, I32, I32}, i32)
	say := func(at, n int32) []byte {
		return slices.Concat(I32Const(64), I32Const(at), I32Store, I32Const(68), I32Const(n), I32Store,
			I32Const(2), I32Const(64), I32Const(1), I32Const(80), Call(write), Drop)
	}
	g.Memory(2)
	g.Data(1024, []byte("starting\nworking\n"))
	g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, say(1024, 9)))
	box, s := open(t, sandbox.Config{})
	inv := toolabi.Invocation{Module: s.add(g.invokeOnly(0, say(1033, 8), g.ok(t)).build(t)), Tool: "echo"}
	for range 3 {
		out, err := box.Invoke(t.Context(), inv, nil)
		if err != nil || string(out.Stderr) != "starting\nworking\n" {
			t.Fatalf("it said %q, %v", out.Stderr, err)
		}
	}
}

// TestASandboxThatClosesKeepsNothing: neither what waits in a pool nor what comes back from calls that were under way.
func TestASandboxThatClosesKeepsNothing(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	g := newGuest(toolabi.FuncLog)
	inv := toolabi.Invocation{Module: s.add(g.invoke(0, g.tell(I32Const(1)), g.ok(t)).build(t)), Tool: "echo"}
	inside, goOn := make(chan bool), make(chan bool)
	ended := make(chan error)
	go func() {
		out, err := box.Invoke(t.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
			inside <- true
			<-goOn
			return toolabi.Answer{}, nil
		})
		ended <- errors.Join(err, toError(out.Err))
	}()
	<-inside
	if out, err := box.Invoke(t.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) { return toolabi.Answer{}, nil }); err != nil || out.Err != nil {
		t.Fatal(out.Err, err)
	}
	closed := make(chan error)
	go func() { closed <- box.Close(context.Background()) }()
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	wantPool(t, box, 0, 0)
}

func toError(e *toolabi.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// TestManyModulesAtOnceUnderASmallBudget: they take each other's room all the time, and every call comes to what it should.
func TestManyModulesAtOnceUnderASmallBudget(t *testing.T) {
	box, s := openBudget(t, 24)
	var modules []toolabi.Invocation
	for n := range 6 {
		g := newGuest()
		g.Memory(uint32(16 + 16*n))
		g.Data(8192, []byte{0xa1, 1})
		g.invokeOnly(0,
			I32Const(8192),
			I32Const(8194), I32Const(60_000), I32Const(inputAt), Call(g.input),
			I32Const(2), I32Add, Call(g.output), Drop)
		modules = append(modules, toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"})
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 200 {
				inv := modules[(worker+n)%len(modules)]
				inv.Input, _ = json.Marshal(map[string]int{"worker": worker, "n": n})
				out, err := box.Invoke(t.Context(), inv, nil)
				if err != nil || string(out.Output) != string(inv.Input) {
					t.Errorf("%s came back as %s, %v, %v", inv.Input, out.Output, out.Err, err)
					return
				}
				if err := box.Audit(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if i, _, bytes := box.InPool(); i > 8 || bytes > 24<<20 {
		t.Errorf("%d instances with %d bytes are in the pools", i, bytes)
	}
}

// TestADeepStackIsNotKept: what calls in each other took of Go's heap between two turns of the host, who never saw it, does not
// wait in the pool with the instance.
func TestADeepStackIsNotKept(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	g := newGuest()
	g.Memory(2)
	f := g.Func(i32, i32, 0, LocalGet(0), If, LocalGet(0), I32Const(1), I32Sub, Call(3), Drop, End, I32Const(0))
	deep := g.invokeOnly(0, I32Const(25_000), Call(f), Drop, g.ok(t)).build(t)
	invs := []toolabi.Invocation{{Module: s.add(echo(t)), Tool: "echo", Input: []byte("{}")}, {Module: s.add(deep), Tool: "echo"}}
	var heap [2]uint64
	for n, inv := range invs {
		for range 2 {
			if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
				t.Fatal(out.Err, err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap[n] = m.HeapAlloc
	}
	wantPool(t, box, 2, 2)
	if grown := int64(heap[1] - heap[0]); grown > 512<<10 {
		t.Errorf("the instance that nested deeply keeps %d bytes", grown)
	}
}

// TestTheFunctionOfAnInstanceIsUsedAgain: making one for each call would cost more than the rest of a small call does.
func TestTheFunctionOfAnInstanceIsUsedAgain(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	inv := toolabi.Invocation{Module: s.add(echo(t)), Tool: "echo", Input: []byte(`{"n":1}`)}
	allocated := testing.AllocsPerRun(100, func() {
		if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
			t.Fatal(out.Err, err)
		}
	})
	if most := 1.0; sandbox.PoolsByDefault && !raced && allocated > most {
		t.Errorf("a small call allocates %v times, at most %v are for its output", allocated, most)
	}
}
