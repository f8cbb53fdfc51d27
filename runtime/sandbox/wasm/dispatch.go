package wasm

// dispatch is a loop that begins with blocks and a br_table on a local out of them, which is how Go compiles every jump within
// a function: the local is set to the number of where to go, and a branch goes to the loop. Where the number is known, such a
// branch goes to the end of one of the blocks, and not to whatever the loop can come to.
type dispatch struct {
	local   uint32
	blocks  []passed // outermost first
	targets []uint32 // the block for each number, and at last the one for all others
}

// passed says whether the end of a block was read, and what the code up to there weighs.
type passed struct {
	ended bool
	at    uint64
}

// jump is where a branch to a dispatch goes to.
type jump struct {
	known   bool
	forward bool
	from    uint64 // what the code weighs up to where it goes
	through uint64 // what it takes to get there
}

// dispatchWeight is that of a local.get and a br_table.
const dispatchWeight = 5

// follow looks for dispatches, for their ends and for branches to them, before the label of the instruction is opened or closed.
func (s *scale) follow(in *instr, code []byte) {
	opening := s.opening
	s.opening, s.jump = nil, jump{}
	switch in.op {
	case opLoop:
		if in.a == noType || s.m.shapes[in.a].params == 0 {
			s.opening = new(dispatch)
		}
	case opBlock:
		s.opening = opening
	case opLocalGet:
		if opening != nil && s.last.op == opBlock {
			opening.local = in.a
			s.opening = opening
		}
	case opBrTable:
		if opening != nil && s.last.op == opLocalGet && opening.read(in, code) {
			s.labels[len(s.labels)-1-len(opening.blocks)].dispatch = opening
		}
	case opEnd:
		if l := s.labels[len(s.labels)-1]; l.part != nil {
			l.part.blocks[l.place] = passed{true, s.total}
		}
	case opBr:
		s.jump = s.jumpTo(s.labels[len(s.labels)-1-int(in.a)])
	}
}

// read takes over the targets of a br_table, and says whether all of them are blocks of the dispatch.
func (d *dispatch) read(in *instr, code []byte) bool {
	d.targets = make([]uint32, 0, in.count+1)
	targets := reader{b: code, pos: in.targets}
	for range in.count + 1 {
		depth := targets.u32()
		if depth >= uint32(len(d.blocks)) {
			return false
		}
		d.targets = append(d.targets, uint32(len(d.blocks))-1-depth)
	}
	return true
}

// jumpTo returns where a br to a label goes, if what the local of its dispatch was set to stands just before. What it takes to get
// there is the dispatch, and the locals that differ where paths meet at the loop's begin.
func (s *scale) jumpTo(l ends) jump {
	d := l.dispatch
	if d == nil || s.last.op != opLocalSet || s.last.a != d.local || s.before.op != opI32Const {
		return jump{}
	}
	block := d.blocks[d.targets[min(s.before.a, uint32(len(d.targets)-1))]]
	return jump{known: true, forward: !block.ended, from: block.at, through: dispatchWeight + min(s.sets-l.sets, s.locals)}
}
