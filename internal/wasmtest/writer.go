package wasmtest

import "slices"

// Types of values.
const (
	I32     byte = 0x7f
	I64     byte = 0x7e
	F32     byte = 0x7d
	F64     byte = 0x7c
	V128    byte = 0x7b
	FuncRef byte = 0x70
)

// FuncType is the signature of a function.
type FuncType struct{ Params, Results []byte }

// Module is a WebAssembly module in the making. Nothing is checked: it is there to write what no compiler would. Imports
// come before functions, so that indices stay what they were.
type Module struct {
	types    []FuncType
	imports  [][]byte
	funcs    []byte
	nfuncs   int
	code     [][]byte
	tables   [][]byte
	memories [][]byte
	globals  [][]byte
	exports  [][]byte
	elements [][]byte
	data     [][]byte
	counted  bool
	start    []byte
	raw      []byte
}

// Type returns the index of a signature, for CallIndirect and typed blocks.
func (m *Module) Type(params, results []byte) uint32 { return m.typ(FuncType{params, results}) }

// typ returns the index of a signature.
func (m *Module) typ(t FuncType) uint32 {
	for i, have := range m.types {
		if slices.Equal(have.Params, t.Params) && slices.Equal(have.Results, t.Results) {
			return uint32(i)
		}
	}
	m.types = append(m.types, t)
	return uint32(len(m.types) - 1)
}

// Import imports a function and returns its index.
func (m *Module) Import(module, name string, params, results []byte) uint32 {
	if len(m.code) > 0 {
		panic("wasmtest: import after a function")
	}
	m.imports = append(m.imports, slices.Concat(Name(module), Name(name), []byte{0}, U32(m.typ(FuncType{params, results}))))
	m.nfuncs++
	return uint32(m.nfuncs - 1)
}

// ImportRaw imports something else: the kind and its description follow the names.
func (m *Module) ImportRaw(module, name string, description ...byte) {
	m.imports = append(m.imports, slices.Concat(Name(module), Name(name), description))
}

// Func adds a function with so many locals of type i32 beside its parameters and returns its index. The end of the body is
// added.
func (m *Module) Func(params, results []byte, locals uint32, body ...[]byte) uint32 {
	decl := []byte{0}
	if locals > 0 {
		decl = slices.Concat([]byte{1}, U32(locals), []byte{I32})
	}
	return m.FuncRaw(params, results, slices.Concat(append([][]byte{decl}, append(body, End)...)...))
}

// FuncRaw adds a function whose body, declarations of locals and end included, is given.
func (m *Module) FuncRaw(params, results []byte, body []byte) uint32 {
	m.funcs = append(m.funcs, U32(m.typ(FuncType{params, results}))...)
	m.code = append(m.code, slices.Concat(U32(uint32(len(body))), body))
	m.nfuncs++
	return uint32(m.nfuncs - 1)
}

// Table adds a table of functions with limits as they are written: flags, min, max.
func (m *Module) Table(limits ...uint32) {
	b := []byte{0x70}
	for _, l := range limits {
		b = append(b, U32(l)...)
	}
	m.tables = append(m.tables, b)
}

// Memory adds a memory with its least number of pages.
func (m *Module) Memory(pages uint32) {
	m.memories = append(m.memories, slices.Concat([]byte{0}, U32(pages)))
}

// MemoryMax adds a memory with its least and its greatest number of pages.
func (m *Module) MemoryMax(pages, most uint32) {
	m.memories = append(m.memories, slices.Concat([]byte{1}, U32(pages), U32(most)))
}

// Global adds a mutable i32 and returns its index.
func (m *Module) Global(v int32) uint32 { return m.GlobalOf(I32, I32Const(v)) }

// GlobalOf adds a mutable global of any type, whose first value is what the code pushes, and returns its index.
func (m *Module) GlobalOf(typ byte, first []byte) uint32 {
	m.globals = append(m.globals, slices.Concat([]byte{typ, 1}, first, End))
	return uint32(len(m.globals) - 1)
}

// Export exports a function.
func (m *Module) Export(name string, function uint32) { m.ExportRaw(name, 0, function) }

// ExportRaw exports anything: kind 0 is a function, 1 a table, 2 a memory, 3 a global.
func (m *Module) ExportRaw(name string, kind byte, index uint32) {
	m.exports = append(m.exports, slices.Concat(Name(name), []byte{kind}, U32(index)))
}

// Elements puts functions into table 0.
func (m *Module) Elements(offset int32, functions ...uint32) {
	m.elements = append(m.elements, slices.Concat([]byte{0}, I32Const(offset), End, indices(functions)))
}

// PassiveElements keeps functions for TableInit.
func (m *Module) PassiveElements(functions ...uint32) {
	m.elements = append(m.elements, slices.Concat([]byte{1, 0}, indices(functions)))
}

func indices(functions []uint32) []byte {
	b := U32(uint32(len(functions)))
	for _, f := range functions {
		b = append(b, U32(f)...)
	}
	return b
}

// Data puts bytes into memory.
func (m *Module) Data(offset int32, b []byte) {
	m.data = append(m.data, slices.Concat([]byte{0}, I32Const(offset), End, U32(uint32(len(b))), b))
}

// PassiveData keeps bytes for MemoryInit, and counts the segments before the code as that needs.
func (m *Module) PassiveData(b []byte) {
	m.data = append(m.data, slices.Concat([]byte{1}, U32(uint32(len(b))), b))
	m.counted = true
}

// Start names the function that runs at instantiation.
func (m *Module) Start(function uint32) { m.start = U32(function) }

// Custom adds a custom section at the end.
func (m *Module) Custom(name string, content []byte) {
	m.Section(0, slices.Concat(Name(name), content))
}

// Section adds any section at the end.
func (m *Module) Section(id byte, content []byte) { m.raw = append(m.raw, Section(id, content)...) }

// Bytes returns the module.
func (m *Module) Bytes() []byte {
	types := make([][]byte, len(m.types))
	for i, t := range m.types {
		types[i] = slices.Concat([]byte{0x60}, U32(uint32(len(t.Params))), t.Params, U32(uint32(len(t.Results))), t.Results)
	}
	out := slices.Clone(Header)
	vector := func(id byte, items [][]byte) {
		if len(items) > 0 {
			out = append(out, Section(id, Vector(items...))...)
		}
	}
	vector(1, types)
	vector(2, m.imports)
	if len(m.code) > 0 {
		out = append(out, Section(3, slices.Concat(U32(uint32(len(m.code))), m.funcs))...)
	}
	vector(4, m.tables)
	vector(5, m.memories)
	vector(6, m.globals)
	vector(7, m.exports)
	if m.start != nil {
		out = append(out, Section(8, m.start)...)
	}
	vector(9, m.elements)
	if m.counted {
		out = append(out, Section(12, U32(uint32(len(m.data))))...)
	}
	vector(10, m.code)
	vector(11, m.data)
	return append(out, m.raw...)
}

// Header is what a core module begins with.
var Header = []byte("\x00asm\x01\x00\x00\x00")

// Section writes one section.
func Section(id byte, content []byte) []byte {
	return slices.Concat([]byte{id}, U32(uint32(len(content))), content)
}

// Vector writes a count and the items.
func Vector(items ...[]byte) []byte {
	return slices.Concat(append([][]byte{U32(uint32(len(items)))}, items...)...)
}

// Name writes a string.
func Name(s string) []byte { return append(U32(uint32(len(s))), s...) }

// U32 writes an unsigned LEB128.
func U32(v uint32) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// S64 writes a signed LEB128.
func S64(v int64) []byte {
	var b []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
