package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// sizes are modules with too much of something, and with as much as is allowed.
func sizes() []Case {
	big := sandbox.TooBig
	body := func(locals []byte, code func() []byte) func() []byte {
		return made(func(t *tool) { t.FuncRaw(nil, nil, slices.Concat(locals, code(), End)) })
	}
	nothing := func() []byte { return nil }
	targets := func(n int) func() []byte {
		return func() []byte { return slices.Concat(Block, I32Const(0), BrTable(make([]uint32, n)...), End) }
	}
	most := U32(0xffffffff)
	return []Case{
		refused("W12", "functions-1000000", big, "1000000 functions",
			func() []byte { return sections(unit, Section(3, append(U32(1_000_000), make([]byte, 1_000_000)...)))() }),
		refused("W13", "locals-6000-times-50000", big, "locals of all functions", made(func(t *tool) {
			for range 6000 {
				t.Func(nil, nil, 50_000)
			}
		})),
		refused("W14", "locals-4294967295", big, "4294967295 locals", body(slices.Concat([]byte{1}, most, i32), nothing)),
		refused("W14", "locals-over-32-bits", big, "locals of one function",
			body(slices.Concat([]byte{2}, most, i32, []byte{2}, i32), nothing)),
		refused("W15", "targets-1000000", big, "1000011 bytes of one function", body([]byte{0}, targets(1_000_000))),
		refused("W15", "targets-400000", big, "400000 targets of br_table", body([]byte{0}, targets(400_000))),
		refused("W16", "nested-100000", big, "blocks in each other", body([]byte{0}, func() []byte { return slices.Concat(Times(100_000, Block), Times(100_000, End)) })),
		refused("W18", "function-of-10-MB", big, "bytes of one function", body([]byte{0}, func() []byte { return Times(10<<20, []byte{1}) })),
		runs("W29", "memory-of-4-GB", toolabi.LimitMemory, "begins with", func(t *tool) { t.pages = 65_536 }),
		refused("W29", "memory-of-65537-pages", sandbox.Malformed, "over 65536 pages", made(func(t *tool) { t.pages = 65_537 })),
		refused("W30", "no-memory", sandbox.ABI, "0 memories", made(func(t *tool) {
			t.finished, t.pages = true, 0
			t.Export(toolabi.ExportMarker, t.Func(nil, nil, 0))
		})),
		refused("W30", "two-memories", sandbox.ABI, "2 memories", made(func(t *tool) { t.Memory(1) })),
		refused("W30", "memory-imported", sandbox.Import, "imports a memory", made(func(t *tool) { t.ImportRaw("env", "memory", 2, 0, 1) })),
		refused("W30", "memory-shared", sandbox.Malformed, "threads", sections(Section(5, []byte{1, 3, 1, 2}))),
		refused("W31", "table-of-134000000", big, "134000000 elements", made(func(t *tool) { t.Table(0, 134_000_000) })),
		refused("W31", "tables-20", big, "20 tables", made(func(t *tool) {
			for range 20 {
				t.Table(0, 10_000_000)
			}
		})),
		refused("W31", "tables-5", big, "5 tables", made(func(t *tool) {
			for range 5 {
				t.Table(0, 0)
			}
		})),
		harmless("W31", "tables-as-large-as-allowed", func(t *tool) {
			for range 4 {
				t.Table(0, 1<<16)
			}
		}),
	}
}
