package sandbox_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// FuzzInspect holds that no bytes make Inspect panic or allocate out of proportion, and that it knows what it accepted.
func FuzzInspect(f *testing.F) {
	f.Add(echo(f))
	f.Add(errorOrNothing(f, toolabi.FuncHTTPSend, 1))
	f.Add(changed(f, func(g *guest) {
		g.Table(1, 1, 9)
		g.Global(-1)
		g.Custom("name", slices.Concat([]byte{1, 4}, Vector(slices.Concat(U32(3), Name("f")))))
		g.Import(toolabi.WASIModule, "fd_write", []byte{I32, I32, I32, I32}, i32)
	}))
	f.Add(sections(Section(1, U32(0xffffffff))))
	f.Add(sections(Section(9, slices.Concat([]byte{2, 0}, I32Const(0), End, []byte{1, 0, 5, 0x70, 1, 0xd2, 0}, End))))
	f.Add(sections(Section(11, slices.Concat([]byte{2, 1, 1, 'x', 2, 0}, I32Const(0), End, []byte{1, 'y'}))))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := sandbox.Inspect(wasm)
		runtime.ReadMemStats(&after)
		// Another goroutine of the fuzzing engine may allocate meanwhile.
		if grown, most := after.TotalAlloc-before.TotalAlloc, uint64(4<<20+200*len(wasm)); grown > most {
			t.Errorf("%d bytes of module took %d bytes of memory", len(wasm), grown)
		}
		var l *sandbox.LoadError
		if err != nil && !errors.As(err, &l) {
			t.Errorf("error is %v, want a LoadError", err)
		}
		if err != nil {
			return
		}
		again, err := sandbox.AttachManifest(wasm, m.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := sandbox.AttachManifest(again, m.Manifest); err != nil || !bytes.Equal(again, twice) {
			t.Errorf("attaching the manifest twice changed the module: %v", err)
		}
	})
}

// FuzzReply runs a guest that answers with any bytes.
func FuzzReply(f *testing.F) {
	box, s := open(f, sandbox.Config{})
	d := s.add(raw(f))
	for _, r := range []toolabi.Reply{{Output: []byte("{}")}, {Err: toolabi.NewError(toolabi.Failed, "x")}, {}} {
		b, err := toolabi.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0xbf, 1, 0x41, '1', 0xff})
	f.Add([]byte{0xa2, 1, 0x41, '1', 1, 0x41, '2'})
	f.Fuzz(func(t *testing.T, reply []byte) {
		if len(reply) > 50_000 {
			return
		}
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "echo", Input: reply}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var r toolabi.Reply
		if good := toolabi.Decode(reply, &r) == nil; !good && !errors.Is(errorOf(out), toolabi.Protocol) {
			t.Errorf("reply %x came to %s, %v", reply, out.Output, out.Err)
		}
		if out.Err == nil && !bytes.Equal(out.Output, r.Output) {
			t.Errorf("reply %x came to %s", reply, out.Output)
		}
	})
}

// raw answers with its input as the whole reply. The head of the input's byte string is 1 to 5 bytes long.
func raw(t testing.TB) []byte {
	g := newGuest()
	load := slices.Concat(I32Const(4096), []byte{0x2d, 0, 0}) // i32.load8_u
	long := func(least, head int32) []byte {
		return slices.Concat(load, I32Const(least), I32LtS, I32Eqz, If, I32Const(head), LocalSet(1), End)
	}
	return g.invoke(1,
		I32Const(4096), I32Const(1), I32Const(inputAt), Call(g.input), Drop,
		I32Const(1), LocalSet(1), long(0x58, 2), long(0x59, 3), long(0x5a, 5),
		I32Const(8192),
		I32Const(8192), I32Const(60_000), I32Const(inputAt), LocalGet(1), I32Add, Call(g.input),
		Call(g.output), Drop).build(t)
}

// FuzzPoll runs a guest that waits for whatever its input describes.
func FuzzPoll(f *testing.F) {
	g := newGuest()
	poll := g.Import(toolabi.WASIModule, "poll_oneoff", []byte{I32, I32, I32, I32}, i32)
	ok := g.ok(f)
	g.invoke(0, I32Const(0), I32Const(2000), I32Const(inputAt), Call(g.input), Drop,
		I32Const(0), I32Const(8192), I32Const(6), I32Const(9000), Call(poll), Drop, ok)
	box, s := open(f, sandbox.Config{})
	d := s.add(g.build(f))
	f.Add(slices.Concat([]byte{0}, clockSubscription(1, 5, 0), fdSubscription(2, 1, 0), clockSubscription(3, 1<<63, 1)))
	f.Add(bytes.Repeat([]byte{0xff}, 48*6))
	f.Fuzz(func(t *testing.T, subscriptions []byte) {
		if len(subscriptions) > 2000 {
			return
		}
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "echo", Input: subscriptions, Started: -1 << 63}, nil)
		if err != nil || string(out.Output) != "{}" {
			t.Errorf("outcome is %s, %v, %v", out.Output, out.Err, err)
		}
	})
}
