package wasm

// charge takes units from the gauge.
func (b *body) charge(fuel uint64, stack uint32) {
	b.out = appendGet(b.out, opGlobalGet, b.gauge)
	b.out = appendS64(append(b.out, opI64Const), int64(fuel)+int64(stack)<<32)
	b.out = appendGet(append(b.out, opI64Sub), opGlobalSet, b.gauge)
}

// giveBack returns the function's stack to the gauge.
func (b *body) giveBack() {
	if b.stack == 0 {
		return
	}
	b.out = appendGet(b.out, opGlobalGet, b.gauge)
	b.out = appendS64(append(b.out, opI64Const), int64(b.stack)<<32)
	b.out = appendGet(append(b.out, opI64Add), opGlobalSet, b.gauge)
}

// chargeLength charges for a length in a local, and has the gauge refilled if it has to be.
func (w *rewriter) chargeLength(out []byte, local uint32, shift byte) []byte {
	out = appendGet(out, opGlobalGet, w.gauge)
	out = appendGet(out, opLocalGet, local)
	out = append(out, opI32Const, shift, opI32ShrU, opI64ExtendI32U, opI64Sub)
	return w.refillIfEmpty(appendGet(out, opGlobalSet, w.gauge))
}

// refillIfEmpty has the gauge refilled when its fuel is below zero.
func (w *rewriter) refillIfEmpty(out []byte) []byte {
	out = append(w.fuel(out, opI32LtS), opIf, 0x40)
	return append(w.refilled(out), opEnd)
}

// fuel compares the fuel with zero.
func (w *rewriter) fuel(out []byte, comparison byte) []byte {
	return append(appendGet(out, opGlobalGet, w.gauge), opI32WrapI64, opI32Const, 0, comparison)
}

// refilled asks the host.
func (w *rewriter) refilled(out []byte) []byte {
	out = appendGet(out, opGlobalGet, w.gauge)
	return appendGet(appendGet(out, opCall, w.refill), opGlobalSet, w.gauge)
}

// blockOf appends the type of a block with these results.
func (w *rewriter) blockOf(out, results []byte) []byte {
	switch len(results) {
	case 0:
		return append(out, 0x40)
	case 1:
		return append(out, results[0])
	}
	return appendS64(out, int64(w.typ(FuncType{Results: results})))
}

// appendGet appends an instruction with one index.
func appendGet(b []byte, op byte, index uint32) []byte { return appendU32(append(b, op), index) }
