package sandbox

import "fmt"

// sectionReaders read the content of each section but the custom ones.
var sectionReaders = [...]func(*layout, *reader){
	secType:      (*layout).typeSection,
	secImport:    (*layout).importSection,
	secFunction:  (*layout).functionSection,
	secTable:     (*layout).tableSection,
	secMemory:    (*layout).memorySection,
	secGlobal:    (*layout).globalSection,
	secExport:    (*layout).exportSection,
	secStart:     (*layout).startSection,
	secElement:   (*layout).elementSection,
	secCode:      (*layout).codeSection,
	secData:      (*layout).dataSection,
	secDataCount: func(_ *layout, r *reader) { r.u32() },
}

func (m *layout) typeSection(r *reader) {
	n := r.count("types", 3, maxTypes)
	m.types = make([]funcType, 0, n)
	for range n {
		if form := r.byte(); r.err == nil && form != 0x60 {
			r.fail("type form %#x is not a function", form)
		}
		m.types = append(m.types, funcType{params: r.valTypes(), results: r.valTypes()})
	}
}

func (r *reader) valTypes() []byte {
	types := r.bytes(uint32(r.count("value types", 1, 1000)))
	for _, t := range types {
		if valName(t) == "" {
			r.fail("value type %#x is not known to WebAssembly 2.0", t)
		}
	}
	return types
}

func (r *reader) valType() {
	if t := r.byte(); r.err == nil && valName(t) == "" {
		r.fail("value type %#x is not known to WebAssembly 2.0", t)
	}
}

func valName(t byte) string {
	switch t {
	case 0x7f:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case 0x70:
		return "funcref"
	case 0x6f:
		return "externref"
	}
	return ""
}

func (m *layout) importSection(r *reader) {
	n := r.count("imports", 4, maxImports)
	m.imports = make([]imported, 0, n)
	for range n {
		imp := imported{module: r.name(), name: r.name(), kind: r.byte()}
		switch imp.kind {
		case kindFunc:
			imp.typ = r.index("type", len(m.types))
			m.imported++
		case kindTable:
			r.refType()
			r.limits()
		case kindMemory:
			r.limits()
		case kindGlobal:
			r.valType()
			r.byte()
		default:
			r.fail("import kind %d is not known to WebAssembly 2.0", imp.kind)
		}
		m.imports = append(m.imports, imp)
	}
}

// index reads an index below n.
func (r *reader) index(what string, n int) uint32 {
	i := r.u32()
	if r.err == nil && uint64(i) >= uint64(n) {
		r.fail("%s %d of %d", what, i, n)
		return 0
	}
	return i
}

func (m *layout) functionSection(r *reader) {
	n := r.count("functions", 1, maxFunctions)
	m.funcs = make([]uint32, 0, n)
	for range n {
		m.funcs = append(m.funcs, r.index("type", len(m.types)))
	}
}

func (r *reader) refType() byte {
	t := r.byte()
	if r.err == nil && t != 0x70 && t != 0x6f {
		r.fail("reference type %#x is not known to WebAssembly 2.0", t)
	}
	return t
}

func (r *reader) limits() limits {
	flags := r.byte()
	if flags > 1 {
		r.fail("limits %#x need threads or 64-bit memory, which are not enabled", flags)
	}
	l := limits{min: r.u32(), hasMax: flags == 1}
	if l.hasMax {
		l.max = r.u32()
	}
	if l.hasMax && l.max < l.min {
		r.fail("limits from %d to %d", l.min, l.max)
	}
	return l
}

func (m *layout) tableSection(r *reader) {
	n := r.count("tables", 3, maxTables)
	total := uint64(0)
	for range n {
		elem := r.refType()
		l := r.limits()
		l.elem = elem
		if total += uint64(l.min); total > maxElements {
			r.err = &capError{fmt.Sprintf("tables of %d elements, at most %d are allowed", total, maxElements)}
			return
		}
		m.tables = append(m.tables, l)
	}
}

func (m *layout) memorySection(r *reader) {
	for range r.count("memories", 2, maxTables) {
		l := r.limits()
		if l.min > 65536 || l.max > 65536 {
			r.fail("a memory of over 65536 pages")
		}
		m.memories = append(m.memories, l)
	}
}

