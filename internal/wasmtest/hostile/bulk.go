package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// bulk are instructions that each do much, by the thousand and without a loop.
func bulk() []Case {
	const pages, half = 200, 6 << 20
	whole := slices.Concat(I32Const(0), I32Const(7), I32Const(pages<<16), MemoryFill)
	over := slices.Concat(I32Const(0), I32Const(1), I32Const(pages<<16-1), MemoryCopy)
	chain := func(code ...[]byte) func(t *tool) {
		return func(t *tool) {
			t.pages = pages
			t.invoke(0, Times(20_000, code...))
		}
	}
	tables := func(code ...[]byte) func(t *tool) {
		return func(t *tool) {
			t.Table(0, 1<<17)
			t.Table(0, 1<<16)
			f := t.Func(nil, nil, 0, Times(3500, code...)) // many of them take long to compile
			t.invoke(0, Times(10, Call(f)))
		}
	}
	return []Case{
		stopped("W25", "fill-chain", chain(whole)),
		stopped("W25", "fill-tree", func(t *tool) {
			t.pages = pages
			f := t.Func(nil, nil, 0, whole)
			for range levels {
				f = t.Func(nil, nil, 0, Call(f), Call(f))
			}
			t.invoke(0, Call(f))
		}),
		stopped("W25", "fill-loop", func(t *tool) {
			t.pages = pages
			t.invoke(0, Loop, whole, Br(0), End)
		}),
		stopped("W25", "init-chain", func(t *tool) {
			t.pages = pages
			t.PassiveData(make([]byte, half))
			t.invoke(0, Times(2000, I32Const(0), I32Const(0), I32Const(half), MemoryInit(0)))
		}),
		stopped("W25", "table-fill-chain", tables(I32Const(0), RefNull, I32Const(1<<17), TableFill(0))),
		stopped("W25", "table-copy-chain", tables(I32Const(0), I32Const(0), I32Const(1<<16), TableCopy(0, 1))),
		stopped("W26", "copy-chain-over-itself", chain(over)),
		stopped("W26", "copy-chain-back-over-itself", chain(I32Const(1), I32Const(0), I32Const(pages<<16-1), MemoryCopy)),
		runs("W26", "copy-of-1-GB", toolabi.Trapped, "out of bounds memory access", func(t *tool) {
			t.invoke(0, I32Const(0), I32Const(1), I32Const(1<<30), MemoryCopy)
		}),
		runs("W26", "copy-of-4-GB", toolabi.Trapped, "out of bounds memory access", func(t *tool) {
			t.invoke(0, I32Const(-1), I32Const(-1), I32Const(-1), MemoryCopy)
		}),
		runs("W26", "fill-of-4-GB", toolabi.Trapped, "out of bounds memory access", func(t *tool) {
			t.invoke(0, I32Const(16), I32Const(0), I32Const(-16), MemoryFill)
		}),
		runs("W26", "fill-of-nothing-behind-the-end", toolabi.Trapped, "out of bounds memory access", func(t *tool) {
			t.invoke(0, I32Const(2<<16+1), I32Const(0), I32Const(0), MemoryFill)
		}),
		harmless("W26", "fill-of-nothing-at-the-end", func(t *tool) {
			t.invoke(0, I32Const(2<<16), I32Const(0), I32Const(0), MemoryFill)
		}),
		runs("W26", "init-behind-its-segment", toolabi.Trapped, "out of bounds memory access", func(t *tool) {
			t.PassiveData([]byte("abc"))
			t.invoke(0, I32Const(0), I32Const(2), I32Const(2), MemoryInit(0))
		}),
		runs("W26", "init-of-a-dropped-segment", toolabi.Trapped, "out of bounds memory access", func(t *tool) {
			t.PassiveData([]byte("abc"))
			t.invoke(0, DataDrop(0), I32Const(0), I32Const(0), I32Const(1), MemoryInit(0))
		}),
		runs("W26", "table-init-behind-its-segment", toolabi.Trapped, "table access", func(t *tool) {
			f := t.Func(nil, nil, 0)
			t.Table(0, 1)
			t.PassiveElements(f)
			t.invoke(0, I32Const(0), I32Const(1), I32Const(1), TableInit(0))
		}),
	}
}
