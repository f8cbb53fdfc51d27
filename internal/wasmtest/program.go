package wasmtest

import "slices"

// Program returns a valid module that the bytes of source choose: functions that compute, branch, loop, call each other
// directly and through a table, and work on memory and table, alone and in pieces. It exports run, (i32)->(i32), with
// memory, globals and table. A program ends by itself: it counts down a global with each call and each turn of a loop, and
// traps when that is used up.
func Program(source []byte) []byte {
	p := &program{source: source}
	for i := range programFuncs {
		p.types = append(p.types, byte(0))
		if i > 0 {
			p.types[i] = p.choose(4)
		}
	}
	var code [][]byte
	for _, t := range p.types {
		body := p.function(programTypes[t])
		code = append(code, slices.Concat(U32(uint32(len(body))), body))
	}
	types := make([][]byte, len(programTypes))
	for i, t := range programTypes {
		types[i] = slices.Concat([]byte{0x60}, Vector(singles(t.Params)...), Vector(singles(t.Results)...))
	}
	functions := Vector(singles([]byte{0, 1, 2, 3, 4, 5})...)
	return slices.Concat(Header,
		Section(1, Vector(types...)),
		Section(3, Vector(singles(p.types)...)),
		Section(4, []byte{1, 0x70, 0, 10}),
		Section(5, []byte{1, 1, 4, 8}),
		Section(6, Vector(
			slices.Concat([]byte{I32, 1}, I32Const(programTurns), End),
			slices.Concat([]byte{I32, 1}, I32Const(-7), End),
			slices.Concat([]byte{I64, 1}, I64Const(1<<40), End),
		)),
		Section(7, Vector(
			slices.Concat(Name("run"), []byte{0, 0}), slices.Concat(Name("memory"), []byte{2, 0}), slices.Concat(Name("table"), []byte{1, 0}),
			slices.Concat(Name("turns"), []byte{3, 0}), slices.Concat(Name("a"), []byte{3, 1}), slices.Concat(Name("b"), []byte{3, 2}),
		)),
		Section(9, Vector(
			slices.Concat([]byte{0}, I32Const(1), End, functions), // active: the table is null, functions, null
			slices.Concat([]byte{1, 0}, functions),                // passive
		)),
		Section(12, []byte{2}),
		Section(10, Vector(code...)),
		Section(11, Vector(
			slices.Concat([]byte{0}, I32Const(100), End, Vector(singles([]byte("some bytes at first"))...)),
			slices.Concat([]byte{1}, Vector(singles(slices.Repeat([]byte("passive"), 40))...)),
		)),
	)
}

const (
	programFuncs = 6
	programTurns = 3000
	programDepth = 6
)

// programTypes are the types of functions, and of blocks with more than one value.
var programTypes = []FuncType{
	{[]byte{I32}, []byte{I32}},
	{[]byte{I64, I32}, []byte{I64}},
	{nil, []byte{I32, I64}},
	{[]byte{I32}, nil},
}

func singles(b []byte) [][]byte {
	items := make([][]byte, len(b))
	for i := range b {
		items[i] = b[i : i+1]
	}
	return items
}

type program struct {
	source []byte
	types  []byte // of the functions
	locals []byte // the types of the locals of the function at hand
	typ    FuncType
	labels [][]byte // the types that a branch to each label takes, innermost last
}

// next takes a byte of the source; behind its end come zeros, which choose what is simplest.
func (p *program) next() byte {
	if len(p.source) == 0 {
		return 0
	}
	b := p.source[0]
	p.source = p.source[1:]
	return b
}

func (p *program) choose(n int) byte { return p.next() % byte(n) }

// turn counts down.
var turn = slices.Concat(
	GlobalGet(0), I32Const(1), I32Sub, GlobalSet(0), GlobalGet(0), I32Const(0), I32LtS, If, Unreachable, End,
)

func (p *program) function(t FuncType) []byte {
	p.typ, p.labels = t, [][]byte{t.Results}
	p.locals = append(slices.Clone(t.Params), I32, I64, I32)
	body := slices.Concat([]byte{3, 1, I32, 1, I64, 1, I32}, turn, p.statements(0))
	return slices.Concat(body, p.values(t.Results, 0), End)
}

func (p *program) statements(depth int) (code []byte) {
	for range p.choose(4) {
		code = append(code, p.statement(depth)...)
	}
	return code
}

func (p *program) values(types []byte, depth int) (code []byte) {
	for _, t := range types {
		code = append(code, p.value(t, depth+1)...)
	}
	return code
}

