package sandbox

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestWASIIsWholeAndExact compares the table with what wazero links: a function missing there would keep wazero's behaviour
// without being judged.
func TestWASIIsWholeAndExact(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	b := r.NewHostModuleBuilder(toolabi.WASIModule)
	wasi.NewFunctionExporter().ExportFunctions(b)
	m, err := b.Compile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	theirs := m.ExportedFunctions()
	if len(theirs) != len(wasiFuncs) {
		t.Errorf("%d functions, wazero has %d", len(wasiFuncs), len(theirs))
	}
	for _, f := range wasiFuncs {
		d, ok := theirs[f.name]
		if !ok {
			t.Errorf("wazero has no %s", f.name)
			continue
		}
		their := wasm.FuncType{Params: d.ParamTypes(), Results: d.ResultTypes()}
		if got, want := signature(f.params, f.results()), their.String(); got != want {
			t.Errorf("%s is %s, wazero has %s", f.name, got, want)
		}
	}
}
