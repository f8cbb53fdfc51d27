package wasm

import "bytes"

// WithCustom returns a copy of the module whose last section is a custom section of this name, in place of any it had. The
// same module and content give the same bytes.
func (m *Module) WithCustom(name string, content []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(m.wasm) + len(name) + len(content) + 16)
	out.Write(m.wasm[:8])
	customs := m.Customs
	for _, s := range m.sections {
		if s.id == secCustom {
			c := customs[0]
			customs = customs[1:]
			if c.Name == name {
				continue
			}
		}
		out.Write(m.wasm[s.from:s.to])
	}
	writeSection(&out, secCustom, append(appendName(nil, name), content...))
	return out.Bytes()
}

func writeSection(out *bytes.Buffer, id byte, content []byte) {
	out.WriteByte(id)
	out.Write(appendU32(nil, uint32(len(content))))
	out.Write(content)
}

func appendName(b []byte, name string) []byte {
	return append(appendU32(b, uint32(len(name))), name...)
}

// appendU32 appends an unsigned LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendS64 appends a signed LEB128.
func appendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
