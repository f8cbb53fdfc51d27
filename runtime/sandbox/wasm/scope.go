package wasm

// scope is what the instruction that is read lies in.
type scope struct {
	*Module
	r      *reader
	locals uint64 // how many there are, parameters included
	loops  []bool // the labels that a branch can name, innermost last; whether they are loops

	nest, deepest uint32 // how many loops the instruction lies in, and how many there are in each other
	branches      uint64
	targets       uint64 // of every br_table
}

// count holds what an instruction adds to against the caps.
func (s *scope) count(in *instr) {
	switch in.op {
	case opBlock, opLoop, opIf:
		s.open(in.op)
	case opEnd:
		if s.loops[len(s.loops)-1] {
			s.nest--
		}
		s.loops = s.loops[:len(s.loops)-1]
	case opBr, opBrIf:
		s.branches++
	case opBulk:
		if measured(in.sub) {
			s.branches++ // what charges for it has one
		}
	case opBrTable:
		s.branches++
		s.targets += uint64(in.count) + 1
		s.totals.targets += uint64(in.count) + 1
		s.r.within("targets of br_table in one function", s.targets, s.caps.BranchTargets)
		s.r.within("targets of br_table in all functions", s.totals.targets, s.caps.AllBranchTargets)
	}
	s.r.within("branches in one function", s.branches, s.caps.Branches)
}

// open counts a block.
func (s *scope) open(op byte) {
	s.r.within("blocks in each other", uint64(len(s.loops)), s.caps.Nesting)
	s.totals.blocks++
	s.r.within("blocks of all functions", s.totals.blocks, s.caps.Blocks)
	s.loops = append(s.loops, op == opLoop)
	switch op {
	case opIf:
		s.branches++
	case opLoop:
		s.nest++
		s.deepest = max(s.deepest, s.nest)
		s.r.within("loops in each other", uint64(s.nest), s.caps.Loops)
	}
}

// products holds the function as a whole against the caps on what takes a compiler time together: it keeps track of every
// local at every branch and in every loop.
func (s *scope) products() {
	s.r.within("times locals by branches of one function", s.locals*s.branches, s.caps.LocalBranches)
	s.r.within("times locals by loops in each other", s.locals*uint64(s.deepest), s.caps.LocalLoops)
}

// values holds those that instructions move and leave against the caps.
func (s *scope) values(sc *scale) {
	s.totals.moved += max(sc.moved, sc.along)
	s.r.within("values of the branches, calls and blocks of all functions", s.totals.moved, s.caps.Moved)
	s.r.within("values that the calls and blocks of one function leave", sc.kept, s.caps.Kept)
}

// indices checks what an instruction names. Types are left to the compiler, but an index beyond the module's own could
// become that of something that Rewrite adds.
func (s *scope) indices(in *instr) {
	check := func(what string, index uint32, n uint64) {
		if s.r.err == nil && uint64(index) >= n {
			s.r.pos = in.at
			s.r.fail("%s %d of %d", what, index, n)
		}
	}
	switch in.op {
	case opBlock, opLoop, opIf:
		if in.a != noType {
			check("type", in.a, uint64(len(s.Types)))
		}
	case opBr, opBrIf:
		check("label", in.a, uint64(len(s.loops)))
	case opBrTable:
		targets := reader{b: s.r.b, pos: in.targets}
		for range in.count + 1 {
			check("label", targets.u32(), uint64(len(s.loops)))
		}
	case opCall:
		check("function", in.a, uint64(s.functions()))
	case opRefFunc:
		check("function", in.a, uint64(s.functions()))
		if s.r.err == nil && !s.isDeclared(in.a) {
			s.r.pos = in.at
			s.r.fail("function %d is referred to, and not named outside of code", in.a)
		}
	case opCallIndirect:
		check("type", in.a, uint64(len(s.Types)))
	case opLocalGet, opLocalSet, opLocalTee:
		check("local", in.a, s.locals)
	case opGlobalGet, opGlobalSet:
		check("global", in.a, uint64(s.items(KindGlobal)))
	}
}
