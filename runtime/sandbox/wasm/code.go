package wasm

// Instructions that somebody has to know by name. The others are known by the form of what follows them.
const (
	opUnreachable   = 0x00
	opBlock         = 0x02
	opLoop          = 0x03
	opIf            = 0x04
	opElse          = 0x05
	opEnd           = 0x0b
	opBr            = 0x0c
	opBrIf          = 0x0d
	opBrTable       = 0x0e
	opReturn        = 0x0f
	opCall          = 0x10
	opCallIndirect  = 0x11
	opSelect        = 0x1b
	opLocalGet      = 0x20
	opLocalSet      = 0x21
	opLocalTee      = 0x22
	opGlobalGet     = 0x23
	opGlobalSet     = 0x24
	opTableSet      = 0x26
	opMemorySize    = 0x3f
	opMemoryGrow    = 0x40
	opI32Const      = 0x41
	opI64Const      = 0x42
	opI32LtS        = 0x48
	opI32LtU        = 0x49
	opI32LeU        = 0x4d
	opI32GeS        = 0x4e
	opI64GtU        = 0x56
	opI32Add        = 0x6a
	opI32Sub        = 0x6b
	opI32Or         = 0x72
	opI32ShrU       = 0x76
	opI64Add        = 0x7c
	opI64Sub        = 0x7d
	opI64Shl        = 0x86
	opI32WrapI64    = 0xa7
	opI64ExtendI32U = 0xad
	opRefFunc       = 0xd2
	opBulk          = 0xfc // the prefix of what works on whole pieces of memories and tables
	opVector        = 0xfd // the prefix of what works on v128

	bulkMemoryInit = 8
	bulkDataDrop   = 9
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableInit  = 12
	bulkElemDrop   = 13
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableFill  = 17
)

// form is what follows an instruction.
type form byte

const (
	unknown   form = iota
	nothing        // no operand
	blockType      // the type of a block
	index          // one index
	indices        // two indices
	memArg         // alignment and offset
	zero           // the number of a memory, which is 0
	leb32          // a number of at most 5 bytes
	leb64          // a number of at most 10 bytes
	four           // 4 bytes
	eight          // 8 bytes
	table          // the targets of br_table
	types          // a vector of types
	refType        // the type of a reference
	bulk           // a number that says which one it is, then its own form
	vector
	indexZero // an index and the number of a memory
	zeros     // the numbers of two memories
	lane      // the number of a lane
	memLane   // memArg and lane
	sixteen   // 16 bytes
)

// forms are the forms of the instructions of one byte.
var forms = formTable(map[form][]byte{
	nothing:   {0x00, 0x01, opElse, opEnd, opReturn, 0x1a, 0x1b, 0xd1},
	blockType: {opBlock, opLoop, opIf},
	index:     {opBr, opBrIf, opCall, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, opTableSet, opRefFunc},
	indices:   {opCallIndirect},
	table:     {opBrTable},
	types:     {0x1c},
	zero:      {0x3f, opMemoryGrow},
	leb32:     {opI32Const},
	leb64:     {opI64Const},
	four:      {0x43},
	eight:     {0x44},
	refType:   {0xd0},
	bulk:      {opBulk},
	vector:    {opVector},
}, span{0x28, 0x3e, memArg}, span{0x45, 0xc4, nothing})

// bulkForms are those behind opBulk.
var bulkForms = formTable(map[form][]byte{
	indexZero: {bulkMemoryInit},
	index:     {bulkDataDrop, bulkElemDrop, bulkTableGrow, 16, bulkTableFill},
	zeros:     {bulkMemoryCopy},
	zero:      {bulkMemoryFill},
	indices:   {bulkTableInit, bulkTableCopy},
}, span{0, 7, nothing})

// vectorForms are those behind opVector. The few numbers that stand for nothing are left to the compiler.
var vectorForms = formTable(map[form][]byte{
	sixteen: {12, 13},
	memArg:  {92, 93},
}, span{0, 11, memArg}, span{14, 20, nothing}, span{21, 34, lane}, span{35, 83, nothing}, span{84, 91, memLane}, span{94, 255, nothing})

type span struct {
	from, to byte
	form     form
}

func formTable(some map[form][]byte, spans ...span) (t [256]form) {
	for f, ops := range some {
		for _, op := range ops {
			t[op] = f
		}
	}
	for _, s := range spans {
		for op := int(s.from); op <= int(s.to); op++ {
			t[op] = s.form
		}
	}
	return t
}

// instr is one instruction: code[at:end] is all of it.
type instr struct {
	op      byte
	sub     uint32 // which one, behind a prefix
	a, b    uint32 // its indices, or its number as unsigned
	count   uint32 // how many targets br_table has beside its last
	targets int    // where they begin
	at, end int
}

// next reads an instruction.
func (r *reader) next(in *instr) {
	in.at = r.pos
	in.op = r.byte()
	f := forms[in.op]
	switch f {
	case nothing:
	case index:
		in.a = r.u32()
	case bulk:
		r.operands(in, r.prefixed(in, &bulkForms))
	case vector:
		r.operands(in, r.prefixed(in, &vectorForms))
	case unknown:
		r.unknown(in.op)
	default:
		r.operands(in, f)
	}
	in.end = r.pos
}

