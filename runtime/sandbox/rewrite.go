package sandbox

import (
	"bytes"
	"unicode/utf8"
)

// forCompiler returns the module as the compiler gets it: the same program, but every table bounded, since nothing else
// bounds table.grow, the initial memory in few pieces, and of the custom sections only the names of functions, well-formed. So a manifest can change without
// a new compilation, and nothing that the compiler decodes is larger than what was checked.
func (m *layout) forCompiler(wasm []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(wasm))
	out.Write(wasm[:8])
	for _, s := range m.sections {
		switch s.id {
		case secCustom:
		case secTable:
			writeSection(&out, secTable, m.boundedTables())
		case secData:
			m.writeData(&out, wasm[s.from:s.to])
		default:
			out.Write(wasm[s.from:s.to])
		}
	}
	for _, c := range m.customs {
		if c.name != "name" {
			continue
		}
		if names := functionNames(c.content); names != nil {
			writeSection(&out, secCustom, append(appendName(nil, "name"), names...))
			break
		}
	}
	return out.Bytes()
}

func (m *layout) boundedTables() []byte {
	b := appendU32(nil, uint32(len(m.tables)))
	for _, t := range m.tables {
		limit := uint32(maxElements)
		if t.hasMax {
			limit = min(limit, t.max)
		}
		b = append(b, t.elem, 1)
		b = appendU32(appendU32(b, t.min), limit)
	}
	return b
}

// functionNames returns the subsection with the names of functions out of a name section, or nil when it has none that is
// well-formed.
func functionNames(content []byte) []byte {
	r := &reader{b: content}
	for r.more() {
		from := r.pos
		id := r.byte()
		names := r.sub(r.u32())
		if r.err != nil || id != 1 {
			continue
		}
		for range names.count("names", 2, maxFunctions+maxImports) {
			names.u32()
			if !utf8.Valid(names.bytes(names.u32())) {
				return nil
			}
		}
		if names.err != nil || names.left() > 0 {
			return nil
		}
		return content[from:r.pos]
	}
	return nil
}
