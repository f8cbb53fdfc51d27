package sandbox_test

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
)

// tables are places in tables, and in the segments that fill tables and memory: what is done to a table of four functions that
// return 1, 2, 1 and 2, and what else is looked at than its first element and its size.
func tables() (list []place) {
	for _, tc := range []struct {
		name        string
		leave, more func(two uint32) []byte
	}{
		{"table.set", func(two uint32) []byte { return slices.Concat(I32Const(0), RefFunc(two), TableSet(0)) }, nil},
		{"table.set to null", func(uint32) []byte { return slices.Concat(I32Const(0), RefNull, TableSet(0)) }, nil},
		{"table.fill", func(two uint32) []byte { return slices.Concat(I32Const(0), RefFunc(two), I32Const(4), TableFill(0)) }, nil},
		{"table.copy", func(uint32) []byte { return slices.Concat(I32Const(0), I32Const(1), I32Const(3), TableCopy(0, 0)) }, nil},
		{"table.init", func(uint32) []byte { return slices.Concat(I32Const(0), I32Const(0), I32Const(1), TableInit(1)) }, nil},
		{"table.grow", func(two uint32) []byte { return slices.Concat(RefFunc(two), I32Const(5), TableGrow(0), Drop) }, nil},
		{"elem.drop", func(uint32) []byte { return ElemDrop(1) }, func(uint32) []byte {
			return slices.Concat(I32Const(3), I32Const(0), I32Const(1), TableInit(1))
		}},
		{"data.drop", func(uint32) []byte { return DataDrop(0) }, func(uint32) []byte {
			return slices.Concat(I32Const(seen+8), I32Const(0), I32Const(4), MemoryInit(0))
		}},
	} {
		list = append(list, place{tc.name, func(p *placeGuest) (leave, look []byte) {
			one, two := p.number(1), p.number(2)
			p.Table(0, 4)
			p.Elements(0, one, two, one, two)
			p.PassiveElements(two)
			p.PassiveData([]byte("data"))
			look = slices.Concat(seeI32(0, I32Const(0), CallIndirect(p.Type(nil, i32))), seeI32(4, TableSize(0)))
			if tc.more != nil {
				look = append(look, tc.more(two)...)
			}
			return tc.leave(two), look
		}})
	}
	return list
}
