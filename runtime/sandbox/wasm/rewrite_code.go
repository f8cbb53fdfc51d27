package wasm

// refillType is the type of the refill function.
var refillType = FuncType{Params: []byte{I64}, Results: []byte{I64}}

// code writes the code section. The error is a *CapError.
func (w *rewriter) code() ([]byte, error) {
	var bodies []byte
	n := 0
	add := func(body []byte) error {
		n++
		bodies = append(appendU32(bodies, uint32(len(body))), body...)
		if len(bodies) > int(w.m.caps.RewrittenBytes) {
			return &CapError{What: "bytes of code once it is rewritten", Found: uint64(len(bodies)), Limit: uint64(w.m.caps.RewrittenBytes)}
		}
		return nil
	}
	for i := range w.m.funcs {
		if err := add(w.function(&w.m.funcs[i])); err != nil {
			return nil, err
		}
	}
	for _, f := range w.pieces.added {
		if err := add(f.body); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, nil
	}
	return append(appendU32(make([]byte, 0, len(bodies)+5), uint32(n)), bodies...), nil
}

// body is one function while it is rewritten.
type body struct {
	*rewriter
	f       *function
	typ     FuncType
	r       reader // stands in f.body
	out     []byte
	scratch uint32  // the index of a local of type i32 that was added
	stack   uint32  // stack units that the function accounts for; 0 when it calls nobody
	labels  []label // what branches can name: the function itself, and the blocks around the instruction
	weight  uint64  // of the code up to here
	scale   scale
	last    instr // the instruction before
	copied  int   // how much of f.body is written
}

// label is a block, or the function.
type label struct {
	loop   bool
	params bool   // a branch to it takes operands along
	start  uint64 // the weight up to its begin
}

// function returns the new body of a function:
//
//	charge
//	block $out
//	  loop $again
//	    block $empty
//	      br_if $empty (fuel < 0)
//	      block
//	        the body as it was, whose branches out of the function end here
//	      end
//	      br $out
//	    end
//	    refill
//	    br $again
//	  end
//	end
//	give the stack back
//
// So the path that is taken nearly always is the straight one; the compiler keeps the order.
func (w *rewriter) function(f *function) []byte {
	b := &body{rewriter: w, f: f, typ: w.m.Types[f.typ], r: reader{b: f.body, pos: f.code}, copied: f.code, scale: w.m.newScale(f)}
	values := uint32(len(b.typ.Params)) + f.locals
	b.scratch = values
	b.out = make([]byte, 0, len(f.body)+len(f.body)/4+64)
	b.locals()
	fuel := 1 + f.weight/fuelUnit
	if f.calls {
		bytes := frame(uint64(f.slots)+f.places, f.plain)
		b.stack = bytes / stackUnit
		fuel += uint64(bytes / stackPerFuel)
	}
	b.charge(fuel, b.stack)
	b.out = b.blockOf(append(b.out, opBlock), b.typ.Results)
	b.out = append(b.out, opLoop, 0x40, opBlock, 0x40)
	b.out = append(b.fuel(b.out, opI32LtS), opBrIf, 0)
	b.out = b.blockOf(append(b.out, opBlock), b.typ.Results)
	b.instructions()
	b.out = append(b.out, opBr, 2, opEnd)
	b.out = append(b.refilled(b.out), opBr, 0, opEnd, opUnreachable, opEnd)
	b.giveBack()
	b.out = append(b.out, opEnd)
	return b.out
}

// locals copies the declarations, with the scratch local behind the others.
func (b *body) locals() {
	if !b.f.scratch {
		b.out = append(b.out, b.f.body[:b.f.code]...)
		return
	}
	head := reader{b: b.f.body}
	b.out = appendU32(b.out, head.u32()+1)
	b.out = append(b.out, b.f.body[head.pos:b.f.code]...)
	b.out = append(b.out, 1, I32)
}

