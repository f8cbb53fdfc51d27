package mixed

import (
	"fmt"
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

// toolName is the tool of every small module.
const toolName = "echo"

const (
	inputAt = 10   // where the byte string of the input begins in a request for toolName
	replyAt = 8192 // where the reply is put together: its first two bytes are data, the input comes behind them
	vector  = 4096 // a buffer of fd_write
	pages   = 34   // what there is room in for an input of a megabyte
)

// marks are places in memory that a clean instance has zeros in, and that every call writes to.
var marks = []int32{16, 4000, replyAt + 2, 3 << 16, 20<<16 + 8, pages<<16 - 8}

// guest is a small module in the making. Whatever it does, it first makes sure that it is clean, and makes itself dirty.
type guest struct {
	*Module
	input, output, result uint32
	dirty                 uint32 // a global
	manifest              toolabi.Manifest
}

func newGuest() *guest {
	g := &guest{Module: new(Module)}
	g.input = g.Import(toolabi.ImportModule, toolabi.ImportInputRead, ptrs, i32)
	g.output = g.Import(toolabi.ImportModule, toolabi.ImportOutputWrite, i32s, i32)
	g.result = g.Import(toolabi.ImportModule, toolabi.ImportResultRead, ptrs, i32)
	g.dirty = g.Global(0)
	g.manifest = toolabi.Manifest{Name: "small", Version: "1.0.0", Tools: []toolabi.Tool{{Name: toolName}}}
	return g
}

// must is code that traps unless the number on the stack is not 0.
var must = slices.Concat(I32Eqz, If, Unreachable, End)

// clean is code that traps in an instance which another call has used, and then uses it.
func (g *guest) clean() []byte {
	code := slices.Concat(GlobalGet(g.dirty), I32Eqz, must, MemorySize, I32Const(pages), I32Eq, must)
	for _, at := range marks {
		code = slices.Concat(code, I32Const(at), I32Load, I32Eqz, must)
	}
	code = slices.Concat(code, I32Const(1), GlobalSet(g.dirty))
	for _, at := range marks {
		code = slices.Concat(code, I32Const(at), I32Const(-1), I32Store)
	}
	return code
}

// echo is code that answers with the input.
func (g *guest) echo() []byte {
	return slices.Concat(
		I32Const(replyAt),
		I32Const(replyAt+2), I32Const(2<<20), I32Const(inputAt), Call(g.input),
		I32Const(2), I32Add, Call(g.output), Drop,
	)
}

// build finishes the module with what it does between being clean and its end, and returns its bytes. Local 1 is free.
func (g *guest) build(body ...[]byte) []byte {
	g.Memory(pages)
	g.Data(replyAt, []byte{0xa1, 1})
	g.Export(toolabi.ExportInvoke, g.Func(i32, i32, 1, slices.Concat(g.clean(), slices.Concat(body...), I32Const(0))))
	g.Export(toolabi.ExportMarker, g.Func(nil, nil, 0))
	g.ExportRaw(toolabi.ExportMemory, 2, 0)
	manifest, err := toolabi.Encode(&g.manifest)
	if err != nil {
		panic(err) // our own manifest
	}
	g.Custom(toolabi.ManifestSection, manifest)
	return g.Bytes()
}

// echoes answers with its input.
func echoes() []byte { g := newGuest(); return g.build(g.echo()) }

// newcomer answers with its input too, and is another module for every n.
func newcomer(n int) []byte {
	g := newGuest()
	g.Data(replyAt-64, fmt.Appendf(nil, "newcomer %d", n))
	return g.build(g.echo())
}

// tables puts a function into its table, where a clean instance has none.
func tables() []byte {
	g := newGuest()
	g.Table(1, 4, 4)
	f := g.Func(nil, nil, 0)
	g.Export("declared", f)
	get, null := []byte{0x25, 0}, []byte{0xd1}
	return g.build(
		I32Const(1), get, null, must, I32Const(1), RefFunc(f), TableSet(0),
		I32Const(1), CallIndirect(g.Type(nil, nil)), g.echo(),
	)
}

// segments drops a segment of data, of which a clean instance has all.
func segments() []byte {
	g := newGuest()
	g.PassiveData([]byte("eight..."))
	return g.build(I32Const(64), I32Const(0), I32Const(8), MemoryInit(0), DataDrop(0), g.echo())
}

// grows grows its memory by so many pages, and writes to each.
func grows(more int32) []byte {
	g := newGuest()
	const at = 1
	return g.build(
		I32Const(more), MemoryGrow, I32Const(pages), I32Eq, must,
		I32Const(pages<<16), LocalSet(at),
		Loop,
		LocalGet(at), I32Load, I32Eqz, must, LocalGet(at), I32Const(1), I32Store,
		LocalGet(at), I32Const(1<<16), I32Add, LocalSet(at),
		LocalGet(at), I32Const((pages+more)<<16), I32LtS, BrIf(0), End,
		g.echo(),
	)
}

// hungry takes memory, so many pages at a time, until it gets no more.
func hungry(step int32) []byte {
	g := newGuest()
	return g.build(Loop, I32Const(step), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, BrIf(0), End, Unreachable)
}

// spins never ends.
func spins() []byte { g := newGuest(); return g.build(Loop, Br(0), End) }

func traps() []byte { g := newGuest(); return g.build(g.echo(), Unreachable) }

// trapsAtFirst traps in _initialize.
func trapsAtFirst() []byte {
	g := newGuest()
	g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, Unreachable))
	return g.build()
}

