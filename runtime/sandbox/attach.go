package sandbox

import (
	"bytes"

	"github.com/wrun-dev/wrun/toolabi"
)

// AttachManifest returns a copy of the module with the manifest as its last section, in place of any it had. The same module
// and manifest give the same bytes. The result is judged as Inspect does it, so what is returned can be loaded; the error
// is a *LoadError.
func AttachManifest(wasm []byte, m *toolabi.Manifest) ([]byte, error) {
	b, err := parseLayout(wasm)
	if err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, refuse(BadManifest, "%w", oneLine(err))
	}
	content, err := toolabi.Encode(m)
	if err != nil {
		return nil, refuse(BadManifest, "%w", err)
	}
	var out bytes.Buffer
	out.Write(wasm[:8])
	customs := b.customs
	for _, s := range b.sections {
		if s.id == secCustom {
			c := customs[0]
			customs = customs[1:]
			if c.name == toolabi.ManifestSection {
				continue
			}
		}
		out.Write(wasm[s.from:s.to])
	}
	writeSection(&out, secCustom, append(appendName(nil, toolabi.ManifestSection), content...))
	if _, err := Inspect(out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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
