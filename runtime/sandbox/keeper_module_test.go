package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// place is one where a module can leave something, written in WebAssembly itself: code that leaves it, and code that looks and puts
// what it sees at seen, from where the host is told.
type place struct {
	name  string
	build func(p *placeGuest) (leave, look []byte)
}

// placeGuest is a module with one place in the making.
type placeGuest struct {
	*guest
	initialize [][]byte // code of _initialize
}

// Where things are in the memory of such a module.
const (
	told       = 512 // the digits of its input
	seen       = 1024
	seenLen    = 64
	logLine    = 2048 // a request to log
	failReply  = 2064 // a reply
	free       = 3072 // the place's own
	placePages = 8
	placeEnd   = placePages * 65536
)

// Locals of its wrun_invoke.
const (
	flags   = 1 // 1 to leave, 2 to ask, 4 to look
	ending  = 2 // an index of placeEnds
	counter = 3
	sum     = 4
)

// placeEnds are the ways to end that it knows, by the words for them.
var placeEnds = []string{"", "fail", "status", "trap", "exit", "spin", "recurse", "flood", "hungry", "misuse"}

// lacks are the words that it does not know, and recursion without an end, for which the host takes much memory, in most.
func (pl place) lacks() []string {
	lacks := []string{"grow", "widen", "nil", "quit"}
	if !slices.Contains([]string{"data", "depth of calls", "global of i32"}, pl.name) {
		lacks = append(lacks, "recurse")
	}
	return lacks
}

// digits is its input for words: 1, what it does, how it ends.
func digits(words string) string {
	n := 100
	for word := range strings.SplitSeq(words, " ") {
		if i := slices.Index([]string{"leave", "ask", "look"}, word); i >= 0 {
			n += 10 << i
		} else {
			n += slices.Index(placeEnds, word)
		}
	}
	return fmt.Sprint(n)
}

// keeper builds the module.
func (pl place) keeper(t testing.TB) keeper {
	p := &placeGuest{guest: newGuest(toolabi.FuncLog, toolabi.FuncClock)}
	exit := p.Import(toolabi.WASIModule, "proc_exit", i32, nil)
	leave, look := pl.build(p)
	p.Data(logLine, []byte("\xa1\x02\x63log"))
	p.Data(failReply, []byte("\xa1\x02\xa2\x01\x0a\x02\x64left"))
	body := slices.Concat(
		callWith(p.input, told, 3, inputAt+1), Drop,
		I32Const(told+1), I32Load8U, I32Const('0'), I32Sub, LocalSet(flags),
		I32Const(told+2), I32Load8U, I32Const('0'), I32Sub, LocalSet(ending),
		LocalGet(flags), I32Const(1), I32And, If, leave, End,
		LocalGet(flags), I32Const(2), I32And, If, callWith(p.host[toolabi.FuncClock], logLine, 6), Drop, End,
		LocalGet(flags), I32Const(4), I32And, If, look, callWith(p.host[toolabi.FuncLog], seen, seenLen), Drop, End,
	)
	for i, code := range p.ends(exit) {
		body = slices.Concat(body, LocalGet(ending), I32Const(int32(i+1)), I32Eq, If, code, End)
	}
	if p.initialize != nil {
		p.Export(toolabi.ExportInitialize, p.Func(nil, nil, 0, p.initialize...))
	}
	p.MemoryMax(placePages, 60_000)
	p.invokeOnly(4, body, p.ok(t))
	wasm := p.build(t)
	return keeper{
		name: pl.name, tool: "echo", wasm: wasm, digest: toolabi.DigestOf(wasm), input: digits, lacks: pl.lacks(), hidden: placeHidden,
	}
}

// ends is code for each of placeEnds but the first.
func (p *placeGuest) ends(exit uint32) [][]byte {
	return [][]byte{
		slices.Concat(callWith(p.output, failReply, 11), Drop, I32Const(0), Return),
		slices.Concat(I32Const(7), Return),
		Unreachable,
		callWith(exit, 3),
		slices.Concat(Loop, Br(0), End),
		slices.Concat(callWith(p.deep(), 1), Drop),
		slices.Concat(Loop, callWith(p.output, 0, 65536), I32Eqz, BrIf(0), End, I32Const(0), Return),
		slices.Concat(Loop, I32Const(16), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, BrIf(0), End, Unreachable),
		slices.Concat(callWith(p.input, -16, 32, 0), Drop),
	}
}

// deep is a function that calls itself half as often as its parameter says, or for ever where that is odd, and returns the depth.
func (p *placeGuest) deep() uint32 {
	itself := p.Func(nil, nil, 0) + 1 // the one that comes next
	return p.Func(i32, i32, 0, LocalGet(0), I32Eqz, If, I32Const(0), Return, End,
		LocalGet(0), I32Const(2), I32Sub, Call(itself), I32Const(1), I32Add)
}

// number is a function that returns a number, and that a reference can be made to.
func (p *placeGuest) number(n int32) uint32 {
	f := p.Func(nil, i32, 0, I32Const(n))
	p.Export(fmt.Sprint("number ", n), f)
	return f
}

// repeat is code that repeats other code, which has its turn in counter: from n to 1.
func (p *placeGuest) repeat(n int32, code ...[]byte) []byte {
	return slices.Concat(I32Const(n), LocalSet(counter), Loop, slices.Concat(code...),
		LocalGet(counter), I32Const(1), I32Sub, LocalSet(counter), LocalGet(counter), BrIf(0), End)
}

// see is code that puts the value that other code pushes among what was seen, n bytes from its begin.
func see(n int32, value, store []byte) []byte { return slices.Concat(I32Const(seen+n), value, store) }

func seeI32(n int32, value ...[]byte) []byte { return see(n, slices.Concat(value...), I32Store) }

// put is code that stores a number.
func put(at, v int32) []byte { return slices.Concat(I32Const(at), I32Const(v), I32Store) }

// callWith is code that calls a function with constants.
func callWith(f uint32, args ...int32) []byte {
	var b []byte
	for _, a := range args {
		b = append(b, I32Const(a)...)
	}
	return append(b, Call(f)...)
}
