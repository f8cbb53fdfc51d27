package sandbox

import (
	"bytes"
	"fmt"
)

// Caps on the parts of a module. They are far above what compilers emit and keep decoding and compiling in proportion.
const (
	maxModule    = 64 << 20
	maxTypes     = 10_000
	maxImports   = 1_000
	maxFunctions = 100_000
	maxTables    = 4
	maxElements  = 1 << 20 // of all tables together, and of each table at any time
	maxGlobals   = 10_000
	maxExports   = 10_000
	maxSegments  = 100_000
	maxBody      = 2 << 20 // bytes of one function
	maxLocals    = 50_000  // of one function
	maxAllLocals = 8 << 20 // of all functions
	maxCustoms   = 1_000
)

// The sections of the binary format.
const (
	secCustom byte = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

// sectionOrder gives the place of each section; the data count comes before the code.
var sectionOrder = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6, secExport: 7, secStart: 8,
	secElement: 9, secDataCount: 10, secCode: 11, secData: 12,
}

// The kinds of imports and exports.
const (
	kindFunc byte = iota
	kindTable
	kindMemory
	kindGlobal
)

var kindNames = [...]string{kindFunc: "function", kindTable: "table", kindMemory: "memory", kindGlobal: "global"}

// layout is the structure of a module: everything but the instructions. Its slices point into the module's bytes.
type layout struct {
	sections []section
	customs  []custom
	types    []funcType
	imports  []imported
	imported int      // how many of the imports are functions
	funcs    []uint32 // the types of the module's own functions
	tables   []limits
	memories []limits
	exports  []export
	data     []segment
	start    bool
	locals   int
}

// section is where a section stands: b[from:to] is all of it, b[body:to] its content.
type section struct {
	id             byte
	from, body, to int
}

type custom struct {
	section
	name    string
	content []byte
}

// funcType is a signature; the bytes are the value types of the binary format.
type funcType struct{ params, results []byte }

type imported struct {
	module, name string
	kind         byte
	typ          uint32
}

type export struct {
	name  string
	kind  byte
	index uint32
}

// limits are those of a table (elements) or a memory (pages).
type limits struct {
	elem   byte
	min    uint32
	max    uint32
	hasMax bool
}

// segment is a piece of the initial memory. Its offset is the constant expression, nil when it is passive.
type segment struct{ offset, content []byte }

var (
	magic      = []byte("\x00asm")
	coreLayer  = []byte{1, 0, 0, 0}
	components = []byte{0x0d, 0, 1, 0}
)

// parseLayout walks over all sections of a module. Each error is a *LoadError.
func parseLayout(wasm []byte) (*layout, error) {
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	m := new(layout)
	r := &reader{b: wasm, pos: 8}
	last := 0
	for r.more() {
		m.section(r, &last)
	}
	if r.err == nil && len(m.funcs) > 0 && !m.has(secCode) {
		r.fail("%d functions without code", len(m.funcs))
	}
	if _, ok := r.err.(*capError); ok {
		return nil, refuse(TooBig, "%w", r.err)
	}
	if r.err != nil {
		return nil, refuse(Malformed, "malformed WebAssembly: %w", r.err)
	}
	return m, nil
}

func checkHeader(wasm []byte) error {
	switch {
	case len(wasm) == 0:
		return refuse(Empty, "it is empty")
	case len(wasm) > maxModule:
		return refuse(TooBig, "it has %d bytes, at most %d are allowed", len(wasm), maxModule)
	case !bytes.HasPrefix(wasm, magic):
		return refuse(Malformed, "it is not WebAssembly: it does not begin with \\0asm")
	case len(wasm) < 8:
		return refuse(Malformed, "malformed WebAssembly: it ends after %d bytes", len(wasm))
	case bytes.Equal(wasm[4:8], components):
		return refuse(Component, "it is a component; wrun runs core modules: build for wasm32-wasip1 (or GOOS=wasip1), or take the core module before it is made a component")
	case !bytes.Equal(wasm[4:8], coreLayer):
		return refuse(Malformed, "it has version % x of the binary format, and only version 1 is known", wasm[4:8])
	}
	return nil
}

// section reads one section; last is the place of the one before.
func (m *layout) section(r *reader, last *int) {
	s := section{from: r.pos}
	s.id = r.byte()
	size := r.u32()
	s.body = r.pos
	body := r.sub(size)
	s.to = r.pos
	if r.err != nil {
		return
	}
	m.sections = append(m.sections, s)
	if s.id == secCustom {
		m.custom(body, s)
		r.end(body, "custom section")
		return
	}
	if int(s.id) >= len(sectionOrder) {
		r.fail("section %d is not known to WebAssembly 2.0", s.id)
		return
	}
	if sectionOrder[s.id] <= *last {
		r.fail("section %d is out of order or there twice", s.id)
		return
	}
	*last = sectionOrder[s.id]
	sectionReaders[s.id](m, body)
	r.end(body, fmt.Sprintf("section %d", s.id))
}

func (m *layout) has(id byte) bool {
	for _, s := range m.sections {
		if s.id == id {
			return true
		}
	}
	return false
}

func (m *layout) custom(r *reader, s section) {
	c := custom{section: s, name: r.name()}
	c.content = r.bytes(uint32(r.left()))
	if len(m.customs) == maxCustoms {
		r.err = &capError{fmt.Sprintf("more than %d custom sections", maxCustoms)}
		return
	}
	m.customs = append(m.customs, c)
}

// typeOf returns the signature of a function by its index among imports and own functions.
func (m *layout) typeOf(function uint32) (funcType, bool) {
	i := uint32(0)
	for _, imp := range m.imports {
		if imp.kind != kindFunc {
			continue
		}
		if i == function {
			return m.types[imp.typ], true
		}
		i++
	}
	if function-i >= uint32(len(m.funcs)) {
		return funcType{}, false
	}
	return m.types[m.funcs[function-i]], true
}

// exported finds an export by its name.
func (m *layout) exported(name string) (export, bool) {
	for _, e := range m.exports {
		if e.name == name {
			return e, true
		}
	}
	return export{}, false
}
