package sandbox_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// BenchmarkSmallCall is a call that does next to nothing, in a small module and in one written in Go.
func BenchmarkSmallCall(b *testing.B) {
	for _, bb := range []struct {
		name, tool, input string
		wasm              []byte
	}{
		{"raw", "echo", `{"n":1}`, echo(b)},
		{"go", "sum", `{"numbers":[1,2,3]}`, everyday(b)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			box, s := open(b, sandbox.Config{CacheDir: wasmtest.CodeCache(b)})
			inv := toolabi.Invocation{Module: s.add(bb.wasm), Tool: bb.tool, Input: []byte(bb.input)}
			b.ReportAllocs()
			for b.Loop() {
				if out, err := box.Invoke(b.Context(), inv, nil); err != nil || out.Err != nil {
					b.Fatal(err, out.Err)
				}
			}
		})
	}
}

// BenchmarkInspect reads the module that was written in Go.
func BenchmarkInspect(b *testing.B) {
	wasm := everyday(b)
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if _, err := sandbox.Inspect(wasm); err != nil {
			b.Fatal(err)
		}
	}
}
