package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// BenchmarkCleanCallGo is a call of a tool that reads a list of records into Go's types and returns most of it. x-dirty is what
// a call in a clean instance takes, for one of the same module on wazero alone in an instance that is never put back; x-fresh
// for one in an instance that is made for the call; making-over is what a clean instance costs beside the call itself, for what one
// costs that is made. They take turns, long enough that the instance which is never put back collects its garbage, and the
// fastest of each are compared, so that a machine that is busy otherwise shows little.
func BenchmarkCleanCallGo(b *testing.B) {
	wasm := everyday(b)
	pooled, fresh := cleanSide(b, wasm, sandbox.Pooled), cleanSide(b, wasm, sandbox.Fresh)
	raw := dirtySide(b, wasm)
	for _, size := range []int{100, 10_000, 100_000, 1_000_000} {
		request := toolabi.Request{ABI: 1, Tool: "orders", Input: ordersJSON(size)}
		for _, goroutines := range []int{1, 2, 16} {
			b.Run(fmt.Sprintf("%dB/%d", size, goroutines), func(b *testing.B) {
				calls := max(100_000/size, 2, goroutines)
				t := takeTurns(b, goroutines, request, round{pooled, calls}, round{raw, calls}, round{fresh, goroutines})
				b.ReportMetric(t[0], "ns/call")
				b.ReportMetric(t[0]/t[1], "x-dirty")
				b.ReportMetric(t[0]/t[2], "x-fresh")
				b.ReportMetric((t[0]-t[1])/(t[2]-t[1]), "making-over")
			})
		}
	}
}

// BenchmarkCleanCallC is a call of a small guest, as a C compiler makes them, that answers with its input. ns-over is what a
// call in a clean instance takes longer than one on wazero alone in an instance that is never put back.
func BenchmarkCleanCallC(b *testing.B) {
	wasm := echo(b)
	pooled, fresh := cleanSide(b, wasm, sandbox.Pooled), cleanSide(b, wasm, sandbox.Fresh)
	raw := dirtySide(b, wasm)
	request := toolabi.Request{ABI: 1, Tool: "echo", Input: ordersJSON(0)}
	for _, goroutines := range []int{1, 2, 16} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			t := takeTurns(b, goroutines, request, round{pooled, 1000}, round{raw, 1000}, round{fresh, goroutines})
			b.ReportMetric(t[0], "ns/call")
			b.ReportMetric(t[0]-t[1], "ns-over")
			b.ReportMetric(t[0]/t[2], "x-fresh")
		})
	}
}

// side makes a function that makes one call and returns the output. The functions can be used at the same time, each by one
// goroutine.
type side func() func(toolabi.Request) []byte

// round is how many calls one way makes in its turn, all its goroutines together.
type round struct {
	side  side
	calls int
}

// takeTurns lets each way make its calls from so many goroutines, in turn, and returns of each what a call took of one
// processor in its fastest round, in nanoseconds. All have to come to the same.
func takeTurns(b *testing.B, goroutines int, request toolabi.Request, rounds ...round) []float64 {
	callers := make([][]func(toolabi.Request) []byte, len(rounds))
	var want []byte
	for i, r := range rounds {
		for range goroutines {
			call := r.side()
			callers[i] = append(callers[i], call)
			got := call(request)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				b.Fatalf("way %d came to %.200q, the first one to %.200q", i, got, want)
			}
		}
	}
	fastest := make([]float64, len(rounds))
	for i := range fastest {
		fastest[i] = math.Inf(1)
	}
	for b.Loop() {
		for i, r := range rounds {
			took := together(callers[i], request, r.calls)
			perCall := float64(took) * float64(min(goroutines, runtime.GOMAXPROCS(0))) / float64(r.calls)
			fastest[i] = min(fastest[i], perCall)
		}
	}
	return fastest
}

// together makes so many calls and returns how long that took.
func together(callers []func(toolabi.Request) []byte, request toolabi.Request, calls int) time.Duration {
	var wg sync.WaitGroup
	began := time.Now()
	for i, call := range callers {
		wg.Go(func() {
			for n := i; n < calls; n += len(callers) {
				call(request)
			}
		})
	}
	wg.Wait()
	return time.Since(began)
}

// cleanSide calls a tool the way that wrun does.
func cleanSide(b *testing.B, wasm []byte, instances sandbox.Instances) side {
	box, s := open(b, sandbox.Config{CacheDir: wasmtest.CodeCache(b), Instances: instances})
	module := s.add(wasm)
	return func() func(toolabi.Request) []byte {
		return func(r toolabi.Request) []byte {
			out, err := box.Invoke(b.Context(), toolabi.Invocation{Module: module, Tool: r.Tool, Input: r.Input}, nil)
			if err != nil || out.Err != nil {
				panic(fmt.Sprint(err, out.Err))
			}
			return out.Output
		}
	}
}

