package wasm

import "strconv"

// ChangesTables says whether the module's code can change something of an instance that lies neither in its memory nor in its
// globals: an element of a table, how long a table is, or whether a segment was dropped. After code that cannot, an instance with
// its memory and its MutableGlobals as they were is as it was.
//
// What Rewrite adds changes nothing of this: the references that it keeps lie in globals that are not mutable and are made with
// the instance, the functions that work in pieces copy, fill and read segments, and the gauge is the host's own to set.
func (m *Module) ChangesTables() bool { return m.changesTables }

// MutableGlobals returns the names under which Rewrite exports the module's own mutable globals, in their order and without the
// gauge. They are plain if all of them are numbers of at most 64 bits: a host that reads and sets globals as such numbers can
// take down and restore no vector, and no reference. What the module imports is another's, and not among them.
func (m *Module) MutableGlobals() (names []string, plain bool) {
	plain = true
	for i, g := range m.globals {
		if !g.mutable {
			continue
		}
		names = append(names, m.globalName(i))
		switch g.typ {
		case I32, I64, F32, F64:
		default:
			plain = false
		}
	}
	return names, plain
}

// globalName is the name of an export for the i-th of the module's own globals.
func (m *Module) globalName(i int) string {
	return GlobalExport + strconv.Itoa(m.imported[KindGlobal]+i)
}

// changes notes what an instruction can do to tables and segments.
func (m *Module) changes(in *instr) {
	switch {
	case in.op == opTableSet:
		m.changesTables = true
	case in.op != opBulk:
	case in.sub == bulkTableGrow:
		m.growsTables, m.changesTables = true, true
	case in.sub == bulkTableInit, in.sub == bulkTableCopy, in.sub == bulkTableFill, in.sub == bulkElemDrop, in.sub == bulkDataDrop:
		m.changesTables = true
	}
}
