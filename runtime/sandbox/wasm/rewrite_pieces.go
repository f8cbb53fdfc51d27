package wasm

// pieceBytes is how much of a memory is copied or filled at once, and constantBytes up to which length that is known from the
// code it is charged with the code.
const (
	pieceBytes    = 64 << 10
	constantBytes = 4096
)

// How much of memories and tables one unit of fuel pays for, as shifts: 256 bytes, 16 elements.
const (
	memoryShift = 8
	tableShift  = 4
)

// pieces are the functions that work on memory piece by piece, made when code first needs them.
type pieces struct {
	added          []function
	copier, filler uint32            // their indices; 0 while there is none
	initers        map[uint32]uint32 // by data segment
}

// constantLength returns the length that the instruction before an operation on memory gives it, if it is short.
func constantLength(in, before *instr) (uint32, bool) {
	if in.op != opBulk || in.sub != bulkMemoryCopy && in.sub != bulkMemoryFill || before.op != opI32Const {
		return 0, false
	}
	return before.a, before.a <= constantBytes
}

// pieceWeight is what an operation on a piece of memory of a known length weighs beside the instruction.
func pieceWeight(in, before *instr) uint32 {
	n, ok := constantLength(in, before)
	if !ok {
		return 0
	}
	return n >> memoryShift * fuelUnit
}

// measured says that the length of an operation is charged where it stands.
func measured(sub uint32) bool {
	switch sub {
	case bulkMemoryInit, bulkTableInit, bulkTableCopy, bulkTableGrow, bulkTableFill:
		return true
	}
	return false
}

// bulk writes what stands for an operation on a piece, or before it. It reports true when it wrote all of it.
func (b *body) bulk(in *instr) bool {
	if _, short := constantLength(in, &b.last); short {
		return false
	}
	switch in.sub {
	case bulkMemoryCopy:
		b.out = appendGet(b.out, opCall, b.copy())
		return true
	case bulkMemoryFill:
		b.out = appendGet(b.out, opCall, b.fill())
		return true
	case bulkMemoryInit:
		return b.memoryInit(in.a)
	case bulkDataDrop:
		b.out = appendU32(append(b.out, opBulk, bulkDataDrop), b.movedData(in.a))
		return true
	case bulkTableInit, bulkTableCopy, bulkTableGrow, bulkTableFill:
		b.measure(tableShift)
	}
	return false
}

// memoryInit writes a memory.init. An active segment has nothing left to copy.
func (b *body) memoryInit(segment uint32) bool {
	if data := b.m.data; int64(segment) < int64(len(data)) && data[segment].offset == nil && len(data[segment].content) > pieceBytes {
		b.out = appendGet(b.out, opCall, b.initer(segment))
		return true
	}
	b.measure(memoryShift)
	b.out = append(b.out, b.initOperation(segment)...)
	return true
}

func (w *rewriter) initOperation(segment uint32) []byte {
	return append(appendU32([]byte{opBulk, bulkMemoryInit}, w.movedData(segment)), 0)
}

// measure charges for the length on top of the stack, which it leaves there.
func (b *body) measure(shift byte) {
	b.out = appendGet(b.out, opLocalTee, b.scratch)
	b.out = b.chargeLength(b.out, b.scratch, shift)
}

// copy returns the function that is memory.copy in pieces: (to, from, length).
func (w *rewriter) copy() uint32 {
	if w.pieces.copier == 0 {
		w.pieces.copier = w.add(w.copyBody())
	}
	return w.pieces.copier
}

// fill returns the function that is memory.fill in pieces: (to, byte, length).
func (w *rewriter) fill() uint32 {
	if w.pieces.filler == 0 {
		w.pieces.filler = w.add(w.fillBody())
	}
	return w.pieces.filler
}

// initer returns the function that is memory.init in pieces: (to, from, length).
func (w *rewriter) initer(segment uint32) uint32 {
	i, ok := w.pieces.initers[segment]
	if !ok {
		if w.pieces.initers == nil {
			w.pieces.initers = map[uint32]uint32{}
		}
		i = w.add(w.initBody(segment))
		w.pieces.initers[segment] = i
	}
	return i
}

func (w *rewriter) add(body []byte) uint32 {
	typ := w.typ(FuncType{Params: []byte{I32, I32, I32}})
	w.pieces.added = append(w.pieces.added, function{typ: typ, body: body})
	return w.moved(uint32(w.m.functions() + len(w.pieces.added) - 1))
}

// The locals of the functions in pieces: their parameters, and how much the next piece is.
const (
	localTo = iota
	localOther
	localLength
	localPiece
)

