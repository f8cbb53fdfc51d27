package wasm

// sectionReaders read the content of each section but the custom ones.
var sectionReaders = [...]func(*Module, *reader){
	secType:      (*Module).typeSection,
	secImport:    (*Module).importSection,
	secFunction:  (*Module).functionSection,
	secTable:     (*Module).tableSection,
	secMemory:    (*Module).memorySection,
	secGlobal:    (*Module).globalSection,
	secExport:    (*Module).exportSection,
	secStart:     (*Module).startSection,
	secElement:   (*Module).elementSection,
	secCode:      (*Module).codeSection,
	secData:      (*Module).dataSection,
	secDataCount: (*Module).dataCountSection,
}

func (m *Module) typeSection(r *reader) {
	n := r.count("types", 3, m.caps.Types)
	m.Types = make([]FuncType, 0, n)
	for range n {
		if form := r.byte(); r.err == nil && form != 0x60 {
			r.fail("type form %#x is not a function", form)
		}
		t := FuncType{Params: r.valTypes(m.caps.Values), Results: r.valTypes(m.caps.Values)}
		m.Types, m.shapes = append(m.Types, t), append(m.shapes, shapeOf(t))
	}
}

func (r *reader) valTypes(limit uint32) []byte {
	types := r.bytes(uint32(r.count("parameters or results of one type", 1, limit)))
	for _, t := range types {
		if typeName(t) == "" {
			r.fail("value type %#x is not known to WebAssembly 2.0", t)
		}
	}
	return types
}

func (r *reader) valType() byte {
	t := r.byte()
	if r.err == nil && typeName(t) == "" {
		r.fail("value type %#x is not known to WebAssembly 2.0", t)
	}
	return t
}

