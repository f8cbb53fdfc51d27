package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

var (
	i32  = []byte{I32}
	i32s = []byte{I32, I32}
	ptrs = []byte{I32, I32, I32}
	fds  = []byte{I32, I32, I32, I32}
	i64  = []byte{I64}
)

// tool is a module in the making that is a tool: imports first, then functions, then finish.
type tool struct {
	*Module
	read, write, result uint32 // input_read, output_write and result_read
	manifest            toolabi.Manifest
	pages               uint32
	finished            bool
}

func newTool() *tool {
	t := &tool{Module: new(Module), pages: 2}
	t.read = t.Import(toolabi.ImportModule, toolabi.ImportInputRead, ptrs, i32)
	t.write = t.Import(toolabi.ImportModule, toolabi.ImportOutputWrite, i32s, i32)
	t.result = t.Import(toolabi.ImportModule, toolabi.ImportResultRead, ptrs, i32)
	t.manifest = toolabi.Manifest{Name: "bad", Version: "1.0.0", Tools: []toolabi.Tool{{Name: ToolName}}}
	return t
}

// host imports a host function and asks for it.
func (t *tool) host(name string) uint32 {
	if f, _ := toolabi.FunctionByName(name); f.Capability {
		t.manifest.Capabilities = append(t.manifest.Capabilities, toolabi.Capability{Name: name, Reason: "to do harm"})
	}
	return t.Import(toolabi.ImportModule, name, i32s, i64)
}

// wasi imports a function of WASI.
func (t *tool) wasi(name string, params []byte) uint32 {
	return t.Import(toolabi.WASIModule, name, params, i32)
}

// invoke finishes the tool with this body of wrun_invoke, after which it answers.
func (t *tool) invoke(locals uint32, body ...[]byte) {
	t.finish(t.Func(i32, i32, locals, append(body, t.answer(), I32Const(0))...))
}

// finish adds what a tool has to export; the function is wrun_invoke.
func (t *tool) finish(invoke uint32) {
	t.finished = true
	t.Memory(t.pages)
	t.ExportRaw(toolabi.ExportMemory, 2, 0)
	t.Export(toolabi.ExportInvoke, invoke)
	t.Export(toolabi.ExportMarker, t.Func(nil, nil, 0))
}

// initialize adds _initialize.
func (t *tool) initialize(body ...[]byte) {
	t.Export(toolabi.ExportInitialize, t.Func(nil, nil, 0, body...))
}

// The reply {1: "{}"} and where it stands in memory, below which code may write.
var reply = []byte{0xa1, 1, 0x42, '{', '}'}

const replyAt = 60_000

// answer is code that writes an empty object. It needs the data that bytes adds.
func (t *tool) answer() []byte {
	return slices.Concat(I32Const(replyAt), I32Const(int32(len(reply))), Call(t.write), Drop)
}

// bytes returns the module with its manifest. A tool that was not finished only answers.
func (t *tool) bytes() []byte {
	if !t.finished {
		t.invoke(0)
	}
	if t.pages > 0 {
		t.Data(replyAt, reply)
	}
	manifest, err := toolabi.Encode(&t.manifest)
	if err != nil {
		panic(err) // our own manifest
	}
	t.Custom(toolabi.ManifestSection, manifest)
	return t.Bytes()
}
