package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// pointers are buffers that do not lie in memory, and some that do though they look strange. ABI 1 has no alloc: the host
// writes and reads only where the guest says in a call of its own, so that these take the place of an alloc that lies.
func pointers() []Case {
	const end = 2 << 16
	misuse := func(row, name, says string, body func(t *tool) []byte) Case {
		return runs(row, name, toolabi.Protocol, says, func(t *tool) { t.invoke(0, body(t)) })
	}
	read := func(ptr, n, off int32) func(t *tool) []byte {
		return func(t *tool) []byte {
			return slices.Concat(I32Const(ptr), I32Const(n), I32Const(off), Call(t.read), Drop)
		}
	}
	result := func(ptr, n, off int32) func(t *tool) []byte {
		return func(t *tool) []byte {
			return slices.Concat(I32Const(ptr), I32Const(n), I32Const(off), Call(t.result), Drop)
		}
	}
	write := func(ptr, n int32) func(t *tool) []byte {
		return func(t *tool) []byte { return slices.Concat(I32Const(ptr), I32Const(n), Call(t.write), Drop) }
	}
	fine := func(row, name string, body func(t *tool) []byte) Case {
		return harmless(row, name, func(t *tool) { t.invoke(0, body(t)) })
	}
	return []Case{
		misuse("W38", "read-to-the-last-16-bytes-there-could-be", "input_read", read(-16, 32, 0)),
		misuse("W38", "read-across-the-end", "input_read", read(end-1, 2, 0)),
		misuse("W38", "read-behind-the-end", "input_read", read(end+1, 0, 0)),
		misuse("W38", "read-of-4-GB", "input_read", read(0, -1, 0)),
		misuse("W38", "read-of-2-GB", "input_read", read(0, -1<<31, 0)),
		misuse("W38", "read-around-the-end-of-32-bits", "input_read", read(-1, -1, -1)),
		fine("W38", "read-to-nowhere", read(0, 0, 0)),
		fine("W38", "read-to-the-end", read(end, 0, 0)),
		fine("W38", "read-unaligned", read(3, 7, 0)),
		fine("W38", "read-from-behind-the-input", read(0, 8, -1)),
		fine("W38", "read-twice-to-one-place", func(t *tool) []byte { return Times(2, read(8, 8, 1)(t)) }),
		misuse("W39", "write-across-the-end", "output_write", write(end-1, 2)),
		misuse("W39", "write-around-the-end-of-32-bits", "output_write", write(-8, 16)),
		misuse("W39", "write-of-4-GB", "output_write", write(0, -1)),
		misuse("W39", "write-of-2-GB", "output_write", write(0, -1<<31)),
		misuse("W39", "write-of-all-that-a-length-says", "output_write", write(1, 0x7fffffff)),
		fine("W39", "write-of-nothing", write(0, 0)),
		runs("W39", "write-of-rubbish", toolabi.Protocol, "reply", func(t *tool) { t.invoke(0, write(0, 16)(t)) }),
		runs("W39", "no-reply", toolabi.Protocol, "reply", func(t *tool) { t.finish(t.Func(i32, i32, 0, I32Const(0))) }),
		harmless("W40", "reply-overwritten-after-it-was-written", func(t *tool) {
			const at = 100
			t.Data(at, reply)
			t.finish(t.Func(i32, i32, 0, write(at, 3)(t), I32Const(at), I32Const(0xff), I32Const(3), MemoryFill,
				write(at+3, 2)(t), I32Const(0)))
		}),
		fine("W41", "grow-between-read-and-write", func(t *tool) []byte {
			return slices.Concat(read(0, 8, 0)(t), I32Const(10), MemoryGrow, Drop, read(end+8, 8, 0)(t))
		}),
		misuse("W43", "result-across-the-end", "result_read", result(end-1, 2, 0)),
		misuse("W43", "result-of-4-GB", "result_read", result(0, -1, 0)),
		fine("W43", "result-of-nobody", result(0, 16, 0)),
		fine("W43", "result-over-the-input", func(t *tool) []byte { return slices.Concat(read(0, 64, 0)(t), result(0, 64, 0)(t)) }),
	}
}
