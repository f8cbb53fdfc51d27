package wasm

// shape is how many places of 8 bytes the values of a type take: a vector takes two.
type shape struct{ params, results uint32 }

func shapeOf(t FuncType) shape { return shape{slots(t.Params), slots(t.Results)} }

func slots(types []byte) (n uint32) {
	for _, t := range types {
		n += slotsOf(t)
	}
	return n
}

func slotsOf(t byte) uint32 {
	if t == V128 {
		return 2
	}
	return 1
}

// freely is how many values go along with a branch or a call for what the instruction weighs by itself. Those of compilers
// have hardly ever more.
const freely = 4

// many returns a number of values that is worth counting.
func many(n uint32) uint64 {
	if n <= freely {
		return 0
	}
	return uint64(n)
}

// scale weighs the instructions of one function, in order.
type scale struct {
	m      *Module
	last   instr
	before instr  // the one before that
	total  uint64 // the weight up to here
	labels []ends
	moved  uint64 // values that the last instruction moved, when they were many
	along  uint64 // values that it may move, those of every target of a br_table
	met    uint64 // locals that it moved, where paths meet
	kept   uint64 // places for results of calls and of blocks, where they are many
	locals uint64 // places of parameters and locals
	sets   uint64 // how often a local was set so far
	merged uint64 // all locals that were moved
	plain  uint64 // the weight without what was moved

	opening *dispatch // of which some instructions were read
	jump    jump      // of the last instruction
}

// ends are how many values go along to a label with a branch, and are there at the end of its block. sets are those of the
// scale when it began.
type ends struct {
	branch, end uint32
	merges      bool
	sets        uint64
	dispatch    *dispatch // that the block is
	part        *dispatch // that the block belongs to
	place       int       // which of its blocks it is
}

func (m *Module) newScale(f *function) scale {
	results := m.shapes[f.typ].results
	return scale{m: m, labels: []ends{{branch: results, end: results}}, locals: uint64(f.slots)}
}

// weigh returns what an instruction weighs, together with the values that it moves: those that go along with a branch, a
// call or the end of a block may each be a load and a store. A branch that goes ahead by way of a dispatch weighs that too. Its indices have been checked; code is what it was read from.
func (s *scale) weigh(in *instr, code []byte) uint64 {
	s.moved, s.along, s.met = 0, 0, 0
	s.follow(in, code)
	switch in.op {
	case opBlock, opLoop, opIf:
		s.begin(in)
	case opElse:
		s.moved = many(s.labels[len(s.labels)-1].end)
	case opEnd:
		s.end()
	case opLocalSet, opLocalTee:
		s.sets++
	case opBr, opBrIf:
		s.moved = many(s.target(in.a))
	case opBrTable:
		s.table(in, code)
	case opReturn:
		s.moved = many(s.labels[0].branch)
	case opCall:
		s.call(s.m.shapes[s.m.types[in.a]])
	case opCallIndirect:
		s.call(s.m.shapes[in.a])
	}
	w := weight(in, &s.last)
	s.plain += w
	s.before, s.last = s.last, *in
	w += s.moved + s.met
	if s.jump.forward {
		w += s.jump.through
	}
	s.total += w
	return w
}

// mergedPerWeight is how many values may be moved where paths meet, for the weight of the code, before each has a place of
// its own in the estimate of a frame: more than in what compilers emit.
const mergedPerWeight = 8

// places are those of results and merged values.
func (s *scale) places() uint64 {
	if most := mergedPerWeight * s.plain; s.merged > most {
		return s.kept + s.merged - most
	}
	return s.kept
}

func (s *scale) begin(in *instr) {
	sh := shape{0, 1}
	if in.a != noType {
		sh = s.m.shapes[in.a]
	}
	l := ends{branch: sh.results, end: sh.results, merges: in.op != opLoop, sets: s.sets}
	if in.op == opLoop {
		l.branch = sh.params
		s.moved = many(sh.params)
	}
	if in.op == opBlock && s.opening != nil {
		l.part, l.place = s.opening, len(s.opening.blocks)
		s.opening.blocks = append(s.opening.blocks, passed{})
	}
	s.labels = append(s.labels, l)
	s.kept += many(sh.params) + many(sh.results)
}

// end moves what a block leaves. Where paths meet, a local that was set on one of them has to be in one place, so that each
// path may move it there.
func (s *scale) end() {
	l := s.labels[len(s.labels)-1]
	s.labels = s.labels[:len(s.labels)-1]
	s.moved = many(l.end)
	if l.merges {
		s.met = min(s.sets-l.sets, s.locals)
		s.merged += s.met
	}
}

func (s *scale) target(depth uint32) uint32 { return s.labels[len(s.labels)-1-int(depth)].branch }

// table moves what the largest of a br_table's targets takes.
func (s *scale) table(in *instr, code []byte) {
	targets := reader{b: code, pos: in.targets}
	for range in.count + 1 {
		n := many(s.target(targets.u32()))
		s.moved, s.along = max(s.moved, n), s.along+n
	}
}

func (s *scale) call(sh shape) {
	s.moved = many(sh.params + sh.results)
	s.kept += many(sh.results)
}
