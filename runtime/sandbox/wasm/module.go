package wasm

import (
	"bytes"
	"fmt"
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

// Module is the structure of a module. What it holds points into the bytes that were read, which must not change.
type Module struct {
	// Types, Imports, Tables, Memories and Exports are the items of their sections, in order. Tables and Memories leave out
	// the imported ones.
	Types    []FuncType
	Imports  []Import
	Tables   []Limits
	Memories []Limits
	Exports  []Export
	// Customs are the custom sections, in order.
	Customs []Custom
	// HasStart says that the module has a start function, which runs when it is instantiated.
	HasStart bool

	wasm                      []byte
	caps                      Caps
	sections                  []section
	shapes                    []shape  // of Types
	types                     []uint32 // of all functions, imports first
	imported                  [4]int   // how many imports there are of each kind
	funcs                     []function
	globals                   []global
	data                      []segment
	dataCount                 uint32 // as announced for code
	declared                  []bool // by function: named in a global, an export or an element; nil when none is
	start                     uint32
	elements, elementSegments int // elements are those of all segments
	growsTables               bool
	changesTables             bool // or drops segments
	totals                    totals
	outline                   bool   // the code was not read
	facts                     *Facts // nil until the code was rewritten
}

// totals are what the caps of all functions together count.
type totals struct{ locals, blocks, targets, moved uint64 }

// section is where a section stands: wasm[from:to] is all of it, wasm[body:to] its content.
type section struct {
	id             byte
	from, body, to int
}

var (
	magic      = []byte("\x00asm")
	coreLayer  = []byte{1, 0, 0, 0}
	components = []byte{0x0d, 0, 1, 0}
)

// IsComponent says that the bytes begin like a component, which is another format.
func IsComponent(wasm []byte) bool {
	return len(wasm) >= 8 && bytes.HasPrefix(wasm, magic) && bytes.Equal(wasm[4:8], components)
}

// Parse reads a module, every section and every instruction of it, and holds it against the caps. The error is a *CapError
// or a *FormatError. A module that was read is not yet valid: types are not checked.
func Parse(wasm []byte, caps Caps) (*Module, error) {
	m := &Module{wasm: wasm, caps: caps.withDefaults()}
	if err := m.read(); err != nil {
		return nil, err
	}
	return m, nil
}

// read reads the sections.
func (m *Module) read() error {
	r := &reader{b: m.wasm}
	m.header(r)
	last := 0
	for r.more() {
		m.section(r, &last)
	}
	if r.err == nil && len(m.funcs) > 0 && !m.has(secCode) {
		r.fail("%d functions without code", len(m.funcs))
	}
	return r.err
}

func (m *Module) header(r *reader) {
	r.within("bytes of module", uint64(len(r.b)), m.caps.ModuleBytes)
	switch {
	case r.err != nil:
	case !bytes.HasPrefix(r.b, magic):
		r.fail("it is not WebAssembly: it does not begin with \\0asm")
	case len(r.b) < 8:
		r.fail("it ends after %d bytes", len(r.b))
	case !bytes.Equal(r.b[4:8], coreLayer):
		r.fail("it has version % x of the binary format, and only version 1 is known", r.b[4:8])
	}
	r.pos = 8
}

// section reads one section; last is the place of the one before.
func (m *Module) section(r *reader, last *int) {
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

// Bytes returns what was read, which is not copied.
func (m *Module) Bytes() []byte { return m.wasm }

func (m *Module) has(id byte) bool {
	for _, s := range m.sections {
		if s.id == id {
			return true
		}
	}
	return false
}

func (m *Module) custom(r *reader, s section) {
	c := Custom{at: s, Name: r.name()}
	c.Content = r.bytes(uint32(r.left()))
	m.Customs = append(m.Customs, c)
	r.within("custom sections", uint64(len(m.Customs)), m.caps.Customs)
}

// TypeOf returns the signature of a function by its index, imports first.
func (m *Module) TypeOf(function uint32) (FuncType, bool) {
	i := uint32(0)
	for _, imp := range m.Imports {
		if imp.Kind != KindFunc {
			continue
		}
		if i == function {
			return imp.Type, true
		}
		i++
	}
	if function-i >= uint32(len(m.funcs)) {
		return FuncType{}, false
	}
	return m.Types[m.funcs[function-i].typ], true
}

// Export finds an export by its name.
func (m *Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}
