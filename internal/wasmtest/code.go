package wasmtest

import "slices"

// Instructions without operands.
var (
	Unreachable = []byte{0x00}
	End         = []byte{0x0b}
	Else        = []byte{0x05}
	Return      = []byte{0x0f}
	Drop        = []byte{0x1a}
	I32Eqz      = []byte{0x45}
	I32Eq       = []byte{0x46}
	I32LtS      = []byte{0x48}
	I32Add      = []byte{0x6a}
	I32Sub      = []byte{0x6b}
	I32Mul      = []byte{0x6c}
	I32DivS     = []byte{0x6d}
	I32WrapI64  = []byte{0xa7}
	MemorySize  = []byte{0x3f, 0}
	MemoryGrow  = []byte{0x40, 0}
	I32Store    = []byte{0x36, 2, 0}
	I64Store    = []byte{0x37, 3, 0}
	I32Load     = []byte{0x28, 2, 0}
	MemoryCopy  = []byte{0xfc, 10, 0, 0}
	Block       = []byte{0x02, 0x40}
	Loop        = []byte{0x03, 0x40}
	If          = []byte{0x04, 0x40}
)

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

// TableGrow grows a table: it pops a count, then a reference, and pushes the size there was or -1.
func TableGrow(table uint32) []byte { return slices.Concat([]byte{0xfc, 15}, U32(table)) }

// RefNull pushes a null reference to a function.
var RefNull = []byte{0xd0, 0x70}
