package hostile

import (
	"slices"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// memories want more memory, or longer tables.
func memories() []Case {
	refusal := slices.Concat(I32Const(-1), I32Eq, I32Eqz, If, Unreachable, End)
	untilRefused := slices.Concat(Loop, I32Const(1), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, BrIf(0), End)
	tables := func(t *tool) {
		for range 4 {
			t.Table(0, 1)
		}
	}
	growTables := func(by int32) (b []byte) {
		for i := range uint32(4) {
			b = append(b, slices.Concat(RefNull, I32Const(by), TableGrow(i), Drop)...)
		}
		return b
	}
	references := stopped("references", "references-for-ever", func(t *tool) {
		t.manifest.Limits.TimeoutMS = 3000
		t.Table(0, 1)
		f := t.Func(nil, nil, 0)
		t.Elements(0, f)
		t.invoke(0, Loop, Times(1000, I32Const(0), RefFunc(f), TableSet(0)), Br(0), End)
	})
	references.Timeout = 3 * time.Second // what it takes, it takes little by little
	return []Case{
		harmless("W27", "grow-is-refused", func(t *tool) { t.invoke(0, I32Const(65_535), MemoryGrow, refusal) }),
		harmless("W27", "grow-by-4-billion-pages-is-refused", func(t *tool) { t.invoke(0, I32Const(-1), MemoryGrow, refusal) }),
		runs("W27", "grow-is-refused-and-it-gives-up", toolabi.LimitMemory, "", func(t *tool) {
			t.invoke(0, I32Const(65_000), MemoryGrow, Drop, Unreachable)
		}),
		runs("W28", "grow-page-by-page", toolabi.LimitMemory, "", func(t *tool) { t.invoke(0, untilRefused, Unreachable) }),
		harmless("W28", "grow-page-by-page-and-answer", func(t *tool) { t.invoke(0, untilRefused) }),
		stopped("W28", "grow-for-ever", func(t *tool) { t.invoke(0, Loop, I32Const(1), MemoryGrow, Drop, Br(0), End) }),
		stopped("W28", "grow-by-nothing-for-ever", func(t *tool) { t.invoke(0, Loop, I32Const(0), MemoryGrow, Drop, Br(0), End) }),
		runs("W28", "grow-while-it-starts", toolabi.LimitMemory, "", func(t *tool) { t.initialize(untilRefused, Unreachable) }),
		stopped("W32", "tables-grow-for-ever", func(t *tool) {
			tables(t)
			t.invoke(0, Loop, growTables(1000), Br(0), End)
		}),
		stopped("W32", "tables-grow-one-by-one-for-ever", func(t *tool) {
			tables(t)
			t.invoke(0, Loop, growTables(1), Br(0), End)
		}),
		references,
		harmless("W32", "table-growth-is-refused", func(t *tool) {
			t.Table(0, 1)
			t.invoke(0, RefNull, I32Const(1<<28), TableGrow(0), refusal, RefNull, I32Const(-1), TableGrow(0), refusal)
		}),
	}
}

// recursion never comes back.
func recursion() []Case {
	overflow := func(name string, change func(t *tool)) Case {
		return runs("W33", name, toolabi.Trapped, "stack overflow", change)
	}
	// self is the index that the next function gets.
	self := func(t *tool) uint32 { return t.result + 1 }
	big := overflow("recursion-with-40000-locals", func(t *tool) {
		var set, use []byte
		for i := range uint32(10_000) {
			set = append(set, slices.Concat(I32Const(int32(4*i)), I32Load, LocalSet(i))...)
			use = append(use, slices.Concat(I32Const(int32(4*i)), LocalGet(i), I32Store)...)
		}
		f := t.Func(nil, nil, 40_000, set, Call(self(t)), use)
		t.invoke(0, Call(f))
	})
	big.Row, big.Compile = "W34", true
	return []Case{
		overflow("recursion", func(t *tool) { t.invoke(0, Call(t.Func(nil, nil, 0, Call(self(t))))) }),
		overflow("recursion-while-it-starts", func(t *tool) { t.initialize(Call(self(t))) }),
		overflow("recursion-of-invoke", func(t *tool) { t.finish(t.Func(i32, i32, 0, LocalGet(0), Call(self(t)))) }),
		overflow("recursion-through-a-table", func(t *tool) {
			typ := t.Type(nil, nil)
			t.Table(0, 1)
			f := t.Func(nil, nil, 0, I32Const(0), CallIndirect(typ))
			t.Elements(0, f)
			t.invoke(0, Call(f))
		}),
		overflow("recursion-of-two", func(t *tool) {
			t.Func(nil, nil, 0, Call(self(t)+1))
			t.invoke(0, Call(t.Func(nil, nil, 0, Call(self(t)))))
		}),
		overflow("recursion-with-100-parameters", func(t *tool) {
			params := slices.Repeat(i32, 100)
			var pass []byte
			for i := range uint32(100) {
				pass = append(pass, LocalGet(i)...)
			}
			f := t.Func(params, params, 0, pass, Call(self(t)))
			t.invoke(0, Times(100, I32Const(1)), Call(f), Times(100, Drop))
		}),
		overflow("recursion-with-an-answer-at-each-level", func(t *tool) {
			f := t.Func(nil, nil, 0, I32Const(0), I32Const(0), Call(t.write), Drop, Call(self(t)))
			t.invoke(0, Call(f))
		}),
		big,
	}
}
