package wrun_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// A module of which no tool may use a function that it imports is not loaded at all.
func TestAModuleIsRefusedAtLoad(t *testing.T) {
	var refused, loaded int
	for _, promise := range []toolabi.Idempotency{toolabi.Pure, toolabi.ReadOnly} {
		for _, f := range toolabi.Functions {
			want := f.Class != toolabi.Free && (promise == toolabi.Pure || f.Class != toolabi.Read && f.Class != toolabi.Call)
			_, err := sandbox.Inspect(importing(t, f, promise))
			switch {
			case (err != nil) != want:
				t.Errorf("a %s module that imports %s: %v", promise, f.Name, err)
			case want && !strings.Contains(err.Error(), "module imports "+f.Name+" ("+f.Class.String()+"), which none of its tools may use"):
				t.Errorf("a %s module that imports %s is refused for another reason, or without the name: %v", promise, f.Name, err)
			case want:
				refused++
			default:
				loaded++
			}
		}
	}
	if refused != 32 || loaded != 16 {
		t.Errorf("%d modules were refused and %d loaded, want 32 and 16", refused, loaded)
	}
}

// importing is a module with one tool and one import.
func importing(t *testing.T, f toolabi.Function, promise toolabi.Idempotency) []byte {
	t.Helper()
	m := new(wasmtest.Module)
	m.Import(toolabi.ImportModule, f.Name, []byte{wasmtest.I32, wasmtest.I32}, []byte{wasmtest.I64})
	m.Memory(1)
	m.ExportRaw(toolabi.ExportMemory, 2, 0)
	m.Export(toolabi.ExportInvoke, m.Func([]byte{wasmtest.I32}, []byte{wasmtest.I32}, 0, wasmtest.I32Const(0)))
	m.Export(toolabi.ExportMarker, m.Func(nil, nil, 0))
	manifest := &toolabi.Manifest{Name: "it", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "it", Idempotency: promise}}}
	if f.Capability {
		manifest.Capabilities = []toolabi.Capability{{Name: f.Name, Reason: "to test"}}
	}
	raw, err := toolabi.Encode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(m.Bytes(), wasmtest.Section(0, slices.Concat(wasmtest.Name(toolabi.ManifestSection), raw)))
}
