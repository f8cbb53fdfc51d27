package toolabi_test

import (
	"bytes"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// FuzzDecode holds every message to this: what is decoded encodes to the bytes it came from, and nothing panics.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Bytes(f))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, empty := range messages {
			v := empty()
			if toolabi.Decode(b, v) != nil {
				continue
			}
			again, err := toolabi.Encode(v)
			if err != nil || !bytes.Equal(again, b) {
				t.Errorf("%s: %x was decoded and encodes to %x: %v", name, b, again, err)
			}
		}
	})
}

// FuzzParseManifest holds a manifest that was accepted to this: it is valid by itself and can be asked about anything.
func FuzzParseManifest(f *testing.F) {
	for _, v := range vectors(f) {
		if v.Message == "Manifest" {
			f.Add(v.Bytes(f))
		}
	}
	f.Add(encode(f, payments()))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := toolabi.ParseManifest(b)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Errorf("accepted, and then: %v", err)
		}
		for _, d := range m.Tools {
			if got, ok := m.Tool(d.Name); !ok || got.Name != d.Name {
				t.Errorf("tool %q is not found", d.Name)
			}
		}
		_ = m.CheckImports([]string{toolabi.FuncHTTPSend, "unknown"})
	})
}