// statement is code that leaves the stack as it was.
func (p *program) statement(depth int) []byte {
	if depth >= programDepth {
		return p.set(depth)
	}
	i := func() []byte { return p.value(I32, depth+1) }
	switch p.choose(16) {
	case 0, 1, 2:
		return p.set(depth)
	case 3:
		return slices.Concat(p.address(depth), i(), I32Store)
	case 4:
		return slices.Concat(p.address(depth), p.value(I64, depth+1), I64Store)
	case 5:
		return slices.Concat(i(), If, p.within(nil, func() []byte { return p.statements(depth + 1) }), End)
	case 6:
		return slices.Concat(Block, p.within(nil, func() []byte { return p.statements(depth + 1) }), End)
	case 7:
		return p.loop(depth)
	case 8:
		return p.leave(depth)
	case 9:
		return slices.Concat(p.length(depth), p.length(depth), p.length(depth), MemoryCopy)
	case 10:
		return slices.Concat(p.length(depth), i(), p.length(depth), []byte{0xfc, 11, 0})
	case 11:
		return slices.Concat(p.length(depth), I32Const(int32(p.choose(4))), I32Const(int32(p.choose(250))), []byte{0xfc, 8, 1, 0})
	case 12:
		return p.table()
	case 13:
		return slices.Concat(I32Const(int32(p.choose(3))), MemoryGrow, Drop)
	case 14:
		return slices.Concat(p.value(I64, depth+1), Drop)
	}
	return slices.Concat(I32Const(int32(p.next())), I32Const(100), I32Const(64), MemoryCopy) // of a length that the code names
}

func (p *program) table() []byte {
	slot := func() []byte { return I32Const(int32(p.choose(12))) }
	switch p.choose(5) {
	case 0:
		return slices.Concat(slot(), []byte{0xd2, p.choose(programFuncs)}, slot(), []byte{0xfc, 17, 0}) // fill
	case 1:
		return slices.Concat(slot(), slot(), slot(), []byte{0xfc, 14, 0, 0}) // copy
	case 2:
		return slices.Concat(slot(), slot(), slot(), []byte{0xfc, 12, 1, 0}) // init
	case 3:
		return slices.Concat(RefNull, slot(), TableGrow(0), GlobalSet(1))
	}
	return slices.Concat(slot(), slot(), []byte{0x25, 0, 0x26, 0}) // get and set
}

func (p *program) set(depth int) []byte {
	if p.choose(4) == 0 {
		g := 1 + p.choose(2)
		return slices.Concat(p.value([]byte{I32, I64}[g-1], depth+1), GlobalSet(uint32(g)))
	}
	l := p.choose(len(p.locals))
	return slices.Concat(p.value(p.locals[l], depth+1), LocalSet(uint32(l)))
}

// within writes the inside of a block whose label takes these types.
func (p *program) within(label []byte, inside func() []byte) []byte {
	p.labels = append(p.labels, label)
	defer func() { p.labels = p.labels[:len(p.labels)-1] }()
	return inside()
}

// loop goes round while a value says so, with or without an operand.
func (p *program) loop(depth int) []byte {
	if p.choose(2) == 0 {
		return slices.Concat(Loop, turn, p.within(nil, func() []byte {
			return slices.Concat(p.statements(depth+1), p.value(I32, depth+2), BrIf(0))
		}), End)
	}
	return slices.Concat(p.value(I32, depth+1), []byte{0x03, 0}, p.within([]byte{I32}, func() []byte { // of type (i32)->(i32)
		return slices.Concat(LocalSet(uint32(len(p.locals)-1)), turn, p.statements(depth+1), LocalGet(uint32(len(p.locals)-1)), p.value(I32, depth+2), BrIf(0))
	}), End, GlobalSet(1))
}

// leave branches out, in one of the ways there are.
func (p *program) leave(depth int) []byte {
	to := p.choose(len(p.labels))
	label := p.labels[len(p.labels)-1-int(to)]
	values := p.values(label, depth)
	var drop []byte
	for range label {
		drop = append(drop, Drop...)
	}
	switch p.choose(4) {
	case 0:
		return slices.Concat(values, p.value(I32, depth+1), BrIf(uint32(to)), drop)
	case 1:
		return slices.Concat(p.value(I32, depth+1), If, p.within(nil, func() []byte { return slices.Concat(values, Br(uint32(to)+1)) }), End)
	case 2:
		return slices.Concat(p.value(I32, depth+1), If, p.within(nil, func() []byte { return slices.Concat(p.values(p.typ.Results, depth), Return) }), End)
	}
	return p.jump(depth)
}

