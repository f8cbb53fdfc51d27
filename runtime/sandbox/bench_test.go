package sandbox_test

import (
	"crypto/sha256"
	"errors"
	"os"
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

// BenchmarkLoad makes a module ready in a new sandbox: by compiling it here or by a command, from the cache, where nothing of its
// code is read and most of the time goes into hashing and reading what was compiled, and from a cache of code alone.
func BenchmarkLoad(b *testing.B) {
	for _, module := range []struct {
		name string
		wasm []byte
	}{{"raw", echo(b)}, {"go", everyday(b)}} {
		for _, way := range []struct {
			name     string
			compiler []string
			remove   func(testing.TB, string) []string // what of the cache
		}{
			{"here", nil, codeFiles}, {"command", self(b, "compile-module"), codeFiles},
			{"cached", nil, func(testing.TB, string) []string { return nil }}, {"unjudged", nil, judgedFiles},
		} {
			b.Run(module.name+"/"+way.name, func(b *testing.B) {
				dir, s := cacheFor(b), shelf{}
				digest := s.add(module.wasm)
				load := func() {
					box, err := sandbox.New(b.Context(), sandbox.Config{Source: s.source, CacheDir: dir, Compiler: way.compiler})
					if err != nil {
						b.Fatal(err)
					}
					if err := errors.Join(box.Prepare(b.Context(), digest), box.Close(b.Context())); err != nil {
						b.Fatal(err)
					}
				}
				load()
				b.SetBytes(int64(len(module.wasm)))
				for b.Loop() {
					for _, f := range way.remove(b, dir) {
						if err := os.Remove(f); err != nil {
							b.Fatal(err)
						}
					}
					load()
				}
			})
		}
	}
}

// BenchmarkHash is what verifying 20 MB of compiled code takes.
func BenchmarkHash(b *testing.B) {
	code := make([]byte, 20e6)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		sha256.Sum256(code)
	}
}
