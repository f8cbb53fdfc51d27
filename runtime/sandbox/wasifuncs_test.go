package sandbox

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestWASIIsWholeAndExact compares the table with what wazero offers, which is another reading of the same specification. A program
// has something of each function: to it ENOSYS would be no answer.
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
		if f.program == nil {
			t.Errorf("programs have no %s", f.name)
		}
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