func (r *reader) prefixed(in *instr, forms *[256]form) form {
	in.sub = r.u32()
	if in.op == opVector && in.sub >= 0x100 && in.sub < 0x200 {
		r.fail("instruction %#x %#x needs relaxed vector instructions, which are not enabled", in.op, in.sub)
	}
	if r.err == nil && (in.sub > 255 || forms[in.sub] == unknown) {
		r.fail("instruction %#x %#x is not known to WebAssembly 2.0", in.op, in.sub)
	}
	if r.err != nil {
		return unknown
	}
	return forms[in.sub]
}

// unknown names what an instruction would need, where that is a known proposal.
func (r *reader) unknown(op byte) {
	if r.err != nil {
		return
	}
	r.pos--
	needs := map[byte]string{
		0x06: "exceptions", 0x07: "exceptions", 0x08: "exceptions", 0x09: "exceptions", 0x0a: "exceptions",
		0x18: "exceptions", 0x19: "exceptions", 0x1f: "exceptions",
		0x12: "tail calls", 0x13: "tail calls",
		0x14: "typed references to functions", 0x15: "typed references to functions",
		0xd3: "garbage collection", 0xd4: "typed references to functions", 0xd5: "typed references to functions", 0xd6: "typed references to functions",
		0xfb: "garbage collection", 0xfe: "threads",
	}
	if what, ok := needs[op]; ok {
		r.fail("instruction %#x needs %s, which are not enabled", op, what)
		return
	}
	r.fail("instruction %#x is not known to WebAssembly 2.0", op)
}

func (r *reader) operands(in *instr, f form) {
	switch f {
	case blockType:
		in.a = r.blockType()
	case index:
		in.a = r.u32()
	case indices:
		in.a, in.b = r.u32(), r.u32()
	case memArg:
		r.u32()
		r.u32()
	case zero:
		r.memory()
	case zeros:
		r.memory()
		r.memory()
	case indexZero:
		in.a = r.u32()
		r.memory()
	case leb32:
		in.a = r.s32()
	case leb64:
		r.skipLEB(10)
	case four:
		r.bytes(4)
	case eight:
		r.bytes(8)
	case sixteen:
		r.bytes(16)
	case lane:
		r.byte()
	case memLane:
		r.u32()
		r.u32()
		r.byte()
	case refType:
		r.refType()
	case types:
		for range r.count("types of a select", 1, 1000) {
			r.valType()
		}
	case table:
		in.count = uint32(r.count("targets", 1, 1<<31))
		in.targets = r.pos
		for range in.count + 1 {
			r.u32()
		}
	}
}

func (r *reader) memory() {
	if m := r.byte(); r.err == nil && m != 0 {
		r.fail("memory %d: a second memory is not enabled", m)
	}
}

// noType is what blockType returns for a block that has no type of the type section.
const noType = ^uint32(0)

// blockType returns the index of a block's type, or noType.
func (r *reader) blockType() uint32 {
	if r.err == nil && r.left() > 0 && (r.b[r.pos] == 0x40 || typeName(r.b[r.pos]) != "") {
		r.pos++
		return noType
	}
	from := r.pos
	if v := r.s32(); r.err == nil && int32(v) < 0 {
		r.pos = from
		r.fail("the type of a block is %d", int32(v))
	} else {
		return v
	}
	return noType
}

// s32 reads a signed LEB128 of at most five bytes and returns its lower 32 bits.
func (r *reader) s32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint32(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if shift < 28 && c&0x40 != 0 {
			v |= ^uint32(0) << (shift + 7)
		}
		return v
	}
	r.fail("number is over 32 bits")
	return 0
}

func (m *Module) codeSection(r *reader) {
	n := r.count("function bodies", 2, m.caps.Functions)
	if r.err == nil && n != len(m.funcs) {
		r.fail("%d functions and %d bodies", len(m.funcs), n)
		return
	}
	if m.outline {
		r.bytes(uint32(r.left()))
		return
	}
	for i := range n {
		size := r.u32()
		r.within("bytes of one function", uint64(size), m.caps.BodyBytes)
		f := &m.funcs[i]
		f.from = r.base + r.pos
		body := r.sub(size)
		if r.err != nil {
			return
		}
		f.body = body.b
		m.function(f, body)
		r.end(body, "a function")
	}
}

// function reads one body: the locals, then every instruction up to the end of the function.
func (m *Module) function(f *function, r *reader) {
	locals, places := uint64(0), uint64(m.shapes[f.typ].params)
	for range r.count("groups of locals", 2, m.caps.Locals) {
		n := uint64(r.u32())
		locals += n
		places += n * uint64(slotsOf(r.valType()))
	}
	r.within("locals of one function", locals, m.caps.Locals)
	m.totals.locals += locals
	r.within("locals of all functions", m.totals.locals, m.caps.AllLocals)
	f.locals, f.slots, f.code = uint32(locals), uint32(places), r.pos
	s := scope{Module: m, r: r, locals: uint64(len(m.Types[f.typ].Params)) + locals, loops: []bool{false}}
	sc := m.newScale(f)
	var in instr
	for len(s.loops) > 0 && r.err == nil {
		if r.next(&in); r.err != nil {
			return
		}
		s.count(&in)
		if s.indices(&in); r.err != nil {
			return
		}
		f.weight += sc.weigh(&in, r.b)
		s.values(&sc)
		m.changes(&in)
		f.add(&in)
	}
	f.plain, f.places = sc.plain, sc.places()
	s.products()
}

// add takes over what Rewrite has to know of a function.
func (f *function) add(in *instr) {
	switch in.op {
	case opCall, opCallIndirect:
		f.calls = true
	case opBulk:
		f.scratch = f.scratch || measured(in.sub)
	}
}