// instructions copies the code.
func (b *body) instructions() {
	b.labels = append(b.labels, label{})
	var in instr
	for b.r.more() {
		b.r.next(&in)
		b.weight += b.scale.weigh(&in, b.f.body)
		b.instruction(&in)
		b.last = in
	}
	b.copyUpTo(len(b.f.body))
}

// copyUpTo copies what was read and not written yet, up to a place in the body.
func (b *body) copyUpTo(at int) {
	b.out = append(b.out, b.f.body[b.copied:at]...)
	b.copied = at
}

// instruction writes what stands for an instruction, or before it; one that stays as it is waits to be copied with others.
func (b *body) instruction(in *instr) {
	switch in.op {
	case opBlock, opLoop, opIf:
		b.labels = append(b.labels, label{in.op == opLoop, b.takesOperands(in), b.weight})
	case opEnd:
		b.labels = b.labels[:len(b.labels)-1]
	case opBr, opBrIf:
		if l := b.label(in.a); l.loop && !b.scale.jump.forward {
			b.copyUpTo(in.at)
			b.branch(in, l)
		}
	case opBrTable:
		b.branchTable(in)
	case opReturn:
		b.copyUpTo(in.at)
		b.out = appendGet(b.out, opBr, uint32(len(b.labels)-1))
		b.copied = in.end
	case opCall:
		b.copyUpTo(in.at)
		b.out = appendGet(b.out, opCall, b.moved(in.a))
		b.copied = in.end
	case opRefFunc:
		b.copyUpTo(in.at)
		b.out = appendGet(b.out, opGlobalGet, b.reference(in.a))
		b.copied = in.end
	case opBulk:
		b.copyUpTo(in.at)
		if b.bulk(in) {
			b.copied = in.end
		}
	}
}

// takesOperands says that a loop has parameters.
func (b *body) takesOperands(in *instr) bool {
	return in.op == opLoop && in.a != noType && len(b.m.Types[in.a].Params) > 0
}

// label returns what a branch of this depth names.
func (b *body) label(depth uint32) label {
	return b.labels[len(b.labels)-1-int(depth)]
}

// back is what a branch to a loop charges: the code between where it goes and where it stands, which can now run again. What lies
// ahead of where it stands was charged for and did not run, so that one which goes ahead charges nothing.
func (b *body) back(l label) uint64 {
	if j := b.scale.jump; j.known {
		return 1 + (b.weight-j.from+j.through)/fuelUnit
	}
	return 1 + (b.weight-l.start)/fuelUnit
}

// branch writes a br or br_if to a loop. It is taken where the fuel lasts, and otherwise after the refill.
func (b *body) branch(in *instr, l label) {
	switch {
	case in.op == opBr:
		b.branchBack(l, in.a)
	case l.params: // which an if could not reach: charge whether it is taken or not, and leave the branch as it is
		b.charge(b.back(l), 0)
		b.out = b.refillIfEmpty(b.out)
		return
	default:
		b.out = append(b.out, opIf, 0x40)
		b.branchBack(l, in.a+1)
		b.out = append(b.out, opEnd)
	}
	b.copied = in.end
}

func (b *body) branchBack(l label, depth uint32) {
	b.charge(b.back(l), 0)
	b.out = appendGet(b.fuel(b.out, opI32GeS), opBrIf, depth)
	b.out = appendGet(b.refilled(b.out), opBr, depth)
}

// branchTable charges for a br_table that can go to loops: for the one that began first.
func (b *body) branchTable(in *instr) {
	targets := reader{b: b.f.body, pos: in.targets}
	most := uint64(0)
	for range in.count + 1 {
		if l := b.label(targets.u32()); l.loop {
			most = max(most, b.back(l))
		}
	}
	if most > 0 {
		b.copyUpTo(in.at)
		b.charge(most, 0)
		b.out = b.refillIfEmpty(b.out)
	}
}
