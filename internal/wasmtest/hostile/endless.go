package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// forever is a loop that does nothing else.
var forever = slices.Concat(Loop, Br(0), End)

// endless are loops, in every form that goes back.
func endless() []Case {
	unit := func(t *tool) uint32 { return t.Type(nil, nil) }
	fueled := runs("W22", "loop-on-fuel", toolabi.LimitFuel, "", func(t *tool) { t.invoke(0, forever) })
	fueled.Fuel = 1_000_000
	return []Case{
		refused("W19", "start-loops", sandbox.ABI, "_initialize", made(func(t *tool) { t.Start(t.Func(nil, nil, 0, forever)) })),
		stopped("W19", "initialize-loops", func(t *tool) { t.initialize(forever) }),
		refused("W20", "start-traps", sandbox.ABI, "_initialize", made(func(t *tool) { t.Start(t.Func(nil, nil, 0, Unreachable)) })),
		runs("W20", "initialize-traps", toolabi.Trapped, "unreachable", func(t *tool) { t.initialize(Unreachable) }),
		refused("W21", "start-is-imported", sandbox.ABI, "_initialize", made(func(t *tool) { t.Start(t.wasi("sched_yield", nil)) })),
		runs("W21", "invoke-is-imported", toolabi.Protocol, "returned 8", func(t *tool) { t.finish(t.wasi("fd_close", i32)) }),
		stopped("W22", "loop", func(t *tool) { t.invoke(0, forever) }),
		fueled,
		stopped("W22", "loop-by-br-if", func(t *tool) { t.invoke(0, Loop, I32Const(1), BrIf(0), End) }),
		stopped("W22", "loop-by-br-table", func(t *tool) { t.invoke(0, Loop, I32Const(0), BrTable(0, 0), End) }),
		stopped("W22", "loop-by-default-of-br-table", func(t *tool) {
			t.invoke(0, Block, Loop, I32Const(7), BrTable(1, 1, 0), End, End)
		}),
		stopped("W22", "loop-from-deep-inside", func(t *tool) {
			t.invoke(0, Loop, Times(500, Block), Br(500), Times(500, End), End)
		}),
		stopped("W22", "loop-with-values", func(t *tool) {
			typ := t.Type(i32s, i32s)
			t.invoke(0, I32Const(1), I32Const(2), LoopOf(typ), Br(0), End, Drop, Drop)
		}),
		stopped("W22", "loop-in-an-else", func(t *tool) { t.invoke(0, I32Const(0), If, Else, Loop, Br(0), End, End) }),
		stopped("W22", "loop-by-if-inside", func(t *tool) { t.invoke(0, Loop, I32Const(1), If, Br(1), End, End) }),
		stopped("W22", "loop-in-a-loop", func(t *tool) {
			t.invoke(0, Loop, Loop, I32Const(0), BrIf(0), End, Br(0), End)
		}),
		stopped("W22", "loop-with-dead-code-before-and-after", func(t *tool) {
			t.invoke(0, Block, Br(0), Loop, Br(0), End, End, Loop, Br(0), Loop, Br(1), End, End)
		}),
		stopped("W22", "loop-of-calls", func(t *tool) {
			f := t.Func(nil, nil, 0)
			t.invoke(0, Loop, Call(f), Br(0), End)
		}),
		stopped("W22", "loop-called-through-a-table", func(t *tool) {
			f := t.Func(nil, nil, 0, forever)
			t.Table(0, 1)
			t.Elements(0, f)
			t.invoke(0, I32Const(0), CallIndirect(unit(t)))
		}),
		stopped("W22", "loop-of-references", func(t *tool) {
			f := t.Func(nil, nil, 0)
			t.Table(0, 1)
			t.PassiveElements(f)
			t.invoke(0, Loop, Times(1000, []byte{0xd2}, U32(f), Drop), Br(0), End)
		}),
		stopped("W22", "loop-of-divisions", func(t *tool) {
			t.invoke(0, Loop, I64Const(-1<<62), Times(1000, I64Const(3), []byte{0x7f}), Drop, Br(0), End)
		}),
		stopped("W22", "loop-by-number", byNumber(I32Const(0), LocalSet(1), Br(1))),
		stopped("W22", "loop-by-number-beyond-the-table", byNumber(I32Const(-1), LocalSet(1), Br(1))),
		stopped("W22", "loop-by-number-behind-one-that-goes-ahead", byNumber(I32Const(1), LocalSet(1), I32Const(0), LocalSet(1), Br(1))),
		stopped("W22", "loop-by-number-in-another-local", byNumber(I32Const(1), LocalSet(0), Br(1))),
		stopped("W22", "loop-by-number-that-is-computed", byNumber(I32Const(0), I32Const(0), I32Add, LocalSet(1), Br(1))),
		stopped("W22", "loop-by-number-to-the-loop", func(t *tool) {
			t.invoke(1, Loop, Block, LocalGet(1), BrTable(0, 1), End, I32Const(1), LocalSet(1), Br(0), End)
		}),
		stopped("W22", "loop-of-memory", func(t *tool) {
			t.invoke(0, Loop, I32Const(0), I32Const(0), I32Load, I32Store, Br(0), End)
		}),
	}
}

