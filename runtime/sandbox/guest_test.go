package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

var (
	i32  = []byte{I32}
	i32s = []byte{I32, I32}
	ptrs = []byte{I32, I32, I32}
	i64  = []byte{I64}
)

// guest is a small module in the making, with the exports of ABI 1. Its tool is called echo.
type guest struct {
	*Module
	input, output, result uint32            // the three imports that every tool has
	host                  map[string]uint32 // the host functions
	manifest              toolabi.Manifest
}

// newGuest imports the host functions and asks for those that need asking.
func newGuest(functions ...string) *guest {
	m := new(Module)
	g := &guest{Module: m, host: map[string]uint32{}}
	g.input = m.Import(toolabi.ImportModule, "input_read", ptrs, i32)
	g.output = m.Import(toolabi.ImportModule, "output_write", i32s, i32)
	g.result = m.Import(toolabi.ImportModule, "result_read", ptrs, i32)
	g.manifest = toolabi.Manifest{Name: "guest", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "echo"}}}
	for _, name := range functions {
		g.host[name] = m.Import(toolabi.ImportModule, name, i32s, i64)
		if f, _ := toolabi.FunctionByName(name); f.Capability {
			g.manifest.Capabilities = append(g.manifest.Capabilities, toolabi.Capability{Name: name, Reason: "to test"})
		}
	}
	return g
}

// invoke adds memory, marker and wrun_invoke with this body, to which the status is added.
func (g *guest) invoke(locals uint32, body ...[]byte) *guest {
	g.Memory(2)
	return g.invokeOnly(locals, body...)
}

func (g *guest) invokeOnly(locals uint32, body ...[]byte) *guest {
	f := g.Func(i32, i32, locals, append(body, I32Const(0))...)
	g.Export(toolabi.ExportInvoke, f)
	g.Export(toolabi.ExportMarker, g.Func(nil, nil, 0))
	g.ExportRaw(toolabi.ExportMemory, 2, 0)
	return g
}

// build attaches the manifest without looking at anything.
func (g *guest) build(t testing.TB) []byte {
	t.Helper()
	b, err := toolabi.Encode(&g.manifest)
	if err != nil {
		t.Fatal(err)
	}
	m := *g.Module
	m.Custom(toolabi.ManifestSection, b)
	return m.Bytes()
}

// answer is code that writes a reply from where static put it.
func (g *guest) answer(n int) []byte {
	return slices.Concat(I32Const(replyAt), I32Const(int32(n)), Call(g.output), Drop)
}

const replyAt = 4096

// static puts an encoded reply into memory and returns code that writes it.
func (g *guest) static(t testing.TB, r toolabi.Reply) []byte {
	t.Helper()
	b, err := toolabi.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	g.Data(replyAt, b)
	return g.answer(len(b))
}

// ok is static with an empty object.
func (g *guest) ok(t testing.TB) []byte { return g.static(t, toolabi.Reply{Output: []byte("{}")}) }

// inputAt is where the byte string of the input begins in a request for the tool echo.
const inputAt = 10

// echo answers with its input.
func echo(t testing.TB) []byte {
	g := newGuest()
	g.Data(8192, []byte{0xa1, 1})
	return g.invoke(0,
		I32Const(8192),
		I32Const(8194), I32Const(60_000), I32Const(inputAt), Call(g.input),
		I32Const(2), I32Add, Call(g.output), Drop,
	).build(t)
}

// shelf is a source of modules.
type shelf map[toolabi.Digest][]byte

func (s shelf) add(wasm []byte) toolabi.Digest {
	d := toolabi.DigestOf(wasm)
	s[d] = wasm
	return d
}

func (s shelf) source(_ context.Context, d toolabi.Digest) ([]byte, error) {
	if wasm, ok := s[d]; ok {
		return wasm, nil
	}
	return nil, fmt.Errorf("no module %s: %w", d.Short(), os.ErrNotExist)
}

// open returns a sandbox for the test; cfg.Source may be nil.
func open(t testing.TB, cfg sandbox.Config) (*sandbox.Sandbox, shelf) {
	t.Helper()
	s := shelf{}
	if cfg.Source == nil {
		cfg.Source = s.source
	}
	box, err := sandbox.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return box, s
}

// call runs a module once in a sandbox of its own.
func call(t testing.TB, wasm []byte, input string, host toolabi.HostFunc) (toolabi.Outcome, error) {
	t.Helper()
	box, s := open(t, sandbox.Config{})
	return box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(wasm), Tool: "echo", Input: []byte(input)}, host)
}

// outcome is call where an error is not expected.
func outcome(t testing.TB, wasm []byte, host toolabi.HostFunc) toolabi.Outcome {
	t.Helper()
	out, err := call(t, wasm, `{}`, host)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wantCode checks how a call failed.
func wantCode(t testing.TB, out toolabi.Outcome, want toolabi.Code) {
	t.Helper()
	if out.Err == nil {
		t.Fatalf("outcome is %s, want the error %s", out.Output, want)
	}
	if out.Err.Code != want {
		t.Errorf("error is %v, want %s", out.Err, want)
	}
}
