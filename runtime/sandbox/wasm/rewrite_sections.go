package wasm

import "bytes"

// written is a section of the new module; one without content is left out.
type written struct {
	id      byte
	content []byte
}

// sections returns the new module's sections in order.
func (w *rewriter) sections(code []byte) []written {
	return []written{
		{secType, w.typeSection()},
		{secImport, w.importSection()},
		{secFunction, w.functionSection()},
		{secTable, w.tableSection()},
		{secMemory, w.memorySection()},
		{secGlobal, w.globalSection()},
		{secExport, w.exportSection()},
		{secStart, w.startSection()},
		{secElement, w.elementSection()},
		{secDataCount, w.dataCountSection()},
		{secCode, code},
		{secData, w.dataSection()},
	}
}

// kept returns a section as it was, nil when there was none.
func (w *rewriter) kept(id byte) []byte {
	for _, s := range w.m.sections {
		if s.id == id {
			return w.m.wasm[s.body:s.to]
		}
	}
	return nil
}

// more returns a section that is a vector with so many items more, without the new ones.
func (w *rewriter) more(id byte, have, added int) []byte {
	b := appendU32(nil, uint32(have+added))
	old := w.kept(id)
	r := reader{b: old}
	if old != nil {
		r.u32()
	}
	return append(b, old[r.pos:]...)
}

func (w *rewriter) typeSection() []byte {
	b := w.more(secType, len(w.m.Types), len(w.types)-len(w.m.Types))
	for _, t := range w.types[len(w.m.Types):] {
		b = append(b, 0x60)
		b = append(appendU32(b, uint32(len(t.Params))), t.Params...)
		b = append(appendU32(b, uint32(len(t.Results))), t.Results...)
	}
	return b
}

func (w *rewriter) importSection() []byte {
	b := w.more(secImport, len(w.m.Imports), 1)
	b = appendName(appendName(b, HostModule), RefillImport)
	return appendU32(append(b, byte(KindFunc)), w.typ(refillType))
}

func (w *rewriter) functionSection() []byte {
	b := w.more(secFunction, len(w.m.funcs), len(w.pieces.added))
	for _, f := range w.pieces.added {
		b = appendU32(b, f.typ)
	}
	return b
}

func (w *rewriter) tableSection() []byte {
	if len(w.m.Tables) == 0 {
		return nil
	}
	b := appendU32(nil, uint32(len(w.m.Tables)))
	for _, t := range w.m.Tables {
		b = append(b, t.elem, 1)
		b = appendU32(appendU32(b, t.Min), w.m.tableMax(t))
	}
	return b
}

// memorySection raises each maximum by a page, as far as it can be raised.
func (w *rewriter) memorySection() []byte {
	if len(w.m.Memories) == 0 {
		return nil
	}
	b := appendU32(nil, uint32(len(w.m.Memories)))
	for _, l := range w.m.Memories {
		if l.Max > 0 && l.Max < maxPages {
			l.Max++
		}
		b = appendU32(append(b, flag(l.HasMax)), l.Min)
		if l.HasMax {
			b = appendU32(b, l.Max)
		}
	}
	return b
}

func (w *rewriter) globalSection() []byte {
	b := appendU32(nil, uint32(len(w.m.globals)+1+len(w.refs.functions)))
	for _, g := range w.m.globals {
		b = append(b, g.typ, flag(g.mutable))
		b = w.constant(b, g.init)
	}
	b = append(b, I64, 1, opI64Const)
	b = append(appendS64(b, int64(NewGauge(w.stack))), opEnd)
	return w.referenceGlobals(b)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// constant appends a constant expression. Only a reference to a function changes.
func (w *rewriter) constant(b, expr []byte) []byte {
	if expr[0] != opRefFunc {
		return append(b, expr...)
	}
	r := reader{b: expr, pos: 1}
	b = appendU32(append(b, opRefFunc), w.moved(r.u32()))
	return append(b, expr[r.pos:]...)
}

func (w *rewriter) exportSection() []byte {
	var items []Export
	for _, e := range w.m.Exports {
		if e.Kind == KindFunc {
			e.Index = w.moved(e.Index)
		}
		items = append(items, e)
	}
	items = append(items, Export{GaugeExport, KindGlobal, w.gauge})
	for i, g := range w.m.globals {
		if g.mutable {
			items = append(items, Export{w.m.globalName(i), KindGlobal, uint32(w.m.imported[KindGlobal] + i)})
		}
	}
	b := appendU32(nil, uint32(len(items)))
	for _, e := range items {
		b = appendU32(append(appendName(b, e.Name), byte(e.Kind)), e.Index)
	}
	return b
}

func (w *rewriter) startSection() []byte {
	if !w.m.HasStart {
		return nil
	}
	return appendU32(nil, w.moved(w.m.start))
}

// elementSection copies the segments with the functions in them renumbered.
func (w *rewriter) elementSection() []byte {
	old := w.kept(secElement)
	if old == nil {
		return nil
	}
	var out bytes.Buffer
	r := &reader{b: old}
	from := 0
	flush := func(to int) { out.Write(old[from:to]) }
	var number []byte
	for range r.u32() {
		s := w.m.elementHead(r)
		for range s.count {
			flush(r.pos)
			from = r.pos
			if s.expressions {
				expr := w.m.constExpr(r)
				out.Write(w.constant(number[:0], expr))
			} else {
				out.Write(appendU32(number[:0], w.moved(r.u32())))
			}
			from = r.pos
		}
	}
	flush(len(old))
	return out.Bytes()
}

func (w *rewriter) dataSection() []byte {
	if !w.m.has(secData) {
		return nil
	}
	return dataContent(w.data.segments)
}

func (w *rewriter) dataCountSection() []byte {
	if !w.m.has(secDataCount) {
		return nil
	}
	return appendU32(nil, uint32(uint64(w.m.dataCount)+w.dataAdded()))
}