// dirtySide calls a tool on wazero alone: the module as its author built it, without bounds, in one instance for each
// goroutine that is never put back, and with a host that does nothing but copy the bytes.
func dirtySide(b *testing.B, wasm []byte) side {
	r := wazero.NewRuntime(b.Context())
	b.Cleanup(func() { _ = r.Close(context.Background()) })
	wasi.MustInstantiate(b.Context(), r)
	linkRawABI(b, r)
	compiled, err := r.CompileModule(b.Context(), wasm)
	if err != nil {
		b.Fatal(err)
	}
	return func() func(toolabi.Request) []byte {
		mod, err := r.InstantiateModule(b.Context(), compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = mod.Close(context.Background()) })
		invoke, call, stack := mod.ExportedFunction(toolabi.ExportInvoke), new(rawCall), make([]uint64, 1)
		ctx := context.WithValue(b.Context(), rawCallKey{}, call)
		return func(r toolabi.Request) []byte {
			call.input, call.output = toolabi.AppendRequest(call.input[:0], r), call.output[:0]
			stack[0] = uint64(len(call.input))
			if err := invoke.CallWithStack(ctx, stack); err != nil || stack[0] != 0 {
				panic(fmt.Sprint(err, stack[0]))
			}
			reply, err := toolabi.DecodeReply(call.output)
			if err != nil {
				panic(err)
			}
			return reply.Output
		}
	}
}

type rawCallKey struct{}

// rawCall is a call on wazero alone. Every host function answers it with reply.
type rawCall struct{ input, output, reply []byte }

// linkRawABI links what a tool imports.
func linkRawABI(b testing.TB, r wazero.Runtime) {
	host := r.NewHostModuleBuilder(toolabi.ImportModule)
	export := func(name string, params, results []byte, fn func(c *rawCall, mem api.Memory, p []uint64)) {
		host.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, p []uint64) {
			fn(ctx.Value(rawCallKey{}).(*rawCall), mod.Memory(), p)
		}), params, results).Export(name)
	}
	export(toolabi.ImportInputRead, ptrs, i32, func(c *rawCall, mem api.Memory, p []uint64) {
		buf, _ := mem.Read(uint32(p[0]), uint32(p[1]))
		p[0] = uint64(copy(buf, c.input[min(int(uint32(p[2])), len(c.input)):]))
	})
	export(toolabi.ImportOutputWrite, i32s, i32, func(c *rawCall, mem api.Memory, p []uint64) {
		buf, _ := mem.Read(uint32(p[0]), uint32(p[1]))
		c.output, p[0] = append(c.output, buf...), 0
	})
	export(toolabi.ImportResultRead, ptrs, i32, func(c *rawCall, mem api.Memory, p []uint64) {
		buf, _ := mem.Read(uint32(p[0]), uint32(p[1]))
		p[0] = uint64(copy(buf, c.reply[min(int(uint32(p[2])), len(c.reply)):]))
	})
	for _, f := range toolabi.Functions {
		export(f.Name, i32s, i64, func(c *rawCall, _ api.Memory, p []uint64) { p[0] = uint64(len(c.reply)) })
	}
	if _, err := host.Instantiate(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// ordersJSON returns an input of the tool orders of about so many bytes, and of at least one order.
func ordersJSON(size int) []byte {
	b := []byte(`{"orders":[`)
	for i := 0; ; i++ {
		order := fmt.Sprintf(`{"id":%d,"customer":"customer %d","items":[{"sku":"A-%d","count":%d,"price":%d.5}],"tags":["new"],"note":null,"paid":%v}`,
			1000+i, i*7, i*13, i%9, i%100, i%4 == 3)
		if i > 0 && len(b)+len(order)+len(",]}") > size {
			return append(b, "]}"...)
		}
		b = append(b, strings.Repeat(",", min(i, 1))+order...)
	}
}

// BenchmarkCallsThatWaitForEachOther makes calls of a Go guest, an instance of which counts 8 MiB and the image 5, under a budget
// that has room for two at a time beside the image, and for a third without it.
func BenchmarkCallsThatWaitForEachOther(b *testing.B) {
	for _, callers := range []int{1, 2, 3, 8} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			box, s := open(b, sandbox.Config{CacheDir: wasmtest.CodeCache(b), MemoryBudget: 24 << 20})
			inv := toolabi.Invocation{Module: s.add(everyday(b)), Tool: "sum", Input: []byte(`{"numbers":[1,2,39]}`)}
			if err := box.Prepare(b.Context(), inv.Module); err != nil {
				b.Fatal(err)
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			var together sync.WaitGroup
			b.ResetTimer()
			for range callers {
				together.Go(func() {
					for left.Add(-1) >= 0 {
						if out, err := box.Invoke(b.Context(), inv, nil); err != nil || out.Err != nil {
							b.Error(out.Err, err)
							return
						}
					}
				})
			}
			together.Wait()
		})
	}
}