// onePiece is the begin of the functions: where the length is that of one piece at most, or goes beyond the memory or what is
// copied from, which traps before anything is written, the operation is done as a whole. beyondOther pushes 1 in the latter case.
func (w *rewriter) onePiece(operation, beyondOther []byte) []byte {
	out := []byte{1, 1, I32} // one group of locals: one, of type i32
	out = w.chargeLengthUpTo(out, operation)
	out = append(out, beyond(localTo)...)
	if beyondOther != nil {
		out = append(append(out, beyondOther...), opI32Or)
	}
	out = append(out, opIf, 0x40)
	out = append(out, operands(localTo, localOther, localLength)...)
	out = append(out, operation...)
	return append(out, opReturn, opEnd)
}

// chargeLengthUpTo does one piece.
func (w *rewriter) chargeLengthUpTo(out, operation []byte) []byte {
	out = append(out, opLocalGet, localLength, opI32Const)
	out = append(appendS64(out, pieceBytes), opI32LeU, opIf, 0x40)
	out = w.chargeLength(out, localLength, memoryShift)
	out = append(out, operands(localTo, localOther, localLength)...)
	out = append(out, operation...)
	return append(out, opReturn, opEnd)
}

// beyond pushes 1 if an address and the length go beyond the memory, else 0.
func beyond(address byte) []byte {
	return []byte{
		opLocalGet, address, opI64ExtendI32U, opLocalGet, localLength, opI64ExtendI32U, opI64Add,
		opMemorySize, 0, opI64ExtendI32U, opI64Const, 16, opI64Shl, opI64GtU,
	}
}

func operands(locals ...byte) (out []byte) {
	for _, l := range locals {
		out = append(out, opLocalGet, l)
	}
	return out
}

var (
	memoryCopy = []byte{opBulk, bulkMemoryCopy, 0, 0}
	memoryFill = []byte{opBulk, bulkMemoryFill, 0}
)

// loop writes a loop that takes one piece after the other until nothing is left.
func (w *rewriter) loop(piece ...[]byte) []byte {
	out := []byte{opLoop, 0x40}
	// The next piece: at most pieceBytes, at most what is left.
	out = append(appendS64(append(out, opI32Const), pieceBytes), opLocalGet, localLength)
	out = append(appendS64(append(out, opI32Const), pieceBytes), opLocalGet, localLength, opI32LtU)
	out = append(out, opSelect, opLocalSet, localPiece)
	out = w.chargeLength(out, localPiece, memoryShift)
	out = append(out, opLocalGet, localLength, opLocalGet, localPiece, opI32Sub, opLocalSet, localLength)
	for _, p := range piece {
		out = append(out, p...)
	}
	return append(out, opLocalGet, localLength, opBrIf, 0, opEnd)
}

// advance moves an address on by the piece.
func advance(address byte) []byte {
	return []byte{opLocalGet, address, opLocalGet, localPiece, opI32Add, opLocalSet, address}
}

// plusLeft pushes an address moved on by what is left.
func plusLeft(address byte) []byte {
	return []byte{opLocalGet, address, opLocalGet, localLength, opI32Add}
}

func (w *rewriter) fillBody() []byte {
	out := w.onePiece(memoryFill, nil)
	out = append(out, w.loop(operands(localTo, localOther, localPiece), memoryFill, advance(localTo))...)
	return append(out, opEnd)
}

// initBody traps at the first piece where the segment was dropped.
func (w *rewriter) initBody(segment uint32) []byte {
	operation := w.initOperation(segment)
	behind := []byte{opLocalGet, localOther, opI64ExtendI32U, opLocalGet, localLength, opI64ExtendI32U, opI64Add, opI64Const}
	behind = append(appendS64(behind, int64(len(w.m.data[segment].content))), opI64GtU)
	out := w.onePiece(operation, behind)
	out = append(out, w.loop(operands(localTo, localOther, localPiece), operation, advance(localTo), advance(localOther))...)
	return append(out, opEnd)
}

// copyBody copies forward when the target lies before the source, and from the end otherwise, so that a piece is read before
// it is written over.
func (w *rewriter) copyBody() []byte {
	out := w.onePiece(memoryCopy, beyond(localOther))
	out = append(out, opLocalGet, localTo, opLocalGet, localOther, opI32LeU, opIf, 0x40)
	out = append(out, w.loop(operands(localTo, localOther, localPiece), memoryCopy, advance(localTo), advance(localOther))...)
	out = append(out, opElse)
	out = append(out, w.loop(plusLeft(localTo), plusLeft(localOther), operands(localPiece), memoryCopy)...)
	return append(out, opEnd, opEnd)
}
