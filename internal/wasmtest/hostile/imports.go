package hostile

import (
	"slices"
	"strings"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// imports want what is not offered.
func imports() []Case {
	wants := func(row, name, module, function string, params, results []byte, says string) Case {
		return refused(row, name, sandbox.Import, says, made(func(t *tool) { t.Import(module, function, params, results) }))
	}
	unasked := refused("W50", "secrets-without-asking", sandbox.Capability, "http_send", made(func(t *tool) {
		t.host(toolabi.FuncHTTPSend)
		t.manifest.Capabilities = nil
	}))
	return []Case{
		wants("W35", "import-of-nobody", "env", "unknown", i32, i32, `"env"."unknown"`),
		wants("W35", "import-of-another-signature", toolabi.ImportModule, toolabi.FuncLog, i32, i64, "offered as"),
		wants("W35", "WASI-of-another-signature", toolabi.WASIModule, "path_open", i32, i32, "path_open"),
		refused("W35", "imports-10000", sandbox.TooBig, "imports", made(func(t *tool) {
			for range 10_000 {
				t.wasi("sched_yield", nil)
			}
		})),
		harmless("W35", "path-open", func(t *tool) {
			// It is linked, because compilers import it into programs that never use it, and answers ENOSYS.
			open := t.wasi("path_open", []byte{I32, I32, I32, I32, I32, I64, I64, I32, I32})
			t.invoke(0, Times(5, I32Const(3)), I64Const(-1), I64Const(-1), I32Const(0), I32Const(0), Call(open),
				I32Const(52), I32Eq, I32Eqz, If, Unreachable, End)
		}),
		wants("W50", "the-value-of-a-secret", toolabi.ImportModule, "secret_get", i32s, i64, "does not offer"),
		unasked,
	}
}

// exports lack what a tool has to export, or name it strangely.
func exports() []Case {
	abi := sandbox.ABI
	// unfinished leaves the exports to export.
	unfinished := func(export func(t *tool, f uint32)) func() []byte {
		return made(func(t *tool) {
			t.finished = true
			t.Memory(t.pages)
			t.ExportRaw(toolabi.ExportMemory, 2, 0)
			export(t, t.Func(i32, i32, 0, I32Const(0)))
		})
	}
	marked := func(t *tool) { t.Export(toolabi.ExportMarker, t.Func(nil, nil, 0)) }
	twice := made(func(t *tool) {
		t.invoke(0)
		marked(t)
	})
	named := func(name string) func(t *tool) {
		return func(t *tool) { t.Export(name, t.Func(nil, nil, 0)) }
	}
	return []Case{
		refused("W36", "nothing-exported", abi, "not a tool", func() []byte { return Header }),
		refused("W36", "another-ABI", abi, `ABI "9"`, unfinished(func(t *tool, f uint32) { t.Export("wrun_abi_9", t.Func(nil, nil, 0)) })),
		refused("W36", "no-invoke", abi, "wrun_invoke", unfinished(func(t *tool, _ uint32) { marked(t) })),
		refused("W36", "invoke-is-a-global", abi, "wrun_invoke", unfinished(func(t *tool, _ uint32) {
			marked(t)
			t.ExportRaw(toolabi.ExportInvoke, 3, t.Global(0))
		})),
		refused("W36", "invoke-of-another-signature", abi, "(i64,i32)->()", unfinished(func(t *tool, _ uint32) {
			marked(t)
			t.Export(toolabi.ExportInvoke, t.Func([]byte{I64, I32}, nil, 0))
		})),
		refused("W36", "invoke-behind-the-last-function", sandbox.Malformed, "exports function", unfinished(func(t *tool, _ uint32) {
			marked(t)
			t.Export(toolabi.ExportInvoke, 1_000_000)
		})),
		refused("W36", "export-twice", sandbox.Malformed, "exported twice", twice),
		harmless("W37", "export-of-1-MB", named(strings.Repeat("x", 1<<20))),
		harmless("W37", "export-with-NUL", named("a\x00b")),
		harmless("W37", "export-turned-around", named("\u202eevil\u2066\x1b[2J")),
		refused("W37", "export-not-UTF-8", sandbox.Malformed, "UTF-8", made(named("\xff\xfe"))),
	}
}

// proposals need what is not enabled.
func proposals() []Case {
	code := func(name, says string, body ...[]byte) Case {
		return refused("W54", name, sandbox.Malformed, says, made(func(t *tool) {
			t.FuncRaw(nil, nil, slices.Concat([]byte{0}, slices.Concat(body...), End))
		}))
	}
	return []Case{
		code("threads", "threads", I32Const(0), I32Const(0), I32Const(0), []byte{0xfe, 0, 2, 0}, Drop),
		code("tail-calls", "tail calls", []byte{0x12, 0}),
		code("exceptions", "exceptions", []byte{0x06, 0x40}, End),
		code("exceptions-with-tables", "exceptions", []byte{0x1f, 0x40, 0}, End),
		code("garbage-collection", "garbage collection", I32Const(0), []byte{0xfb, 28}, Drop),
		code("typed-references", "typed references", []byte{0x14, 0}),
		code("relaxed-vectors", "relaxed vector", V128Const(), V128Const(), VectorOp(0x100), Drop),
		code("two-memories-in-code", "second memory", I32Const(0), []byte{0x3f, 1}, Drop),
		refused("W54", "memory-of-64-bits", sandbox.Malformed, "64-bit memory", sections(Section(5, []byte{1, 4, 1}))),
		refused("W54", "table-of-64-bits", sandbox.Malformed, "64-bit", sections(Section(4, []byte{1, 0x70, 4, 1}))),
		refused("W54", "tags", sandbox.Malformed, "section 13", sections(Section(13, []byte{0}))),
		refused("W54", "extended-constants", sandbox.Malformed, "constant expression",
			sections(Section(6, slices.Concat([]byte{1, I32, 0}, I32Const(1), I32Const(2), I32Add, End)))),
		refused("W54", "recursive-types", sandbox.Malformed, "type form", sections(Section(1, []byte{1, 0x4e, 1, 0x60, 0, 0}))),
	}
}
