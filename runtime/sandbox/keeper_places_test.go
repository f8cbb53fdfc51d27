package sandbox_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// handmade returns a keeper for each place.
func handmade(t testing.TB) (list []keeper) {
	t.Helper()
	for _, p := range slices.Concat(globals(), memories(), tables(), worldly()) {
		list = append(list, p.keeper(t))
	}
	return list
}

// placeHidden are the places where nothing can be left, as far as is known, or nothing that the same call sees.
var placeHidden = []string{"fd_renumber", "fd_fdstat_set_flags", "depth of calls"}

// globals are places for each type of a mutable global.
func globals() (list []place) {
	for _, typ := range []struct {
		name        string
		typ         byte
		first, left []byte
		store       []byte
	}{
		{"i32", I32, I32Const(1), I32Const(-42), I32Store},
		{"i64", I64, I64Const(1), I64Const(-1 << 40), I64Store},
		{"f32", F32, F32Bits(math.Float32bits(1.5)), F32Bits(0x7fa0_0001), F32Store},
		{"f64", F64, F64Bits(math.Float64bits(1.5)), F64Bits(0xfff4_0000_0000_0001), F64Store},
		{"v128, lower half", V128, V128Bits([16]byte{1, 15: 7}), V128Bits([16]byte{42, 15: 7}), V128Store},
		{"v128, upper half", V128, V128Bits([16]byte{1, 15: 7}), V128Bits([16]byte{1, 15: 42}), V128Store},
	} {
		list = append(list, place{"global of " + typ.name, func(p *placeGuest) (leave, look []byte) {
			g := p.GlobalOf(typ.typ, typ.first)
			return slices.Concat(typ.left, GlobalSet(g)), see(0, GlobalGet(g), typ.store)
		}})
	}
	return append(list,
		place{"global that is exported", func(p *placeGuest) (leave, look []byte) {
			g := p.Global(1)
			p.ExportRaw("counter", 3, g)
			return slices.Concat(I32Const(42), GlobalSet(g)), seeI32(0, GlobalGet(g))
		}},
		place{"global of funcref", func(p *placeGuest) (leave, look []byte) {
			f := p.number(1)
			g := p.GlobalOf(FuncRef, RefNull)
			return slices.Concat(RefFunc(f), GlobalSet(g)), seeI32(0, GlobalGet(g), RefIsNull)
		}},
		place{"many globals", func(p *placeGuest) (leave, look []byte) {
			for n := range int32(16) {
				g := p.Global(n)
				leave = slices.Concat(leave, I32Const(42), GlobalSet(g))
				look = append(look, seeI32(4*n, GlobalGet(g))...)
			}
			return leave, look
		}})
}

// memories are places in the linear memory, and its size.
func memories() []place {
	return []place{
		{"data", func(p *placeGuest) (leave, look []byte) {
			p.Data(free, []byte("as built"))
			return put(free, 42), see(0, slices.Concat(I32Const(free), I64Load), I64Store)
		}},
		{"a byte of each system page", func(p *placeGuest) (leave, look []byte) {
			at := slices.Concat(LocalGet(counter), I32Const(4096), I32Mul, I32Const(17), I32Add)
			n := int32(placeEnd/4096 - 1)
			leave = p.repeat(n, at, I32Const(42), I32Store8)
			look = p.repeat(n, LocalGet(sum), at, I32Load8U, I32Add, LocalSet(sum))
			return leave, slices.Concat(look, seeI32(0, LocalGet(sum)))
		}},
		{"first and last bytes", func(p *placeGuest) (leave, look []byte) {
			load := func(at int32) []byte { return slices.Concat(I32Const(at), I32Load) }
			return slices.Concat(put(0, 42), put(placeEnd-4, 42)), slices.Concat(seeI32(0, load(0)), seeI32(4, load(placeEnd-4)))
		}},
		{"all of the upper half", func(p *placeGuest) (leave, look []byte) {
			leave = slices.Concat(I32Const(placeEnd/2), I32Const(42), I32Const(placeEnd/2), MemoryFill)
			look = p.repeat(placeEnd/8, LocalGet(sum), LocalGet(counter), I32Const(4), I32Mul, I32Const(placeEnd/2-4), I32Add, I32Load, I32Add, LocalSet(sum))
			return leave, slices.Concat(look, seeI32(0, LocalGet(sum)))
		}},
		{"size", func(p *placeGuest) (leave, look []byte) {
			return slices.Concat(I32Const(3), MemoryGrow, Drop), seeI32(0, MemorySize)
		}},
		{"what it grew by", func(p *placeGuest) (leave, look []byte) {
			grow := slices.Concat(I32Const(16), MemoryGrow)
			last := slices.Concat(MemorySize, I32Const(65536), I32Mul, I32Const(4), I32Sub)
			leave = slices.Concat(grow, Drop, put(placeEnd, 42), last, I32Const(42), I32Store)
			look = slices.Concat(seeI32(0, grow), seeI32(4, I32Const(placeEnd), I32Load), seeI32(8, last, I32Load), seeI32(12, I32Const(placeEnd+65536*15), I32Load))
			return leave, look
		}},
		{"a limit that was reached", func(p *placeGuest) (leave, look []byte) {
			return slices.Concat(I32Const(50_000), MemoryGrow, Drop), nil
		}},
		{"what the host wrote", func(p *placeGuest) (leave, look []byte) {
			random := p.Import(toolabi.WASIModule, "random_get", i32s, i32)
			leave = slices.Concat(callWith(p.input, placeEnd/2+100, 20, 0), Drop, callWith(random, placeEnd-100, 20), Drop,
				callWith(p.host[toolabi.FuncLog], logLine, 6), Drop, callWith(p.result, placeEnd/2-10, 20, 0), Drop)
			for i, at := range []int32{placeEnd/2 + 100, placeEnd - 100, placeEnd/2 - 10, placeEnd / 2} {
				look = append(look, seeI32(int32(4*i), I32Const(at), I32Load)...)
			}
			return leave, look
		}},
		{"what _initialize made", func(p *placeGuest) (leave, look []byte) {
			random := p.Import(toolabi.WASIModule, "random_get", i32s, i32)
			g := p.Global(1)
			count := slices.Concat(I32Const(free), I32Const(free), I32Load, I32Const(1), I32Add, I32Store)
			p.initialize = [][]byte{count, put(free+4, 7), I32Const(7), GlobalSet(g), callWith(random, free+8, 8), Drop}
			leave = slices.Concat(count, put(free+4, 42), put(free+8, 42), I32Const(42), GlobalSet(g))
			look = slices.Concat(I32Const(seen), I32Const(free), I32Const(16), MemoryCopy, seeI32(16, GlobalGet(g)))
			return leave, look
		}},
	}
}
