package sandbox

import (
	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// AttachManifest returns a copy of the module with the manifest as its last section, in place of any it had. The same module
// and manifest give the same bytes. The result is judged as Inspect does it, so what is returned can be loaded; the error
// is a *LoadError.
func AttachManifest(module []byte, m *toolabi.Manifest) ([]byte, error) {
	b, err := parse(module, wasm.Caps{})
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
	out := b.WithCustom(toolabi.ManifestSection, content)
	if _, err := Inspect(out); err != nil {
		return nil, err
	}
	return out, nil
}
