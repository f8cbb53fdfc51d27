package sandbox_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// bare is a host of wazero and nothing else, so that a module and its rewritten form can be run side by side.
type bare struct {
	runtime wazero.Runtime
	input   []byte
	output  int // bytes that were written
	refills int
}

func newBare(b testing.TB) *bare {
	h := &bare{runtime: wazero.NewRuntime(b.Context())}
	b.Cleanup(func() { _ = h.runtime.Close(context.Background()) })
	wasi.MustInstantiate(b.Context(), h.runtime)
	h.link(b, wasm.HostModule, wasm.RefillImport, []api.ValueType{I64}, I64, func(_ api.Module, p []uint64) uint64 {
		h.refills++
		return uint64(wasm.Gauge(p[0]).Refilled(1 << 15))
	})
	m := h.runtime.NewHostModuleBuilder(toolabi.ImportModule)
	for _, f := range toolabi.Functions {
		m.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {}), []api.ValueType{I32, I32}, []api.ValueType{I64}).Export(f.Name)
	}
	m.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, p []uint64) {
		buf, _ := mod.Memory().Read(uint32(p[0]), uint32(p[1]))
		p[0] = uint64(copy(buf, h.input[min(uint32(p[2]), uint32(len(h.input))):]))
	}), ptrs, i32).Export("input_read")
	m.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, p []uint64) {
		h.output += int(p[1])
		p[0] = 0
	}), i32s, i32).Export("output_write")
	m.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, p []uint64) { p[0] = 0 }), ptrs, i32).Export("result_read")
	if _, err := m.Instantiate(b.Context()); err != nil {
		b.Fatal(err)
	}
	return h
}

func (h *bare) link(b testing.TB, module, name string, params []api.ValueType, result api.ValueType, fn func(api.Module, []uint64) uint64) {
	_, err := h.runtime.NewHostModuleBuilder(module).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, p []uint64) { p[0] = fn(mod, p) }), params, []api.ValueType{result}).
		Export(name).Instantiate(b.Context())
	if err != nil {
		b.Fatal(err)
	}
}

// function returns an exported function of a new instance.
func (h *bare) function(b testing.TB, module []byte, name string) api.Function {
	compiled, err := h.runtime.CompileModule(b.Context(), module)
	if err != nil {
		b.Fatal(err)
	}
	mod, err := h.runtime.InstantiateModule(b.Context(), compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	return mod.ExportedFunction(name)
}

// sideBySide runs a function of a module and of its rewritten form in turn and reports the ratio of the fastest times.
func (h *bare) sideBySide(b *testing.B, module []byte, name string, param uint64) {
	fns := [2]api.Function{h.function(b, module, name), h.function(b, rewritten(b, module), name)}
	var times [2][]time.Duration
	run := func(i int) {
		stack := []uint64{param}
		began := time.Now()
		if err := fns[i].CallWithStack(b.Context(), stack); err != nil {
			b.Fatal(err)
		}
		times[i] = append(times[i], time.Since(began))
	}
	run(0)
	run(1)
	h.refills, times = 0, [2][]time.Duration{}
	for b.Loop() {
		run(0)
		run(1)
	}
	fastest := func(d []time.Duration) float64 { return float64(slices.Min(d)) }
	b.ReportMetric(fastest(times[1])/fastest(times[0]), "x-unbounded")
	b.ReportMetric(float64(h.refills)/float64(b.N), "refills/op")
}

// BenchmarkFuelLoop is a loop that does next to nothing, 10 million times.
func BenchmarkFuelLoop(b *testing.B) {
	m := new(Module)
	i64Mul, i64Add, i64Sub, i64Ne := []byte{0x7e}, []byte{0x7c}, []byte{0x7d}, []byte{0x52}
	m.Export("run", m.FuncRaw(i64, i64, slices.Concat(
		[]byte{1, 1, I64}, Loop,
		LocalGet(1), I64Const(6364136223846793005), i64Mul, LocalGet(0), i64Add, LocalSet(1),
		LocalGet(0), I64Const(1), i64Sub, []byte{0x22, 0}, I64Const(0), i64Ne, BrIf(0), End,
		LocalGet(1), End,
	)))
	newBare(b).sideBySide(b, m.Bytes(), "run", 10_000_000)
}

// BenchmarkFuelGo is a Go guest that parses a megabyte of JSON.
func BenchmarkFuelGo(b *testing.B) {
	numbers := make([]int64, 100_000)
	for i := range numbers {
		numbers[i] = int64(i) * 7919
	}
	input, err := json.Marshal(map[string]any{"numbers": numbers})
	if err != nil {
		b.Fatal(err)
	}
	h := newBare(b)
	if h.input, err = toolabi.Encode(toolabi.Request{ABI: 1, Tool: "sum", Input: input}); err != nil {
		b.Fatal(err)
	}
	h.sideBySide(b, everyday(b), toolabi.ExportInvoke, uint64(len(h.input)))
	if h.output == 0 {
		b.Fatal("the guest answered nothing")
	}
}

// rewritten returns a module as the compiler gets it.
func rewritten(t testing.TB, module []byte) []byte {
	parsed, err := wasm.Parse(module, wasm.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	bounded, err := parsed.Rewrite(wasm.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return bounded
}

// instantiateRewritten returns an instance of a rewritten module, and its function run.
func instantiateRewritten(t testing.TB, module []byte) (api.Module, api.Function) {
	mod, err := newBare(t).runtime.InstantiateWithConfig(t.Context(), rewritten(t, module), wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	return mod, mod.ExportedFunction("run")
}
