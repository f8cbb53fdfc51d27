package main

import (
	"bytes"
	"os"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// benchSource makes the module that bench calls: its tool echo reads the input, and answers with it. This is its source, and bench.wasm
// is what comes of it.
func benchSource(t *testing.T) []byte {
	t.Helper()
	m := new(Module)
	read := m.Import(toolabi.ImportModule, "input_read", []byte{I32, I32, I32}, []byte{I32})
	write := m.Import(toolabi.ImportModule, "output_write", []byte{I32, I32}, []byte{I32})
	m.Import(toolabi.ImportModule, "result_read", []byte{I32, I32, I32}, []byte{I32})
	m.Memory(2)
	const reply, inputAt = 8192, 10 // the input is a byte string in the request, which begins at inputAt for the tool echo
	m.Data(reply, []byte{0xa1, 1})  // a reply: a map of one, whose key 1 is the output
	invoke := m.Func([]byte{I32}, []byte{I32}, 0,
		I32Const(reply),
		I32Const(reply+2), I32Const(60_000), I32Const(inputAt), Call(read),
		I32Const(2), I32Add, Call(write), Drop,
		I32Const(0))
	m.Export(toolabi.ExportInvoke, invoke)
	m.Export(toolabi.ExportMarker, m.Func(nil, nil, 0))
	m.ExportRaw(toolabi.ExportMemory, 2, 0)
	manifest, err := toolabi.Encode(&toolabi.Manifest{Name: "bench", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "echo", Idempotency: toolabi.Pure}}})
	if err != nil {
		t.Fatal(err)
	}
	m.Custom(toolabi.ManifestSection, manifest)
	return m.Bytes()
}

func TestTheBenchModuleIsMadeOfItsSource(t *testing.T) {
	wasm := benchSource(t)
	if *updatePages {
		if err := os.WriteFile("bench.wasm", wasm, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(wasm, benchModule) {
		t.Errorf("bench.wasm is not what benchSource makes; with -update-pages it becomes that")
	}
}