// byNumber goes to the first of two parts by number, where more stands.
func byNumber(more ...[]byte) func(*tool) {
	return func(t *tool) {
		t.invoke(1, Loop, Block, Block, LocalGet(1), BrTable(0, 1, 0), End, slices.Concat(more...), End, End)
	}
}

// levels is how deep the trees of calls are: 2^levels calls do not end.
const levels = 60

// fanOut are trees of calls without a loop.
func fanOut() []Case {
	tree := func(t *tool, leaf []byte, call func(f uint32) []byte) uint32 {
		f := t.Func(nil, nil, 0, leaf)
		for range levels {
			f = t.Func(nil, nil, 0, call(f), call(f))
		}
		return f
	}
	fueled := runs("W23", "tree-of-calls-on-fuel", toolabi.LimitFuel, "", func(t *tool) { t.invoke(0, Call(tree(t, nil, Call))) })
	fueled.Fuel = 1_000_000
	return []Case{
		stopped("W23", "tree-of-calls", func(t *tool) { t.invoke(0, Call(tree(t, nil, Call))) }),
		fueled,
		stopped("W23", "tree-of-calls-while-it-starts", func(t *tool) { t.initialize(Call(tree(t, nil, Call))) }),
		stopped("W23", "tree-of-calls-of-64", func(t *tool) {
			f := t.Func(nil, nil, 0)
			for range 12 {
				f = t.Func(nil, nil, 0, Times(64, Call(f)))
			}
			t.invoke(0, Call(f))
		}),
		stopped("W23", "tree-of-calls-that-return-early", func(t *tool) {
			f := t.Func(nil, nil, 0)
			for range levels {
				f = t.Func(nil, nil, 0, Block, Call(f), Call(f), Return, End)
			}
			t.invoke(0, Call(f))
		}),
		stopped("W24", "tree-of-indirect-calls", func(t *tool) {
			typ := t.Type(nil, nil)
			t.Table(0, levels+1)
			fs := []uint32{t.Func(nil, nil, 0)}
			for i := range int32(levels) {
				fs = append(fs, t.Func(nil, nil, 0, I32Const(i), CallIndirect(typ), I32Const(i), CallIndirect(typ)))
			}
			t.Elements(0, fs...)
			t.invoke(0, I32Const(levels), CallIndirect(typ))
		}),
		stopped("W24", "tree-with-host-calls", func(t *tool) {
			log := t.host(toolabi.FuncLog)
			t.invoke(0, Call(tree(t, slices.Concat(I32Const(0), I32Const(0), Call(log), Drop), Call)))
		}),
		stopped("W24", "tree-with-WASI", func(t *tool) {
			yield := t.wasi("sched_yield", nil)
			t.invoke(0, Call(tree(t, slices.Concat(Call(yield), Drop), Call)))
		}),
		stopped("W24", "recursion-in-pairs", func(t *tool) {
			// Each calls the other twice, one level less, down from 60: what the parameter says, not how many functions there are.
			first := t.result + 1
			body := func(other uint32) []byte {
				down := slices.Concat(LocalGet(0), I32Const(1), I32Sub, Call(other))
				return slices.Concat(LocalGet(0), If, down, down, End)
			}
			t.Func(i32, nil, 0, body(first+1))
			t.Func(i32, nil, 0, body(first))
			t.invoke(0, I32Const(levels), Call(first))
		}),
	}
}
