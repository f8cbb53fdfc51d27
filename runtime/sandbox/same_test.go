package sandbox_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
)

// FuzzARewrittenProgramComputesTheSame runs programs on wazero as they are and rewritten: the results, the traps, the
// memory and the globals have to be the same, and what was rewritten has to be valid.
func FuzzARewrittenProgramComputesTheSame(f *testing.F) {
	random := rand.NewChaCha8([32]byte{1})
	for n := range 300 {
		b := make([]byte, 20+n*4)
		_, _ = random.Read(b)
		f.Add(b, int32(n))
	}
	f.Fuzz(func(t *testing.T, source []byte, param int32) {
		module := wasmtest.Program(source)
		raw := runProgram(t.Context(), t, module, param)
		parsed, err := wasm.Parse(module, wasm.Caps{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := parsed.Rewrite(wasm.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		bounded := runProgram(sandbox.WithMemory(t.Context(), t, parsed.Memories[0].Max), t, again, param)
		if raw.what != bounded.what || !bytes.Equal(raw.memory, bounded.memory) || raw.globals != bounded.globals {
			t.Errorf("it ends with %s and %v, rewritten with %s and %v; the same memory: %v", raw.what, raw.globals, bounded.what, bounded.globals, bytes.Equal(raw.memory, bounded.memory))
		}
	})
}

// remains are what is left of a program.
type remains struct {
	what    string
	memory  []byte
	globals [3]uint64
}

func runProgram(ctx context.Context, t *testing.T, module []byte, param int32) remains {
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(16))
	defer func() { _ = r.Close(context.Background()) }()
	_, err := r.NewHostModuleBuilder(wasm.HostModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, p []uint64) {
			if p[0] = uint64(wasm.Gauge(p[0]).Refilled(50)); wasm.Gauge(p[0]).Overflowed() {
				t.Error("the stack overflowed")
			}
		}), []api.ValueType{wasm.I64}, []api.ValueType{wasm.I64}).
		Export(wasm.RefillImport).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatalf("%v: % x", err, module)
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
	end.memory, _ = mod.Memory().Read(0, mod.Memory().Size())
	end.memory = bytes.Clone(end.memory)
	return end
}
