package sandbox_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// hostCalls is how often the guest below uses a host function in one call, each time with a request of 64 bytes, and then
// reads the reply of as many.
const hostCalls = 10_000

func callsHost(t testing.TB) []byte {
	g := newGuest(toolabi.FuncClock)
	return g.invoke(1,
		I32Const(hostCalls), LocalSet(1),
		Loop,
		I32Const(8192), I32Const(64), Call(g.host[toolabi.FuncClock]), Drop,
		I32Const(16384), I32Const(64), I32Const(0), Call(g.result), Drop,
		LocalGet(1), I32Const(1), I32Sub, LocalSet(1), LocalGet(1), BrIf(0), End,
		g.ok(t),
	).build(t)
}

// BenchmarkHostCall is one use of a host function: the call with its request, and the reading of its reply. x-raw is the
// ratio to wazero with functions that do nothing but copy the bytes.
func BenchmarkHostCall(b *testing.B) {
	wasm, reply := callsHost(b), make([]byte, 64)
	box, s := open(b, sandbox.Config{})
	inv := toolabi.Invocation{Module: s.add(wasm), Tool: "echo", Input: []byte("{}")}
	ours := func() {
		out, err := box.Invoke(b.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
			return toolabi.Answer{Reply: reply}, nil
		})
		if err != nil || out.Err != nil {
			b.Fatal(err, out.Err)
		}
	}
	raw := rawHostCalls(b, wasm, reply)
	ours()
	raw()
	var times [2][]time.Duration
	for b.Loop() {
		for i, run := range []func(){ours, raw} {
			began := time.Now()
			run()
			times[i] = append(times[i], time.Since(began))
		}
	}
	mine, theirs := slices.Min(times[0]), slices.Min(times[1])
	b.ReportMetric(float64(mine)/float64(theirs), "x-raw")
	b.ReportMetric(float64(mine)/hostCalls, "ns/call")
}

// rawHostCalls returns a function that runs the guest on wazero alone.
func rawHostCalls(b *testing.B, wasm, reply []byte) func() {
	r := wazero.NewRuntime(b.Context())
	b.Cleanup(func() { _ = r.Close(context.Background()) })
	host := r.NewHostModuleBuilder(toolabi.ImportModule)
	var result []byte
	export := func(name string, params, results []byte, fn func(mem api.Memory, p []uint64)) {
		host.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, p []uint64) {
			fn(mod.Memory(), p)
		}), params, results).Export(name)
	}
	export("input_read", ptrs, i32, func(_ api.Memory, p []uint64) { p[0] = 0 })
	export("output_write", i32s, i32, func(_ api.Memory, p []uint64) { p[0] = 0 })
	export("result_read", ptrs, i32, func(mem api.Memory, p []uint64) {
		buf, _ := mem.Read(uint32(p[0]), uint32(p[1]))
		p[0] = uint64(copy(buf, result[p[2]:]))
	})
	export(toolabi.FuncClock, i32s, i64, func(mem api.Memory, p []uint64) {
		request, _ := mem.Read(uint32(p[0]), uint32(p[1]))
		_ = slices.Clone(request)
		result = reply
		p[0] = uint64(len(result))
	})
	if _, err := host.Instantiate(b.Context()); err != nil {
		b.Fatal(err)
	}
	mod, err := r.Instantiate(b.Context(), wasm)
	if err != nil {
		b.Fatal(err)
	}
	f := mod.ExportedFunction(toolabi.ExportInvoke)
	return func() {
		if err := f.CallWithStack(b.Context(), []uint64{2}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWASICall is one use of a function of WASI by a module of ABI 1.
func BenchmarkWASICall(b *testing.B) {
	for _, u := range []use{
		want(0, "clock_time_get", 0, 0, wasiOut), want(0, "random_get", wasiOut, 16), want(0, "fd_write", 2, wasiVectors, 2, wasiOut),
	} {
		b.Run(u.function, func(b *testing.B) {
			g := newGuest()
			function := g.Import(toolabi.WASIModule, u.function, sandbox.WASIParams(b, u.function), i32)
			g.Data(0, wasiMemory()[:replyAt])
			ok := g.ok(b)
			g.invoke(1, I32Const(hostCalls), LocalSet(1), Loop, u.params(b), Call(function), Drop,
				LocalGet(1), I32Const(1), I32Sub, LocalSet(1), LocalGet(1), BrIf(0), End, ok)
			box, s := open(b, sandbox.Config{})
			inv := toolabi.Invocation{Module: s.add(g.build(b)), Tool: "echo"}
			for b.Loop() {
				if out, err := box.Invoke(b.Context(), inv, nil); err != nil || out.Err != nil {
					b.Fatal(err, out.Err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/hostCalls, "ns/call")
		})
	}
}