func (m *layout) globalSection(r *reader) {
	for range r.count("globals", 4, maxGlobals) {
		r.valType()
		r.byte()
		r.constExpr()
	}
}

// constExpr passes over the constant expression of a global or a segment.
func (r *reader) constExpr() {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b:
			return
		case 0x41:
			r.skipLEB(5)
		case 0x42:
			r.skipLEB(10)
		case 0x43:
			r.bytes(4)
		case 0x44:
			r.bytes(8)
		case 0x23, 0xd2:
			r.u32()
		case 0xd0:
			r.refType()
		case 0xfd:
			if r.u32() != 12 {
				r.fail("only v128.const is constant among the vector instructions")
			}
			r.bytes(16)
		default:
			r.fail("instruction %#x in a constant expression", op)
		}
	}
}

func (m *layout) exportSection(r *reader) {
	n := r.count("exports", 3, maxExports)
	m.exports = make([]export, 0, n)
	seen := make(map[string]bool, n)
	for range n {
		e := export{name: r.name(), kind: r.byte(), index: r.u32()}
		if r.err != nil {
			return
		}
		if int(e.kind) >= len(kindNames) {
			r.fail("export kind %d is not known to WebAssembly 2.0", e.kind)
		}
		if seen[e.name] {
			r.fail("%s is exported twice", quote(e.name))
		}
		if e.kind == kindFunc && uint64(e.index) >= uint64(m.imported+len(m.funcs)) {
			r.fail("%s exports function %d of %d", quote(e.name), e.index, m.imported+len(m.funcs))
		}
		seen[e.name] = true
		m.exports = append(m.exports, e)
	}
}

func (m *layout) startSection(r *reader) {
	r.index("function", m.imported+len(m.funcs))
	m.start = true
}

func (m *layout) elementSection(r *reader) {
	left := maxElements
	for range r.count("element segments", 2, maxSegments) {
		flags := r.u32()
		if flags > 7 {
			r.fail("element segment of kind %d", flags)
		}
		active := flags&1 == 0
		if active && flags&2 != 0 {
			r.u32()
		}
		if active {
			r.constExpr()
		}
		if flags&3 != 0 {
			r.byte()
		}
		n := r.count("elements", 1, left)
		left -= n
		for range n {
			if flags&4 != 0 {
				r.constExpr()
			} else {
				r.u32()
			}
		}
	}
}

func (m *layout) codeSection(r *reader) {
	n := r.count("function bodies", 2, maxFunctions)
	if r.err == nil && n != len(m.funcs) {
		r.fail("%d functions and %d bodies", len(m.funcs), n)
	}
	for range n {
		size := r.u32()
		if size > maxBody {
			r.err = &capError{fmt.Sprintf("a function of %d bytes, at most %d are allowed", size, maxBody)}
		}
		m.locals += r.sub(size).locals(r)
		if r.err == nil && m.locals > maxAllLocals {
			r.err = &capError{fmt.Sprintf("over %d locals in all functions", maxAllLocals)}
		}
		if r.err != nil {
			return
		}
	}
}

// locals reads the declarations at the head of a function body and returns how many locals they make. The instructions
// after them are left to the compiler's validation.
func (r *reader) locals(parent *reader) int {
	total := uint64(0)
	for range r.count("groups of locals", 2, maxLocals) {
		total += uint64(r.u32())
		r.valType()
	}
	if r.err == nil && total > maxLocals {
		r.err = &capError{fmt.Sprintf("a function of %d locals, at most %d are allowed", total, maxLocals)}
	}
	if parent.err == nil {
		parent.err = r.err
	}
	return int(min(total, maxLocals))
}

func (m *layout) dataSection(r *reader) {
	n := r.count("data segments", 2, maxSegments)
	m.data = make([]segment, 0, n)
	for range n {
		flags := r.u32()
		if flags > 2 {
			r.fail("data segment of kind %d", flags)
		}
		if flags == 2 && r.u32() != 0 {
			r.fail("data for a second memory")
		}
		var s segment
		if from := r.pos; flags != 1 {
			r.constExpr()
			s.offset = r.b[from:r.pos]
		}
		s.content = r.bytes(r.u32())
		m.data = append(m.data, s)
	}
}
