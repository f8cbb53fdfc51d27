package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// tampering reaches for what the host builds into a module: each of these is invalid as it is written, and would be valid,
// and free of its bounds, if what the host adds could be named.
func tampering() []Case {
	invalid := func(name string, change func(t *tool)) Case {
		return refused("own-bounds", name, sandbox.Malformed, "", made(change))
	}
	plenty := I64Const(0x7fffffff_7fffffff)
	self := func(t *tool) uint32 { return t.result + 1 }
	return []Case{
		invalid("global-behind-the-last-set", func(t *tool) { t.invoke(0, plenty, GlobalSet(0), forever) }),
		invalid("global-behind-the-last-read", func(t *tool) { t.invoke(0, GlobalGet(0), Drop) }),
		invalid("second-global-set", func(t *tool) { t.invoke(0, plenty, GlobalSet(t.Global(0)+1), forever) }),
		invalid("global-behind-the-last-exported", func(t *tool) { t.ExportRaw("gauge", 3, 0) }),
		invalid("global-behind-the-last-as-offset", func(t *tool) {
			t.Section(11, slices.Concat([]byte{1, 0}, GlobalGet(0), End, []byte{0}))
			t.finished, t.pages = true, 0
			t.Memory(1)
			t.ExportRaw(toolabi.ExportMemory, 2, 0)
			t.Export(toolabi.ExportMarker, t.Func(nil, nil, 0))
			t.Export(toolabi.ExportInvoke, t.Func(i32, i32, 0, I32Const(0)))
		}),
		invalid("local-behind-the-last", func(t *tool) {
			// The scratch local of what measures the length.
			t.PassiveData([]byte("abc"))
			t.invoke(0, I32Const(0), I32Const(0), I32Const(1), MemoryInit(0), LocalGet(1), Drop)
		}),
		invalid("branch-out-of-the-function", func(t *tool) {
			// Around the block that gives back what the call accounts for.
			f := t.Func(nil, nil, 0)
			t.Func(nil, nil, 0, Call(f), Br(1))
		}),
		invalid("branch-if-out-of-the-function", func(t *tool) {
			f := t.Func(nil, nil, 0)
			t.Func(nil, nil, 0, Call(f), I32Const(1), BrIf(1))
		}),
		invalid("branch-table-out-of-the-function", func(t *tool) {
			f := t.Func(nil, nil, 0)
			t.Func(nil, nil, 0, Call(f), I32Const(1), BrTable(0, 1))
		}),
		invalid("function-behind-the-last-called", func(t *tool) {
			// The function that fills memory in pieces has its type.
			t.invoke(0, I32Const(0), I32Const(0), LocalGet(0), MemoryFill, I32Const(0), I32Const(0), I32Const(0), Call(self(t)+2))
		}),
		invalid("function-behind-the-last-referred-to", func(t *tool) {
			t.invoke(0, I32Const(0), I32Const(0), LocalGet(0), MemoryFill, []byte{0xd2}, U32(self(t)+2), Drop)
		}),
		invalid("function-behind-the-last-in-a-table", func(t *tool) {
			t.Table(0, 1)
			t.Elements(0, self(t)+2)
			t.invoke(0, I32Const(0), I32Const(0), LocalGet(0), MemoryFill)
		}),
		invalid("type-behind-the-last-called", func(t *tool) {
			// The types of the tool are six, and the one behind them that of the host's own function.
			t.Table(0, 1)
			t.invoke(0, I64Const(0), I32Const(0), CallIndirect(uint32(types(t))), Drop)
		}),
		invalid("type-behind-the-last-of-a-block", func(t *tool) {
			t.invoke(0, I64Const(0), BlockOf(uint32(types(t))), End, Drop)
		}),
		refused("own-bounds", "reserved-export", sandbox.ABI, "host's own", made(func(t *tool) { t.ExportRaw("wrun:gauge", 3, t.Global(0)) })),
		refused("own-bounds", "reserved-import", sandbox.Import, "wrun:host", made(func(t *tool) { t.Import("wrun:host", "refill", i64, i64) })),
		harmless("own-bounds", "a-global-of-its-own", func(t *tool) { t.invoke(0, I32Const(5), GlobalSet(t.Global(0))) }),
	}
}

// types returns how many types a tool has once it is finished.
func types(t *tool) int {
	t.Type(i32, i32)
	return int(t.Type(nil, nil)) + 1
}