// jump is a br_table among the labels that take nothing, in a block of its own.
func (p *program) jump(depth int) []byte {
	var targets []byte
	for i := range p.labels {
		if len(p.labels[len(p.labels)-1-i]) == 0 {
			targets = append(targets, byte(i+1))
		}
	}
	targets = append(targets, 0)
	return slices.Concat(Block, p.within(nil, func() []byte { return p.value(I32, depth+1) }), []byte{0x0e}, Vector(singles(targets)...), []byte{0}, End)
}

// address is where eight bytes mostly fit.
func (p *program) address(depth int) []byte {
	return slices.Concat(p.value(I32, depth+1), I32Const(0x3ffff), []byte{0x71})
}

// length is a number up to half a million: the memory has a quarter to half a million bytes, a piece a sixteenth.
func (p *program) length(depth int) []byte {
	if p.choose(3) == 0 {
		return slices.Concat(p.value(I32, depth+1), I32Const(0x7ffff), []byte{0x71})
	}
	return I32Const(int32(p.next())<<10 | int32(p.next()))
}

// value is code that leaves a value of this type.
func (p *program) value(t byte, depth int) []byte {
	if depth >= programDepth {
		return p.leaf(t)
	}
	switch p.choose(12) {
	case 0, 1, 2, 3:
		return p.leaf(t)
	case 4, 5:
		return p.binary(t, depth)
	case 6:
		return slices.Concat(p.value(I32, depth+1), []byte{0x04, t}, p.within([]byte{t}, func() []byte {
			return slices.Concat(p.statements(depth+1), p.value(t, depth+1), Else, p.value(t, depth+1))
		}), End)
	case 7:
		return slices.Concat([]byte{0x02, t}, p.within([]byte{t}, func() []byte {
			return slices.Concat(p.statements(depth+1), p.value(t, depth+1))
		}), End)
	case 8:
		return slices.Concat(p.value(t, depth+1), p.value(t, depth+1), p.value(I32, depth+1), []byte{0x1b}) // select
	case 9:
		return p.call(t, depth, false)
	case 10:
		return p.call(t, depth, true)
	}
	return p.convert(t, depth)
}

func (p *program) leaf(t byte) []byte {
	var same []byte
	for i, l := range p.locals {
		if l == t {
			same = append(same, byte(i))
		}
	}
	switch p.choose(4) {
	case 0:
		if t == I32 {
			return I32Const(int32(int8(p.next())))
		}
		return I64Const(int64(p.next()) << (p.next() % 64))
	case 1:
		return GlobalGet(map[byte]uint32{I32: 1, I64: 2}[t])
	}
	return LocalGet(uint32(same[p.choose(len(same))]))
}

// binary is an operation on two values: arithmetic, bits, shifts, and divisions, which may trap.
func (p *program) binary(t byte, depth int) []byte {
	op := 0x6a + p.choose(15)
	if t == I64 {
		op += 0x7c - 0x6a
	}
	return slices.Concat(p.value(t, depth+1), p.value(t, depth+1), []byte{op})
}

func (p *program) convert(t byte, depth int) []byte {
	if t == I64 {
		if p.choose(2) == 0 {
			return slices.Concat(p.value(I32, depth+1), []byte{0xac})
		}
		return slices.Concat(p.address(depth), []byte{0x29, 3, 0})
	}
	switch p.choose(4) {
	case 0:
		return slices.Concat(p.value(I64, depth+1), I32WrapI64)
	case 1:
		return slices.Concat(p.value(I64, depth+1), p.value(I64, depth+1), []byte{0x51 + p.choose(10)})
	case 2:
		return MemorySize
	}
	return slices.Concat(p.address(depth), I32Load)
}

// call calls a function that leaves a value of this type, and drops what else it leaves.
func (p *program) call(t byte, depth int, indirect bool) []byte {
	f := p.choose(programFuncs)
	typ := p.types[f]
	callee := programTypes[typ]
	code := p.values(callee.Params, depth)
	if indirect {
		code = slices.Concat(code, I32Const(int32(f)+int32(p.choose(8)/7)), CallIndirect(uint32(typ)))
	} else {
		code = slices.Concat(code, Call(uint32(f)))
	}
	have := byte(0)
	switch len(callee.Results) {
	case 1:
		have = callee.Results[0]
	case 2: // (i32, i64)
		if t == I64 {
			return slices.Concat(code, GlobalSet(2), GlobalSet(1), GlobalGet(2))
		}
		return slices.Concat(code, Drop)
	}
	switch have {
	case t:
		return code
	case I32:
		return slices.Concat(code, []byte{0xad})
	case I64:
		return slices.Concat(code, I32WrapI64)
	}
	return slices.Concat(code, p.leaf(t))
}
