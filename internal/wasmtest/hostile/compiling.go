package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
)

// compiling are modules within the caps that are much work for a compiler, in proportion to their size and out of it.
func compiling() []Case {
	// modest is one that has to be compiled, and bomb one that may be refused.
	modest := func(row, name string, change func(t *tool)) Case { return harmless(row, name, change) }
	bomb := func(row, name string, change func(t *tool)) Case {
		c := harmless(row, name, change)
		c.Compile = true
		return c
	}
	return []Case{
		modest("W12", "functions-49000", func(t *tool) {
			for range 49_000 {
				t.Func(nil, nil, 0)
			}
		}),
		bomb("W13", "locals-167-times-50000", func(t *tool) {
			for range 160 {
				t.Func(nil, nil, 50_000)
			}
		}),
		bomb("W15", "targets-65000-into-3000-blocks", func(t *tool) { tableOf(t, 3000, 65_000, 0) }),
		bomb("W15", "targets-5400-into-3000-blocks-with-1000-locals", func(t *tool) { tableOf(t, 3000, 5400, 1000) }),
		bomb("W15", "targets-65000-each-with-10-values", func(t *tool) { valued(t, 10, 65_000) }),
		bomb("W16", "nested-10000", func(t *tool) { t.Func(nil, nil, 0, Times(9999, Block), Times(9999, End)) }),
		bomb("W16", "loops-1000-deep-with-1000-locals", func(t *tool) { nestedLoops(t, 1000, 1000) }),
		bomb("W17", "ifs-1500-with-200-locals", func(t *tool) { nestedIfs(t, 1500, 200) }),
		bomb("W17", "ifs-10000-deep-with-100-locals", func(t *tool) { nestedIfs(t, 9999, 100) }),
		bomb("W17", "locals-1000-live-across-10000-ifs", func(t *tool) { liveAcross(t, 1000, 10_000) }),
		bomb("W17", "blocks-10000-of-1000-values", func(t *tool) { typedBlocks(t, 10_000, 1000) }),
		bomb("W18", "function-of-2-MB-of-stores", func(t *tool) {
			t.Func(i32, nil, 0, Times(290_000, LocalGet(0), LocalGet(0), I32Store))
		}),
		bomb("W18", "function-of-2-MB-of-fills", func(t *tool) {
			t.Func(i32, nil, 0, Times(200_000, LocalGet(0), LocalGet(0), LocalGet(0), MemoryFill))
		}),
		bomb("W18", "function-of-2-MB-of-back-branches", func(t *tool) {
			t.Func(i32, nil, 0, Loop, Times(500_000, LocalGet(0), BrIf(0)), End)
		}),
		bomb("W18", "function-of-2-MB-of-selects", func(t *tool) {
			t.Func(i32s, nil, 0, LocalGet(0), Times(400_000, LocalGet(1), LocalGet(0), Select), Drop)
		}),
		bomb("W18", "function-of-2-MB-of-vectors", func(t *tool) {
			t.FuncRaw(nil, nil, slices.Concat([]byte{1, 1, V128}, LocalGet(0), Times(400_000, LocalGet(0), VectorOp(0xd5)), Drop, End))
		}),
		bomb("W18", "calls-100000-of-100-values", func(t *tool) { valuedCalls(t, 100_000, 100) }),
		bomb("W18", "types-9000-of-functions-40000", manyTypes),
	}
}

// each writes code for n numbers.
func each(n int, code func(i uint32) []byte) (b []byte) {
	for i := range uint32(n) {
		b = append(b, code(i)...)
	}
	return b
}

// keep is code that stores locals 1 to n, so that what they hold is needed.
func keep(n int) []byte {
	return each(n, func(i uint32) []byte { return slices.Concat(I32Const(0), LocalGet(i+1), I32Store) })
}

// tableOf branches by a table into nested blocks, behind each of which a local changes.
func tableOf(t *tool, depth, targets, locals int) {
	to := make([]uint32, targets)
	for i := range to {
		to[i] = uint32(i % depth)
	}
	body := slices.Concat(Times(depth, Block), LocalGet(0), BrTable(to...))
	for i := range depth {
		body = append(body, End...)
		if locals > 0 {
			body = append(body, slices.Concat(I32Const(int32(i)), LocalSet(uint32(i%locals)+1))...)
		}
	}
	t.Func(i32, nil, uint32(locals), body, keep(locals))
}

// valued is a table of branches each of which takes values along.
func valued(t *tool, values, targets int) {
	many := slices.Repeat(i32, values)
	typ := t.Type(many, many)
	to := make([]uint32, targets)
	for i := range to {
		to[i] = uint32(i % 5)
	}
	t.Func(many, many, 0, each(values, LocalGet), Times(5, BlockOf(typ)), LocalGet(0), BrTable(to...), Times(5, End))
}

// nestedLoops read locals in the innermost of many loops.
func nestedLoops(t *tool, depth, locals int) {
	t.Func(i32, nil, uint32(locals), Times(depth, Loop), each(locals, func(i uint32) []byte {
		return slices.Concat(LocalGet(i+1), Drop)
	}), Times(depth, LocalGet(0), BrIf(0), End))
}

// nestedIfs set a local in each of many ifs.
func nestedIfs(t *tool, depth, locals int) {
	t.Func(i32, nil, uint32(locals), each(depth, func(i uint32) []byte {
		return slices.Concat(LocalGet(0), If, I32Const(int32(i)), LocalSet(i%uint32(locals)+1))
	}), Times(depth, End), keep(locals))
}

// liveAcross keeps what locals hold over many branches.
func liveAcross(t *tool, locals, ifs int) {
	t.Func(i32, nil, uint32(locals), each(locals, func(i uint32) []byte {
		return slices.Concat(I32Const(int32(4*i)), I32Load, LocalSet(i+1))
	}), Times(ifs, LocalGet(0), If, End), keep(locals))
}

// typedBlocks are blocks that take and leave values.
func typedBlocks(t *tool, blocks, values int) {
	many := slices.Repeat(i32, values)
	typ := t.Type(many, many)
	t.Func(many, many, 0, each(values, LocalGet), Times(blocks, BlockOf(typ), LocalGet(0), BrIf(0), End))
}

// valuedCalls are calls that take and return values.
func valuedCalls(t *tool, calls, values int) {
	many := slices.Repeat(i32, values)
	f := t.Func(many, many, 0, each(values, LocalGet))
	t.Func(many, many, 0, each(values, LocalGet), Times(calls, Call(f)))
}

// manyTypes are functions of many types, so that looking for a type takes long where it is looked for one by one.
func manyTypes(t *tool) {
	f := t.Func(nil, nil, 0)
	for i := range 9000 {
		params := make([]byte, 14)
		for bit := range params {
			params[bit] = I32 - byte(i>>bit&1)
		}
		t.Type(params, nil)
	}
	for range 40_000 {
		t.Func(nil, i32s, 0, Call(f), I32Const(0), I32Const(0))
	}
}