// starts has something to do in _initialize, and finds it done.
func starts() []byte {
	g := newGuest()
	begun := g.Global(0)
	g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, GlobalGet(begun), I32Const(1), I32Add, GlobalSet(begun), I32Const(200), I32Const(7), I32Store))
	return g.build(GlobalGet(begun), I32Const(1), I32Eq, must, I32Const(200), I32Load, I32Const(7), I32Eq, must,
		I32Const(2), GlobalSet(begun), I32Const(200), I32Const(0), I32Store, g.echo())
}

func recurses() []byte {
	g := newGuest()
	return g.build(Call(g.Func(nil, nil, 0, Call(g.result+1))))
}

func exits() []byte {
	g := newGuest()
	exit := g.Import(toolabi.WASIModule, "proc_exit", i32, nil)
	return g.build(g.echo(), I32Const(3), Call(exit))
}

// floods writes more output than it may.
func floods() []byte {
	g := newGuest()
	return g.build(Loop, I32Const(0), I32Const(1<<16), Call(g.output), I32Eqz, BrIf(0), End)
}

func misuses() []byte {
	g := newGuest()
	return g.build(I32Const(-1), I32Const(-1), Call(g.output), Drop)
}

// prints writes a megabyte to its standard output, and then its input.
func prints() []byte {
	g := newGuest()
	write := g.Import(toolabi.WASIModule, "fd_write", fds, i32)
	print := func(at, n []byte) []byte {
		return slices.Concat(I32Const(vector), at, I32Store, I32Const(vector+4), n, I32Store,
			I32Const(1), I32Const(vector), I32Const(1), I32Const(vector+8), Call(write), I32Eqz, must)
	}
	return g.build(
		I32Const(1<<20), I32Const('.'), I32Const(1<<18), MemoryFill,
		print(I32Const(1<<20), I32Const(1<<18)), print(I32Const(1<<20), I32Const(1<<18)), print(I32Const(1<<20), I32Const(1<<18)), print(I32Const(1<<20), I32Const(1<<18)),
		I32Const(replyAt), I32Const(60_000), I32Const(inputAt+3), Call(g.input), LocalSet(1), // behind the head of a byte string of 256 bytes and more
		print(I32Const(replyAt), LocalGet(1)),
		I32Const(replyAt), I32Const(0xa1|1<<8), I32Store,
		g.echo(),
	)
}

// asks answers with what a host function says.
func asks() []byte {
	g := newGuest()
	clock := g.Import(toolabi.ImportModule, toolabi.FuncClock, i32s, i64)
	return g.build(
		I32Const(0), I32Const(0), Call(clock), I32WrapI64, LocalSet(1),
		I32Const(replyAt), I32Const(replyAt), LocalGet(1), I32Const(0), Call(g.result), Call(g.output), Drop,
	)
}
