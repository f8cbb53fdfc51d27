package wasm

import "bytes"

// ForCompiler returns the module as the compiler gets it: the same program, but every table bounded, since nothing else
// bounds table.grow, the initial memory in few pieces, and of the custom sections only the names of functions, well-formed. So a manifest can change without
// a new compilation, and nothing that the compiler decodes is larger than what was checked.
func (m *Module) ForCompiler() []byte {
	var out bytes.Buffer
	wasm := m.wasm
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
	for _, c := range m.Customs {
		if c.Name != "name" {
			continue
		}
		if names := functionNames(c.Content, m.caps.Functions+m.caps.Imports); names != nil {
			writeSection(&out, secCustom, append(appendName(nil, "name"), names...))
			break
		}
	}
	return out.Bytes()
}

func (m *Module) boundedTables() []byte {
	b := appendU32(nil, uint32(len(m.Tables)))
	for _, t := range m.Tables {
		limit := m.caps.TableElements
		if t.HasMax {
			limit = min(limit, t.Max)
		}
		b = append(b, t.elem, 1)
		b = appendU32(appendU32(b, t.Min), limit)
	}
	return b
}
