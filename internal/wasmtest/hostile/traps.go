package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// traps stop by themselves.
func traps() []Case {
	trap := func(name, says string, body ...[]byte) Case {
		return runs("W52", name, toolabi.Trapped, says, func(t *tool) { t.invoke(0, body...) })
	}
	table := func(name, says string, code func(t *tool) []byte) Case {
		return runs("W52", name, toolabi.Trapped, says, func(t *tool) {
			t.Table(0, 4)
			t.Elements(0, t.Func(i64, nil, 0))
			t.invoke(0, code(t))
		})
	}
	call := func(element int32) func(t *tool) []byte {
		return func(t *tool) []byte { return slices.Concat(I32Const(element), CallIndirect(t.Type(nil, nil))) }
	}
	f32 := func(b ...byte) []byte { return append([]byte{0x43}, b...) }
	output := func(name, says string, b []byte) Case {
		return runs("W53", name, toolabi.Protocol, says, func(t *tool) {
			t.Data(0, b)
			t.finish(t.Func(i32, i32, 0, I32Const(0), I32Const(int32(len(b))), Call(t.write), Drop, I32Const(0)))
		})
	}
	return []Case{
		trap("unreachable", "unreachable", Unreachable),
		trap("divide-by-zero", "integer divide by zero", I32Const(1), I32Const(0), I32DivS, Drop),
		trap("divide-overflow", "integer overflow", I32Const(-1<<31), I32Const(-1), I32DivS, Drop),
		trap("convert-NaN", "invalid conversion to integer", f32(0, 0, 0xc0, 0x7f), []byte{0xa8}, Drop),
		trap("convert-too-large", "integer overflow", f32(0, 0, 0x80, 0x7f), []byte{0xa8}, Drop),
		trap("load-behind-the-end", "out of bounds memory access", I32Const(-4), I32Load, Drop),
		trap("store-behind-the-end", "out of bounds memory access", I32Const(2<<16-3), I32Const(0), I32Store),
		trap("load-at-the-largest-offset", "out of bounds memory access", I32Const(-1), []byte{0x28, 2, 0xff, 0xff, 0xff, 0xff, 0x0f}, Drop),
		table("call-of-another-type", "indirect call type mismatch", call(0)),
		table("call-of-nobody", "table access", call(3)),
		table("call-behind-the-table", "table access", call(4)),
		table("call-of-element-minus-1", "table access", call(-1)),
		runs("W52", "data-behind-memory", toolabi.Trapped, "", func(t *tool) { t.Data(2<<16-1, []byte("ab")) }),
		harmless("W52", "elements-behind-the-table", func(t *tool) { // wazero leaves them out
			t.Table(0, 1)
			t.Elements(1, t.result)
		}),
		runs("W52", "exit", toolabi.Exited, "status 3", func(t *tool) {
			exit := t.Import(toolabi.WASIModule, "proc_exit", i32, nil)
			t.invoke(0, I32Const(3), Call(exit))
		}),
		runs("W52", "exit-while-it-starts", toolabi.Exited, "status 0", func(t *tool) {
			exit := t.Import(toolabi.WASIModule, "proc_exit", i32, nil)
			t.initialize(I32Const(0), Call(exit))
		}),
		output("reply-with-NaN", "reply", []byte{0xa1, 1, 0xf9, 0x7e, 0}),
		output("output-is-NaN", "not JSON", []byte{0xa1, 1, 0x43, 'N', 'a', 'N'}),
		output("output-is-a-number-without-end", "not JSON", []byte{0xa1, 1, 0x42, '1', 'e'}),
	}
}
