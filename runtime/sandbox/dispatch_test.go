package sandbox_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
)

// The locals of a dispatched function.
const (
	localSteps  = iota // how many parts it runs, the first parameter
	localSeed          // of where it goes, the second parameter
	localNext          // the number of the part that is next
	localPassed        // how many instructions it has run, at least
)

// dispatched returns a module whose function run has parts that go to each other by number, as Go compiles jumps, and in all
// the ways that are nearly so.
func dispatched(random *rand.Rand) []byte {
	parts := 1 + random.IntN(8)
	targets := make([]uint32, 1+random.IntN(12))
	for i := range targets {
		targets[i] = uint32(random.IntN(parts))
	}
	if random.IntN(4) == 0 {
		targets[random.IntN(len(targets))] = uint32(parts) + 1 // out of the loop, so that it is no dispatch
	}
	code := slices.Concat([]byte{2, 1, I32, 1, I64}, Block, Loop, Times(parts, Block), LocalGet(localNext), BrTable(targets...))
	for i := range parts {
		code = slices.Concat(code, End, part(random, uint32(parts-1-i), len(targets)))
	}
	m := new(Module)
	m.Export("run", m.FuncRaw(i32s, i64, slices.Concat(code, End, End, LocalGet(localPassed), End)))
	return m.Bytes()
}

// part is one of them, with so many blocks between it and the loop.
func part(random *rand.Rand, depth uint32, numbers int) []byte {
	i32And, i32ShrU, i32Mul, i32Eqz, i64Add := []byte{0x71}, []byte{0x76}, []byte{0x6c}, []byte{0x45}, []byte{0x7c}
	work := random.IntN(100)
	number := func() []byte { return I32Const(int32(random.IntN(numbers+3) - 1)) }
	jump := func(depth uint32) []byte {
		switch random.IntN(8) {
		case 0: // to a number that is not known
			return slices.Concat(LocalGet(localSeed), I32Const(28), i32ShrU, LocalSet(localNext), Br(depth))
		case 1: // to the last of two
			return slices.Concat(number(), LocalSet(localNext), number(), LocalSet(localNext), Br(depth))
		case 2: // to the number before
			return slices.Concat(number(), LocalSet(localSeed), Br(depth))
		case 3: // not at all
			return slices.Concat(number(), LocalSet(localNext))
		case 4:
			return slices.Concat(number(), LocalSet(localNext), I32Const(1), BrIf(depth))
		}
		return slices.Concat(number(), LocalSet(localNext), Br(depth))
	}
	return slices.Concat(
		Times(work, LocalGet(localPassed), I64Const(4), i64Add, LocalSet(localPassed)),
		LocalGet(localSteps), I32Const(1), I32Sub, LocalSet(localSteps),
		LocalGet(localSteps), i32Eqz, If, LocalGet(localPassed), Return, End,
		LocalGet(localSeed), I32Const(1664525), i32Mul, I32Const(1013904223), I32Add, LocalSet(localSeed),
		LocalGet(localSeed), I32Const(16), i32ShrU, I32Const(1), i32And, If, jump(depth+1), End,
		jump(depth),
	)
}

// checkDispatched runs such a function as it is and rewritten, which have to come to the same, and holds the fuel against what
// ran: one unit pays for 16 instructions.
func checkDispatched(t *testing.T, from uint64) {
	module := dispatched(rand.New(rand.NewPCG(from, 0)))
	r := wazero.NewRuntime(t.Context())
	defer r.Close(context.Background())
	plain, err := r.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	h := newCounting(t, module)
	mod := h.instance(t)
	for _, n := range []uint64{1, 2, 10, 1000} {
		want, err := plain.ExportedFunction("run").Call(t.Context(), n, from&0xffff)
		if err != nil {
			t.Fatal(err)
		}
		got, fuel := h.call(t.Context(), t, mod, "run", n, from&0xffff)
		if got != want[0] {
			t.Errorf("module %d, %d steps: it ran %d instructions, want %d", from, n, got, want[0])
		}
		if uint64(fuel)*16 < got {
			t.Errorf("module %d, %d steps: %d units of fuel for %d instructions", from, n, fuel, got)
		}
	}
}

func TestJumpsByNumberArePaidFor(t *testing.T) {
	for from := range uint64(100) {
		checkDispatched(t, from)
	}
}

func FuzzJumpsByNumber(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(checkDispatched)
}

// A jump ahead goes through the loop all the same, and pays for nothing twice.
func TestJumpsAheadByNumberCostNothing(t *testing.T) {
	const parts = 50
	i32And := []byte{0x71}
	code := slices.Concat([]byte{1, 1, I32}, Loop, Times(parts, Block), LocalGet(1), BrTable(numbers(parts)...))
	for i := range uint32(parts) {
		code = slices.Concat(code, End)
		if i < parts-1 {
			code = slices.Concat(code, LocalGet(0), I32Const(1), i32And, If, I32Const(int32(i+1)), LocalSet(1), Br(parts-i), End)
		}
	}
	m := new(Module)
	m.Export("run", m.FuncRaw(i32, i32, slices.Concat(code, End, LocalGet(1), End)))
	h := newCounting(t, m.Bytes())
	mod := h.instance(t)
	through, straight := h.call(t.Context(), t, mod, "run", 0)
	jumped, fuel := h.call(t.Context(), t, mod, "run", 1)
	if through != 0 || jumped != parts-1 {
		t.Fatalf("it came to part %d and %d, want 0 and %d", through, jumped, parts-1)
	}
	if fuel != straight {
		t.Errorf("%d units of fuel with the jumps, %d without", fuel, straight)
	}
}

func numbers(n int) (all []uint32) {
	for i := range n {
		all = append(all, uint32(i))
	}
	return all
}
