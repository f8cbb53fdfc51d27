package wasm

// references are globals behind the gauge, each of which holds a reference to a function that code asks for. The compiler's
// code makes a new one each time, and keeps it as long as the instance.
type references struct {
	functions []uint32          // the function of each global, by its old index
	globals   map[uint32]uint32 // the index of the global, by the function
}

// reference returns the index of the global that refers to a function.
func (w *rewriter) reference(function uint32) uint32 {
	i, ok := w.refs.globals[function]
	if !ok {
		if w.refs.globals == nil {
			w.refs.globals = map[uint32]uint32{}
		}
		w.refs.functions = append(w.refs.functions, function)
		i = w.gauge + uint32(len(w.refs.functions))
		w.refs.globals[function] = i
	}
	return i
}

// referenceGlobals appends the globals.
func (w *rewriter) referenceGlobals(b []byte) []byte {
	for _, f := range w.refs.functions {
		b = appendGet(append(b, FuncRef, 0), opRefFunc, w.moved(f))
		b = append(b, opEnd)
	}
	return b
}

// declare notes that a function is named outside of code. Only to such ones can code refer: the globals would name any.
func (m *Module) declare(function uint32) {
	if m.declared == nil {
		m.declared = make([]bool, m.functions())
	}
	if int64(function) < int64(len(m.declared)) {
		m.declared[function] = true
	}
}

func (m *Module) isDeclared(function uint32) bool {
	return int64(function) < int64(len(m.declared)) && m.declared[function]
}
