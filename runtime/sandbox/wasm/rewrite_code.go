package wasm

// refillType is the type of the refill function.
var refillType = FuncType{Params: []byte{I64}, Results: []byte{I64}}

// code writes the code section.
func (w *rewriter) code() []byte {
	bodies := make([][]byte, 0, len(w.m.funcs)+2)
	size := 0
	for i := range w.m.funcs {
		body := w.function(&w.m.funcs[i])
		bodies = append(bodies, body)
		size += len(body) + 5
	}
	for _, f := range w.pieces.added {
		bodies = append(bodies, f.body)
	}
	if len(bodies) == 0 {
		return nil
	}
	b := appendU32(make([]byte, 0, size+5), uint32(len(bodies)))
	for _, body := range bodies {
		b = append(appendU32(b, uint32(len(body))), body...)
	}
	return b
}

// body is one function while it is rewritten.
type body struct {
	*rewriter
	f       *function
	r       reader // stands in f.body
	out     []byte
	scratch uint32 // the index of a local of type i32 that was added
	stack   uint32 // stack units that the function accounts for; 0 when it calls nobody
	labels  []label
	weight  uint64 // of the code up to here
	last    instr  // the instruction before
}

// label is a block that a branch can name.
type label struct {
	loop  bool
	start uint64 // the weight up to its begin
}

// survey is what has to be known of a function before it is written.
type survey struct {
	weight  uint64
	calls   bool
	scratch bool
}

func (w *rewriter) survey(f *function) (s survey) {
	r := reader{b: f.body, pos: f.code}
	last := instr{}
	for r.more() {
		in := r.next()
		s.weight += uint64(in.weight()) + uint64(pieceWeight(&in, &last))
		switch in.op {
		case opCall, opCallIndirect:
			s.calls = true
		case opBulk:
			s.scratch = s.scratch || measured(in.sub)
		}
		last = in
	}
	return s
}

// function returns the new body of a function.
func (w *rewriter) function(f *function) []byte {
	s := w.survey(f)
	t := w.m.Types[f.typ]
	values := uint32(len(t.Params)) + f.locals
	b := &body{rewriter: w, f: f, r: reader{b: f.body, pos: f.code}, scratch: values}
	b.out = make([]byte, 0, len(f.body)+len(f.body)/4+64)
	b.locals(s.scratch)
	fuel := 1 + s.weight/fuelUnit
	if s.calls {
		bytes := frame(values, uint32(min(s.weight, 1<<24)))
		b.stack = bytes / stackUnit
		fuel += uint64(bytes / stackPerFuel)
	}
	b.charge(fuel, b.stack)
	if b.stack == 0 {
		b.instructions()
		return b.out
	}
	b.out = append(b.out, opBlock)
	b.blockOf(t.Results)
	b.instructions()
	b.giveBack()
	b.out = append(b.out, opEnd)
	return b.out
}

// locals copies the declarations, with the scratch local behind the others.
func (b *body) locals(scratch bool) {
	head := reader{b: b.f.body}
	groups := head.u32()
	if !scratch {
		b.out = append(b.out, b.f.body[:b.f.code]...)
		return
	}
	b.out = appendU32(b.out, groups+1)
	b.out = append(b.out, b.f.body[head.pos:b.f.code]...)
	b.out = append(b.out, 1, I32)
}

// blockOf appends the type of a block with these results.
func (b *body) blockOf(results []byte) {
	switch len(results) {
	case 0:
		b.out = append(b.out, 0x40)
	case 1:
		b.out = append(b.out, results[0])
	default:
		b.out = appendS64(b.out, int64(b.typ(FuncType{Results: results})))
	}
}

// charge takes units from the gauge, and has it refilled when the fuel is below zero.
func (b *body) charge(fuel uint64, stack uint32) {
	b.out = appendGet(b.out, opGlobalGet, b.gauge)
	b.out = appendS64(append(b.out, opI64Const), int64(fuel)+int64(stack)<<32)
	b.out = append(b.out, opI64Sub)
	b.out = b.settle(b.out)
}

// settle stores the gauge that lies on the stack, after it was refilled if it had to be.
func (w *rewriter) settle(out []byte) []byte {
	out = appendGet(out, opGlobalSet, w.gauge)
	out = appendGet(out, opGlobalGet, w.gauge)
	out = append(out, opI32WrapI64, opI32Const, 0, opI32LtS, opIf, 0x40)
	out = appendGet(out, opGlobalGet, w.gauge)
	out = appendGet(out, opCall, w.refill)
	out = appendGet(out, opGlobalSet, w.gauge)
	return append(out, opEnd)
}

// giveBack returns the function's stack to the gauge.
func (b *body) giveBack() {
	b.out = appendGet(b.out, opGlobalGet, b.gauge)
	b.out = appendS64(append(b.out, opI64Const), int64(b.stack)<<32)
	b.out = append(b.out, opI64Add)
	b.out = appendGet(b.out, opGlobalSet, b.gauge)
}

// appendGet appends an instruction with one index.
func appendGet(b []byte, op byte, index uint32) []byte { return appendU32(append(b, op), index) }

// instructions copies the code with its end.
func (b *body) instructions() {
	b.labels = append(b.labels, label{})
	for len(b.labels) > 0 && b.r.more() {
		in := b.r.next()
		b.weight += uint64(in.weight()) + uint64(pieceWeight(&in, &b.last))
		b.instruction(&in)
		b.last = in
	}
}

func (b *body) instruction(in *instr) {
	switch in.op {
	case opBlock, opLoop, opIf:
		b.labels = append(b.labels, label{in.op == opLoop, b.weight})
	case opEnd:
		b.labels = b.labels[:len(b.labels)-1]
	case opBr, opBrIf:
		b.back(in.a)
	case opBrTable:
		targets := reader{b: b.f.body, pos: in.targets}
		nearest := b.weight
		back := false
		for range in.count + 1 {
			if l, ok := b.loop(targets.u32()); ok {
				back, nearest = true, min(nearest, l.start)
			}
		}
		if back {
			b.charge(1+(b.weight-nearest)/fuelUnit, 0)
		}
	case opReturn:
		if b.stack != 0 { // leave the block around the body, behind which the stack is given back
			b.out = appendGet(b.out, opBr, uint32(len(b.labels)-1))
			return
		}
	case opCall, opRefFunc:
		b.out = appendGet(b.out, in.op, b.moved(in.a))
		return
	case opBulk:
		if b.bulk(in) {
			return
		}
	}
	b.out = append(b.out, b.f.body[in.at:in.end]...)
}

// back charges for a branch to a loop: what can have run since the loop began, which only goes forward.
func (b *body) back(depth uint32) {
	if l, ok := b.loop(depth); ok {
		b.charge(1+(b.weight-l.start)/fuelUnit, 0)
	}
}

// loop returns the label of a branch, if it is that of a loop.
func (b *body) loop(depth uint32) (label, bool) {
	if uint64(depth) >= uint64(len(b.labels)) {
		return label{}, false // not valid, which the compiler will say
	}
	l := b.labels[len(b.labels)-1-int(depth)]
	return l, l.loop
}
