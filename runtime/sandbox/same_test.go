package sandbox_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
)

// FuzzARewrittenProgramComputesTheSame runs programs on wazero as they are, rewritten, and rewritten with code from a cache, which
// wazero takes for a hollow module: the results, the traps, the memory and the globals have to be the same, and what was
// rewritten has to be valid.
func FuzzARewrittenProgramComputesTheSame(f *testing.F) {
	random := rand.NewChaCha8([32]byte{1})
	for n := range 300 {
		b := make([]byte, 20+n*4)
		_, _ = random.Read(b)
		f.Add(b, int32(n))
	}
	f.Fuzz(func(t *testing.T, source []byte, param int32) {
		module := wasmtest.Program(source)
		cfg := wazero.NewRuntimeConfig().WithMemoryLimitPages(16)
		r := wazero.NewRuntimeWithConfig(t.Context(), cfg)
		defer func() { _ = r.Close(context.Background()) }()
		linkTurns(t, r)
		raw := runProgram(t.Context(), t, r, compileProgram(t, r, module), param)
		parsed, err := wasm.Parse(module, wasm.Caps{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := parsed.Rewrite(wasm.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		bounding := sandbox.WithMemory(t.Context(), t, parsed.Memories[0].Max)
		bounded := runProgram(bounding, t, r, compileProgram(t, r, again), param)
		if raw.what != bounded.what || !bytes.Equal(raw.memory, bounded.memory) || raw.globals != bounded.globals {
			t.Errorf("it ends with %s and %v, rewritten with %s and %v; the same memory: %v", raw.what, raw.globals, bounded.what, bounded.globals, bytes.Equal(raw.memory, bounded.memory))
		}
		if param%4 != 0 { // it takes ten times as long
			return
		}
		cache := sandbox.OpenKept(t, t.TempDir(), cfg)
		linkTurns(t, cache.Runtime)
		compiled, err := cache.Compile(t.Context(), parsed, wasm.Caps{})
		if err != nil {
			t.Fatal(err)
		}
		if kept := runProgram(bounding, t, cache.Runtime, compiled, param); !reflect.DeepEqual(kept, bounded) {
			t.Errorf("it ends with %s, %v and %x left, from the cache with %s, %v and %x; the same memory: %v", bounded.what, bounded.globals, bounded.gauge,
				kept.what, kept.globals, kept.gauge, bytes.Equal(kept.memory, bounded.memory))
		}
	})
}

// remains are what is left of a program.
type remains struct {
	what    string
	memory  []byte
	globals [3]uint64
	gauge   uint64 // 0 where there is none
}

// linkTurns gives rewritten programs little fuel at a time, and no end of it.
func linkTurns(t *testing.T, r wazero.Runtime) {
	_, err := r.NewHostModuleBuilder(wasm.HostModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, p []uint64) {
			if p[0] = uint64(wasm.Gauge(p[0]).Refilled(50)); wasm.Gauge(p[0]).Overflowed() {
				t.Error("the stack overflowed")
			}
		}), []api.ValueType{wasm.I64}, []api.ValueType{wasm.I64}).
		Export(wasm.RefillImport).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
}

func compileProgram(t *testing.T, r wazero.Runtime, module []byte) wazero.CompiledModule {
	compiled, err := r.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatalf("%v: % x", err, module)
	}
	return compiled
}

func runProgram(ctx context.Context, t *testing.T, r wazero.Runtime, compiled wazero.CompiledModule, param int32) remains {
	mod, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	results, err := mod.ExportedFunction("run").Call(ctx, api.EncodeI32(param))
	end := remains{}
	if err != nil {
		end.what, _, _ = strings.Cut(err.Error(), "\n")
	} else {
		end.what = show(results[0], wasm.I32)
	}
	for i, name := range []string{"turns", "a", "b"} {
		end.globals[i] = mod.ExportedGlobal(name).Get()
	}
	if g := mod.ExportedGlobal(wasm.GaugeExport); g != nil {
		end.gauge = g.Get()
	}
	end.memory, _ = mod.Memory().Read(0, mod.Memory().Size())
	end.memory = bytes.Clone(end.memory)
	return end
}
