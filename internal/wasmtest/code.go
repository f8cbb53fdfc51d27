package wasmtest

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Instructions without operands.
var (
	Unreachable = []byte{0x00}
	End         = []byte{0x0b}
	Else        = []byte{0x05}
	Return      = []byte{0x0f}
	Drop        = []byte{0x1a}
	Select      = []byte{0x1b}
	I32Eqz      = []byte{0x45}
	I32Eq       = []byte{0x46}
	I32LtS      = []byte{0x48}
	I32Add      = []byte{0x6a}
	I32Sub      = []byte{0x6b}
	I32Mul      = []byte{0x6c}
	I32DivS     = []byte{0x6d}
	I32And      = []byte{0x71}
	I32WrapI64  = []byte{0xa7}
	MemorySize  = []byte{0x3f, 0}
	MemoryGrow  = []byte{0x40, 0}
	I32Store    = []byte{0x36, 2, 0}
	I32Store8   = []byte{0x3a, 0, 0}
	I64Store    = []byte{0x37, 3, 0}
	I32Load     = []byte{0x28, 2, 0}
	I32Load8U   = []byte{0x2d, 0, 0}
	I64Load     = []byte{0x29, 3, 0}
	F32Store    = []byte{0x38, 2, 0}
	F64Store    = []byte{0x39, 3, 0}
	V128Store   = []byte{0xfd, 11, 4, 0}
	RefIsNull   = []byte{0xd1}
	MemoryCopy  = []byte{0xfc, 10, 0, 0}
	MemoryFill  = []byte{0xfc, 11, 0}
	Block       = []byte{0x02, 0x40}
	Loop        = []byte{0x03, 0x40}
	If          = []byte{0x04, 0x40}
)

// BlockOf is a block that takes and leaves values, as the type of this index says.
func BlockOf(typ uint32) []byte { return append([]byte{0x02}, S64(int64(typ))...) }

// LoopOf is BlockOf for a loop.
func LoopOf(typ uint32) []byte { return append([]byte{0x03}, S64(int64(typ))...) }

// Times repeats instructions in the text of a function.
func Times(n int, code ...[]byte) []byte { return bytes.Repeat(slices.Concat(code...), n) }

// I32Const pushes a number.
func I32Const(v int32) []byte { return append([]byte{0x41}, S64(int64(v))...) }

// I64Const pushes a number.
func I64Const(v int64) []byte { return append([]byte{0x42}, S64(v)...) }

// LocalGet pushes a local.
func LocalGet(i uint32) []byte { return append([]byte{0x20}, U32(i)...) }

// LocalSet pops into a local.
func LocalSet(i uint32) []byte { return append([]byte{0x21}, U32(i)...) }

// GlobalGet pushes a global.
func GlobalGet(i uint32) []byte { return append([]byte{0x23}, U32(i)...) }

// GlobalSet pops into a global.
func GlobalSet(i uint32) []byte { return append([]byte{0x24}, U32(i)...) }

// Call calls a function.
func Call(i uint32) []byte { return append([]byte{0x10}, U32(i)...) }

// CallIndirect calls an element of table 0 by the index of a signature.
func CallIndirect(typ uint32) []byte { return slices.Concat([]byte{0x11}, U32(typ), []byte{0}) }

// Br leaves so many blocks; out of a loop it goes back to its start.
func Br(depth uint32) []byte { return append([]byte{0x0c}, U32(depth)...) }

// BrIf is Br when the number popped is not 0.
func BrIf(depth uint32) []byte { return append([]byte{0x0d}, U32(depth)...) }

// BrTable leaves as many blocks as the target whose number is popped says; the last target is for every other number.
func BrTable(targets ...uint32) []byte {
	b := append([]byte{0x0e}, U32(uint32(len(targets)-1))...)
	for _, t := range targets {
		b = append(b, U32(t)...)
	}
	return b
}

// MemoryInit copies a part of a data segment into memory; it pops where to, where from and how much.
func MemoryInit(segment uint32) []byte {
	return slices.Concat([]byte{0xfc, 8}, U32(segment), []byte{0})
}

// DataDrop empties a data segment.
func DataDrop(segment uint32) []byte { return slices.Concat([]byte{0xfc, 9}, U32(segment)) }

// TableInit copies a part of an element segment into table 0; it pops where to, where from and how much.
func TableInit(segment uint32) []byte {
	return slices.Concat([]byte{0xfc, 12}, U32(segment), []byte{0})
}

// TableCopy copies elements from one table to another; it pops where to, where from and how much.
func TableCopy(to, from uint32) []byte { return slices.Concat([]byte{0xfc, 14}, U32(to), U32(from)) }

// ElemDrop empties an element segment.
func ElemDrop(segment uint32) []byte { return slices.Concat([]byte{0xfc, 13}, U32(segment)) }

// TableSize pushes how many elements a table has.
func TableSize(table uint32) []byte { return slices.Concat([]byte{0xfc, 16}, U32(table)) }

// TableFill pops where, a reference and how often.
func TableFill(table uint32) []byte { return slices.Concat([]byte{0xfc, 17}, U32(table)) }

// F32Bits pushes a number by its bits.
func F32Bits(v uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{0x43}, v) }

// F64Bits pushes a number by its bits.
func F64Bits(v uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0x44}, v) }

// V128Const pushes a vector of zeros.
func V128Const() []byte { return V128Bits([16]byte{}) }

// V128Bits pushes a vector by its bytes.
func V128Bits(v [16]byte) []byte { return append([]byte{0xfd, 12}, v[:]...) }

// VectorOp is an instruction on vectors by its number.
func VectorOp(op uint32) []byte { return append([]byte{0xfd}, U32(op)...) }

// TableGrow grows a table: it pops a count, then a reference, and pushes the size there was or -1.
func TableGrow(table uint32) []byte { return slices.Concat([]byte{0xfc, 15}, U32(table)) }

// RefNull pushes a null reference to a function.
var RefNull = []byte{0xd0, 0x70}

// RefFunc pushes a reference to a function.
func RefFunc(function uint32) []byte { return append([]byte{0xd2}, U32(function)...) }

// TableSet pops a reference into an element of a table, and where.
func TableSet(table uint32) []byte { return append([]byte{0x26}, U32(table)...) }
