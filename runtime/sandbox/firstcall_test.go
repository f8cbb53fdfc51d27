package sandbox_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// A call in a clean instance is the first one of its instance. What Go would build when a tool is first called has to be there
// once the module has started, or it is built in every call.
func TestTheFirstCallOfAGoGuestComputesLittleMoreThanTheNext(t *testing.T) {
	if raced {
		t.Skip("it counts what one goroutine does")
	}
	h := newCounting(t, everyday(t))
	fetched := encoded(t, toolabi.HTTPReply{Status: 200, Headers: []toolabi.Header{{Name: "A", Value: "b"}}, Body: []byte("hello")})
	for _, tc := range []struct {
		tool, input string
		reply       []byte // of the host functions
	}{
		{"orders", string(ordersJSON(100)), nil},
		{"sum", `{"numbers":[1,2,3]}`, nil},
		{"moments", `{}`, encoded(t, toolabi.ClockReply{UnixNano: 1})},
		{"fetch", `{}`, fetched},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			fuel := h.calls(t, toolabi.Request{ABI: 1, Tool: tc.tool, Input: []byte(tc.input)}, tc.reply, 2)
			t.Logf("the first call uses %d units of fuel, the second %d", fuel[0], fuel[1])
			if fuel[0] > fuel[1]+fuel[1]/4 {
				t.Errorf("the first call uses %d units of fuel, the second %d", fuel[0], fuel[1])
			}
		})
	}
}

// counting runs a rewritten module on wazero alone and counts its fuel.
type counting struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	used     int64 // up to when the gauge was filled last
	filled   int32 // with what
}

func newCounting(t *testing.T, module []byte) *counting {
	h := &counting{runtime: wazero.NewRuntime(t.Context())}
	t.Cleanup(func() { _ = h.runtime.Close(context.Background()) })
	wasi.MustInstantiate(t.Context(), h.runtime)
	linkRawABI(t, h.runtime)
	_, err := h.runtime.NewHostModuleBuilder(wasm.HostModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, p []uint64) {
			h.settle(wasm.Gauge(p[0]))
			h.filled = 1 << 15
			p[0] = uint64(wasm.Gauge(p[0]).Refilled(h.filled))
		}), i64, i64).Export(wasm.RefillImport).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h.compiled, err = h.runtime.CompileModule(t.Context(), rewritten(t, module)); err != nil {
		t.Fatal(err)
	}
	return h
}

// settle takes over what was used since the gauge was filled.
func (h *counting) settle(g wasm.Gauge) {
	h.used += int64(h.filled) - int64(g.Fuel())
	h.filled = g.Fuel()
}

// instance returns a new instance that has started.
func (h *counting) instance(t *testing.T) api.Module {
	mod, err := h.runtime.InstantiateModule(t.Context(), h.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// call calls an exported function and returns its result and the fuel that it used.
func (h *counting) call(ctx context.Context, t *testing.T, mod api.Module, name string, params ...uint64) (result uint64, fuel int64) {
	gauge := mod.ExportedGlobal(wasm.GaugeExport)
	h.settle(wasm.Gauge(gauge.Get()))
	h.used = 0
	results, err := mod.ExportedFunction(name).Call(ctx, params...)
	if err != nil {
		t.Fatal(err)
	}
	h.settle(wasm.Gauge(gauge.Get()))
	return results[0], h.used
}

// calls makes calls in one new instance, one after the other, and returns the fuel that each used.
func (h *counting) calls(t *testing.T, request toolabi.Request, reply []byte, n int) (fuel []int64) {
	mod := h.instance(t)
	call := &rawCall{input: toolabi.AppendRequest(nil, request), reply: reply}
	ctx := context.WithValue(t.Context(), rawCallKey{}, call)
	for range n {
		call.output = nil
		status, used := h.call(ctx, t, mod, toolabi.ExportInvoke, uint64(len(call.input)))
		if r, err := toolabi.DecodeReply(call.output); err != nil || r.Err != nil || status != 0 {
			t.Fatal(status, err, r.Err)
		}
		fuel = append(fuel, used)
	}
	return fuel
}