func (m *Module) importSection(r *reader) {
	n := r.count("imports", 4, m.caps.Imports)
	m.Imports = make([]Import, 0, n)
	for range n {
		imp := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		switch imp.Kind {
		case KindFunc:
			if imp.typ = r.index("type", len(m.Types)); r.err == nil {
				imp.Type = m.Types[imp.typ]
				m.types = append(m.types, imp.typ)
			}
		case KindTable:
			r.refType()
			r.limits()
		case KindMemory:
			r.limits()
		case KindGlobal:
			r.valType()
			r.mutability()
		default:
			r.fail("import kind %d is not known to WebAssembly 2.0", imp.Kind)
		}
		if r.err != nil {
			return
		}
		m.imported[imp.Kind]++
		m.Imports = append(m.Imports, imp)
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

func (m *Module) functionSection(r *reader) {
	n := r.count("functions", 1, m.caps.Functions)
	m.funcs = make([]function, 0, n)
	for range n {
		typ := r.index("type", len(m.Types))
		m.funcs, m.types = append(m.funcs, function{typ: typ}), append(m.types, typ)
	}
}

func (r *reader) refType() byte {
	t := r.byte()
	if r.err == nil && t != 0x70 && t != 0x6f {
		r.fail("reference type %#x is not known to WebAssembly 2.0", t)
	}
	return t
}

func (r *reader) limits() Limits {
	flags := r.byte()
	if flags > 1 {
		r.fail("limits %#x need threads or 64-bit memory, which are not enabled", flags)
	}
	l := Limits{Min: r.u32(), HasMax: flags == 1}
	if l.HasMax {
		l.Max = r.u32()
	}
	if l.HasMax && l.Max < l.Min {
		r.fail("limits from %d to %d", l.Min, l.Max)
	}
	return l
}

func (m *Module) tableSection(r *reader) {
	total := uint64(0)
	for range r.count("tables", 3, m.caps.Tables) {
		elem := r.refType()
		l := r.limits()
		l.elem = elem
		total += uint64(l.Min)
		r.within("elements that the tables begin with", total, m.caps.TableElements)
		m.Tables = append(m.Tables, l)
	}
}

// maxPages is how many pages of 64 KiB WebAssembly lets a memory have.
const maxPages = 65536

func (m *Module) memorySection(r *reader) {
	for range r.count("memories", 2, m.caps.Tables) {
		l := r.limits()
		if l.Min > maxPages || l.Max > maxPages {
			r.fail("a memory of over %d pages", maxPages)
		}
		m.Memories = append(m.Memories, l)
	}
}

func (m *Module) globalSection(r *reader) {
	n := r.count("globals", 4, m.caps.Globals)
	m.globals = make([]global, 0, n)
	for range n {
		if r.err != nil {
			return
		}
		m.globals = append(m.globals, global{typ: r.valType(), mutable: r.mutability(), init: m.constExpr(r)})
	}
}

func (r *reader) mutability() bool {
	b := r.byte()
	if b > 1 {
		r.fail("mutability %d of a global", b)
	}
	return b == 1
}

// constExpr returns the constant expression of a global or a segment, with its end.
func (m *Module) constExpr(r *reader) []byte {
	from := r.pos
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b:
			return r.b[from:r.pos]
		case 0x41:
			r.skipLEB(5)
		case 0x42:
			r.skipLEB(10)
		case 0x43:
			r.bytes(4)
		case 0x44:
			r.bytes(8)
		case opGlobalGet:
			r.index("global", m.items(KindGlobal))
		case opRefFunc:
			m.declare(r.index("function", m.functions()))
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
	return nil
}

func (m *Module) exportSection(r *reader) {
	n := r.count("exports", 3, m.caps.Exports)
	m.Exports = make([]Export, 0, n)
	seen := make(map[string]bool, n)
	for range n {
		e := Export{Name: r.name(), Kind: Kind(r.byte()), Index: r.u32()}
		if int(e.Kind) >= len(kindNames) {
			r.fail("export kind %d is not known to WebAssembly 2.0", e.Kind)
		}
		if r.err != nil {
			return
		}
		if seen[e.Name] {
			r.fail("%.80q is exported twice", e.Name)
		}
		if n := m.items(e.Kind); r.err == nil && uint64(e.Index) >= uint64(n) {
			r.fail("%.80q exports %s %d of %d", e.Name, e.Kind, e.Index, n)
		}
		if e.Kind == KindFunc {
			m.declare(e.Index)
		}
		seen[e.Name] = true
		m.Exports = append(m.Exports, e)
	}
}

// items counts those of a kind, imports and the module's own.
func (m *Module) items(k Kind) int {
	return m.imported[k] + [...]int{KindFunc: len(m.funcs), KindTable: len(m.Tables), KindMemory: len(m.Memories), KindGlobal: len(m.globals)}[k]
}

func (m *Module) functions() int { return m.items(KindFunc) }

func (m *Module) startSection(r *reader) {
	m.start = r.index("function", m.functions())
	m.HasStart = true
}

func (m *Module) elementSection(r *reader) {
	total := uint64(0)
	for range r.count("element segments", 2, m.caps.Segments) {
		s := m.elementHead(r)
		total += uint64(s.count)
		r.within("elements of all segments", total, m.caps.Elements)
		m.elements, m.elementSegments = int(total), m.elementSegments+1
		for range s.count {
			if r.err != nil {
				return
			}
			if s.expressions {
				m.constExpr(r)
			} else {
				m.declare(r.index("function", m.functions()))
			}
		}
	}
}

// elements is the head of an element segment: how many elements follow, and whether they are constant expressions or
// indices of functions.
type elements struct {
	count       uint32
	expressions bool
}

func (m *Module) elementHead(r *reader) elements {
	flags := r.u32()
	if flags > 7 {
		r.fail("element segment of kind %d", flags)
	}
	active := flags&1 == 0
	if active && flags&2 != 0 {
		r.u32()
	}
	if active {
		m.constExpr(r)
	}
	if flags&3 != 0 {
		r.byte()
	}
	return elements{uint32(r.count("elements of one segment", 1, ^uint32(0))), flags&4 != 0}
}

func (m *Module) dataSection(r *reader) {
	n, total := r.count("data segments", 2, m.caps.Segments), uint64(0)
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
		if flags != 1 {
			s.offset = m.constExpr(r)
		}
		s.content = r.bytes(r.u32())
		if _, ok := constantOffset(s.offset); !ok && s.offset != nil {
			r.within("bytes of a data segment whose place is not a constant", uint64(len(s.content)), placedBytes)
		}
		total += uint64(len(s.content))
		r.within("bytes of all data segments", total, m.caps.DataBytes)
		m.data = append(m.data, s)
	}
}

func (m *Module) dataCountSection(r *reader) {
	m.dataCount = r.u32()
	r.within("data segments", uint64(m.dataCount), m.caps.Segments)
}
