package wasm

// weight is how long an instruction takes at worst, in simple instructions. A length that it works on counts where the
// instruction before says what it is and it is short.
func weight(in, before *instr) uint64 {
	switch in.op {
	case opBulk:
		return uint64(bulkWeight(in.sub)) + uint64(pieceWeight(in, before))
	case opVector:
		return uint64(vectorWeight(in.sub))
	}
	return uint64(weights[in.op])
}

// weights are those of the instructions of one byte. A load or store may miss every cache.
var weights = func() (w [256]uint8) {
	for op := range w {
		w[op] = 1
	}
	for op := 0x28; op <= 0x3e; op++ {
		w[op] = 4
	}
	for _, op := range []byte{0x01, opBlock, opLoop, opElse, opEnd} {
		w[op] = 0
	}
	for _, op := range []byte{opBrTable, opCall, 0x25, 0x26} { // and table.get and table.set
		w[op] = 4
	}
	for _, op := range []byte{opCallIndirect, 0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82, 0x91, 0x95, 0x9f, 0xa3} {
		w[op] = 8 // divisions and square roots too
	}
	w[opMemoryGrow] = 64
	return w
}()

func bulkWeight(sub uint32) uint32 {
	switch {
	case sub <= 7: // saturating conversions
		return 2
	case sub == 9 || sub == 13 || sub == 16: // drops and table.size
		return 4
	}
	return 16
}

func vectorWeight(sub uint32) uint32 {
	switch vectorForms[sub] {
	case memArg, memLane:
		return 4
	}
	if sub >= 0xe3 { // square roots and divisions are among them
		return 8
	}
	return 2
}

// frame estimates the bytes of native stack that a call of a function takes. The compiler gives parameters, locals and every
// value that it keeps over a call a place of their own; how many those are is not known here, and grows with the code. slots
// are those that are known, of 8 bytes each.
func frame(slots, weight uint64) uint32 {
	return 64 + uint32(min(8*slots, 1<<28)) + uint32(min(weight, 1<<24))
}
