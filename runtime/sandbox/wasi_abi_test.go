package sandbox_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// The memory of a guest that uses WASI: what it finds at wasiOut is filled with wasiBlank, so that what is written there shows, zeros
// too. wasiVectors are two buffers of 4 bytes each, one buffer that is not in memory behind one that is, and an empty one.
const (
	wasiOut     = 1024
	wasiBlank   = 0xee
	wasiText    = 2048
	wasiVectors = 3072
	wasiBad     = 3088 // the second of them is not in memory
	wasiEmpty   = 3104
	wasiErrnos  = 60000
	wasiWindow  = 65536
	wasiEnd     = 2 * 65536
)

// use is one use of a function, and the errno that it answers.
type use struct {
	errno    uint32
	function string
	args     []int64
}

// params is code that pushes the arguments.
func (u use) params(t testing.TB) (code []byte) {
	for n, p := range sandbox.WASIParams(t, u.function) {
		if p == I64 {
			code = append(code, I64Const(u.args[n])...)
		} else {
			code = append(code, I32Const(int32(u.args[n]))...)
		}
	}
	return code
}

func want(errno uint32, function string, args ...int64) use { return use{errno, function, args} }

// wasiMemory is what the guest's memory holds before.
func wasiMemory() []byte {
	memory := make([]byte, wasiErrnos)
	for i := range 1024 {
		memory[wasiOut+i] = wasiBlank
	}
	copy(memory[wasiText:], "onetwo..")
	for at, buffers := range map[int][]uint32{wasiVectors: {wasiText, 3, wasiText + 3, 3}, wasiBad: {wasiText, 3, wasiEnd - 1, 2}, wasiEmpty: {wasiText, 0}} {
		for i, v := range buffers {
			binary.LittleEndian.PutUint32(memory[at+4*i:], v)
		}
	}
	return memory
}

// wasiGuest is a module of ABI 1 that uses functions one after the other and tells its host what came of it.
func wasiGuest(t testing.TB, uses []use) []byte {
	g := newGuest(toolabi.FuncLog)
	functions := map[string]uint32{}
	for _, u := range uses {
		if _, ok := functions[u.function]; !ok {
			functions[u.function] = g.Import(toolabi.WASIModule, u.function, sandbox.WASIParams(t, u.function), i32)
		}
	}
	g.Data(0, wasiMemory())
	var code []byte
	for i, u := range uses {
		code = slices.Concat(code, I32Const(int32(wasiErrnos+4*i)), u.params(t), Call(functions[u.function]), I32Store)
	}
	at := int32(wasiEnd - 64)
	reply, err := toolabi.Encode(toolabi.Reply{Output: []byte("{}")})
	must(t, err)
	g.Data(at, reply)
	g.invoke(0, code, I32Const(0), I32Const(wasiWindow), Call(g.host[toolabi.FuncLog]), Drop, I32Const(at), I32Const(int32(len(reply))), Call(g.output), Drop)
	return g.build(t)
}

// useWASI checks what the uses answer, and returns what they wrote into memory as "ADDRESS:HEX", and the outcome.
func useWASI(t testing.TB, box *sandbox.Sandbox, s shelf, started int64, uses ...use) (written string, out toolabi.Outcome) {
	t.Helper()
	inv := toolabi.Invocation{Module: s.add(wasiGuest(t, uses)), Tool: "echo", Started: started, Seed: [32]byte{7}}
	var seen []byte
	out, err := box.Invoke(t.Context(), inv, func(_ context.Context, _ string, request []byte) (toolabi.Answer, error) {
		seen = request
		return toolabi.Answer{}, nil
	})
	must(t, err)
	if len(seen) != wasiWindow {
		t.Fatalf("the guest did not come to its end: %v", out.Err)
	}
	for i, u := range uses {
		if errno := binary.LittleEndian.Uint32(seen[wasiErrnos+4*i:]); errno != u.errno {
			t.Errorf("%s%d answers %d, want %d", u.function, u.args, errno, u.errno)
		}
	}
	before, places := wasiMemory(), []string{}
	for at := 0; at < wasiErrnos; at++ {
		from := at
		for at < wasiErrnos && seen[at] != before[at] {
			at++
		}
		if at > from {
			places = append(places, fmt.Sprintf("%d:%x", from, seen[from:at]))
		}
	}
	return strings.Join(places, " "), out
}

// TestWhatWASIAnswersAModuleOfABI1 holds what each function that does something answers, where it writes, and in which order it
// looks at what it was given. Guests were written against it, and runs recorded: it stays, also where programs are told otherwise.
func TestWhatWASIAnswersAModuleOfABI1(t *testing.T) {
	const out, end, last = wasiOut, wasiEnd, wasiEnd - 1
	const ok, badf, fault, inval, nameTooLong, nosys = 0, 8, 21, 28, 37, 52
	box, s := open(t, sandbox.Config{})
	for _, tc := range []struct {
		name    string
		uses    []use
		written string
		stderr  string
	}{
		// Arguments and environment: there are none.
		{name: "the number of arguments", uses: []use{
			want(ok, "args_sizes_get", out, out+8),
			want(ok, "args_sizes_get", end-4, end-4),
			want(fault, "args_sizes_get", end-3, out+16),
			want(fault, "args_sizes_get", out+24, end-3),
		}, written: "1024:00000000 1032:00000000 1048:00000000"},
		{name: "the arguments", uses: []use{
			want(ok, "args_get", out, out+8),
			want(ok, "args_get", end, end),
			want(fault, "args_get", end+1, out),
			want(fault, "args_get", out, end+1),
			want(fault, "args_get", -1, -1),
		}},
		{name: "the number of variables", uses: []use{
			want(ok, "environ_sizes_get", out, out+8),
			want(ok, "environ_sizes_get", end-4, end-4),
			want(fault, "environ_sizes_get", end-3, out+16),
			want(fault, "environ_sizes_get", out+24, end-3),
		}, written: "1024:00000000 1032:00000000 1048:00000000"},
		{name: "the environment", uses: []use{
			want(ok, "environ_get", out, out+8),
			want(ok, "environ_get", end, end),
			want(fault, "environ_get", end+1, out),
			want(fault, "environ_get", out, end+1),
			want(fault, "environ_get", -1, -1),
		}},

		// Clocks.
		{name: "what clocks can tell apart", uses: []use{
			want(ok, "clock_res_get", 0, out),
			want(ok, "clock_res_get", 1, out+16),
		}, written: "1024:0100000000000000 1040:0100000000000000"},
		{name: "clocks that there are not", uses: []use{
			want(inval, "clock_res_get", 2, out),
			want(inval, "clock_res_get", 3, out),
			want(inval, "clock_res_get", 4, -1),
			want(inval, "clock_res_get", -1, out),
			want(fault, "clock_res_get", 0, end-7),
			want(fault, "clock_res_get", 1, -1),
		}},
		{name: "the clocks", uses: []use{
			want(ok, "clock_time_get", 0, 0, out),
			want(ok, "clock_time_get", 1, 0, out+16),
			want(ok, "clock_time_get", 0, -1, out+32),
			want(ok, "clock_time_get", 1, 1<<40, out+48),
		}, written: "1024:15cd853dfe9c9717 1040:00ca9a3b00000000 1056:15cd853dfe9c9717 1072:00ca9a3b00000000"},
		{name: "clocks that there are not, and places", uses: []use{
			want(inval, "clock_time_get", 2, 0, out),
			want(inval, "clock_time_get", 3, 0, out),
			want(inval, "clock_time_get", 4, 0, -1),
			want(inval, "clock_time_get", -1, 0, out),
			want(fault, "clock_time_get", 0, 0, end-7),
			want(fault, "clock_time_get", 1, 0, -1),
		}},

		// Randomness.
		{name: "randomness", uses: []use{
			want(ok, "random_get", out, 5),
			want(ok, "random_get", out+8, 3),
			want(ok, "random_get", out+16, 16),
			want(ok, "random_get", out, 0),
			want(ok, "random_get", end, 0),
		}, written: "1024:0e42d4cae8 1032:864908 1040:e0b8c7520e360aa404427c9053d9a667"},
		{name: "randomness beyond memory", uses: []use{
			want(fault, "random_get", end+1, 0),
			want(fault, "random_get", last, 2),
			want(fault, "random_get", 0, -1),
			want(fault, "random_get", -1, 1),
			want(ok, "random_get", out, 1),
		}, written: "1024:0e"},

		// The streams: open, closed, closed twice, and others.
		{name: "closing", uses: []use{
			want(ok, "fd_close", 0),
			want(ok, "fd_close", 1),
			want(ok, "fd_close", 2),
			want(badf, "fd_close", 0),
			want(badf, "fd_close", 1),
			want(badf, "fd_close", 2),
		}},
		{name: "closing what is not open", uses: []use{
			want(badf, "fd_close", 3),
			want(badf, "fd_close", 255),
			want(badf, "fd_close", -1),
			want(badf, "fd_close", -1<<31),
		}},
		{name: "what is known of the streams", uses: []use{
			want(ok, "fd_fdstat_get", 0, out),
			want(ok, "fd_fdstat_get", 1, out+32),
			want(ok, "fd_fdstat_get", 2, out+64),
		}, written: "1024:0100000000000000ff01e008000000000000000000000000 1056:0100000000000000ff01e008000000000000000000000000 1088:0100000000000000ff01e008000000000000000000000000"},
		{name: "what is known of others", uses: []use{
			want(badf, "fd_fdstat_get", 3, out),
			want(badf, "fd_fdstat_get", -1, out),
			want(fault, "fd_fdstat_get", 3, end-23),
			want(fault, "fd_fdstat_get", 0, end-23),
			want(fault, "fd_fdstat_get", 0, -1),
		}},
		{name: "what is known of one that was closed", uses: []use{
			want(ok, "fd_close", 1),
			want(badf, "fd_fdstat_get", 1, out),
			want(fault, "fd_fdstat_get", 1, -1),
		}},
		{name: "flags", uses: []use{
			want(ok, "fd_fdstat_set_flags", 0, 0),
			want(ok, "fd_fdstat_set_flags", 1, 1),
			want(nosys, "fd_fdstat_set_flags", 2, 4),
			want(nosys, "fd_fdstat_set_flags", 2, 5),
			want(inval, "fd_fdstat_set_flags", 0, 2),
			want(inval, "fd_fdstat_set_flags", 0, 8),
			want(inval, "fd_fdstat_set_flags", 0, 16),
			want(ok, "fd_fdstat_set_flags", 0, 32),
			want(nosys, "fd_fdstat_set_flags", 0, 1<<16|4),
			want(ok, "fd_fdstat_set_flags", 0, 1<<16),
		}},
		{name: "flags of others", uses: []use{
			want(badf, "fd_fdstat_set_flags", 3, 0),
			want(badf, "fd_fdstat_set_flags", 3, 4),
			want(inval, "fd_fdstat_set_flags", 3, 2),
			want(badf, "fd_fdstat_set_flags", -1, 0),
			want(ok, "fd_close", 0),
			want(badf, "fd_fdstat_set_flags", 0, 0),
		}},
		{name: "flags are not kept", uses: []use{
			want(ok, "fd_fdstat_set_flags", 1, 1),
			want(ok, "fd_fdstat_get", 1, out),
		}, written: "1024:0100000000000000ff01e008000000000000000000000000"},
		{name: "directories", uses: []use{
			want(ok, "fd_prestat_get", 0, out),
			want(ok, "fd_prestat_get", 1, out+16),
			want(ok, "fd_prestat_get", 2, out+32),
			want(fault, "fd_prestat_get", 0, end-7),
			want(ok, "fd_prestat_get", 0, end-8),
		}, written: "1024:0000000000000000 1040:0000000000000000 1056:0000000000000000"},
		{name: "directories of others", uses: []use{
			want(badf, "fd_prestat_get", 3, out),
			want(badf, "fd_prestat_get", 3, -1),
			want(badf, "fd_prestat_get", -1, out),
			want(ok, "fd_close", 2),
			want(badf, "fd_prestat_get", 2, out),
		}},
		{name: "names of directories", uses: []use{
			want(ok, "fd_prestat_dir_name", 0, out, 0),
			want(ok, "fd_prestat_dir_name", 1, end, 0),
			want(fault, "fd_prestat_dir_name", 2, end+1, 0),
			want(nameTooLong, "fd_prestat_dir_name", 2, out, 1),
			want(nameTooLong, "fd_prestat_dir_name", 2, -1, -1),
		}},
		{name: "names of directories of others", uses: []use{
			want(badf, "fd_prestat_dir_name", 3, out, 0),
			want(badf, "fd_prestat_dir_name", -1, out, 1),
			want(ok, "fd_close", 0),
			want(badf, "fd_prestat_dir_name", 0, out, 0),
		}},
		{name: "positions", uses: []use{
			want(nosys, "fd_seek", 0, 0, 0, out),
			want(nosys, "fd_seek", 1, 0, 1, out),
			want(nosys, "fd_seek", 2, -1, 2, out),
			want(nosys, "fd_seek", 0, 0, 3, out),
			want(nosys, "fd_seek", 0, 0, -1, -1),
			want(badf, "fd_seek", 3, 0, 0, out),
			want(badf, "fd_seek", -1, 0, 0, out),
			want(ok, "fd_close", 0),
			want(badf, "fd_seek", 0, 0, 0, out),
		}},

		// Reading.
		{name: "reading", uses: []use{
			want(ok, "fd_read", 0, wasiVectors, 2, out),
			want(ok, "fd_read", 0, wasiVectors, 2, out+8),
			want(ok, "fd_read", 0, wasiVectors, 0, out+16),
			want(ok, "fd_read", 0, wasiEmpty, 1, out+24),
			want(ok, "fd_read", 0, end, 0, out+32),
		}, written: "1024:00000000 1032:00000000 1040:00000000 1048:00000000 1056:00000000"},
		{name: "reading to nowhere", uses: []use{
			want(fault, "fd_read", 0, wasiVectors, 2, end-3),
			want(fault, "fd_read", 0, end-7, 1, out),
			want(fault, "fd_read", 0, end+8, 0, out),
			want(ok, "fd_read", 0, wasiBad, 2, out),
			want(fault, "fd_read", 0, wasiBad+8, 1, out+8),
			want(fault, "fd_read", 0, 0, 1<<28, out),
			want(fault, "fd_read", 0, 0, 1<<29, out), // 4 GiB of them
			want(fault, "fd_read", 0, wasiBad+8, 1, -1),
		}, written: "1024:00000000"},
		{name: "reading from an output", uses: []use{
			want(badf, "fd_read", 1, wasiVectors, 2, out),
			want(badf, "fd_read", 2, wasiVectors, 1, out),
			want(ok, "fd_read", 1, wasiVectors, 0, out),
			want(ok, "fd_read", 1, wasiEmpty, 1, out+8),
			want(fault, "fd_read", 1, end, 1, out),
			want(fault, "fd_read", 1, wasiVectors, 0, -1),
			want(fault, "fd_read", 1, wasiBad+8, 1, out),
		}, written: "1024:00000000 1032:00000000"},
		{name: "reading from others", uses: []use{
			want(badf, "fd_read", 3, wasiVectors, 2, out),
			want(badf, "fd_read", -1, -1, -1, -1),
			want(ok, "fd_close", 0),
			want(badf, "fd_read", 0, wasiVectors, 2, out),
			want(badf, "fd_read", 0, wasiVectors, 0, out),
		}},

		// Writing.
		{name: "writing", uses: []use{
			want(ok, "fd_write", 1, wasiVectors, 2, out),
			want(ok, "fd_write", 2, wasiVectors, 1, out+8),
			want(ok, "fd_write", 1, wasiVectors, 0, out+16),
			want(ok, "fd_write", 1, wasiEmpty, 1, out+24),
			want(ok, "fd_write", 2, end, 0, out+32),
		}, written: "1024:06000000 1032:03000000 1040:00000000 1048:00000000 1056:00000000", stderr: "onetwoone"},
		{name: "writing from nowhere", uses: []use{
			want(fault, "fd_write", 1, wasiVectors, 2, end-3),
			want(fault, "fd_write", 2, end-7, 1, out),
			want(fault, "fd_write", 2, end+8, 0, out),
			want(fault, "fd_write", 1, wasiBad, 2, out),
			want(fault, "fd_write", 1, wasiBad+8, 1, out+8),
			want(fault, "fd_write", 1, 0, 1<<28, out),
			want(fault, "fd_write", 1, 0, 1<<29, out),
			want(fault, "fd_write", 1, 0, -1, out),
		}, stderr: "onetwoone"},
		{name: "writing to the input", uses: []use{
			want(badf, "fd_write", 0, wasiVectors, 2, out),
			want(ok, "fd_write", 0, wasiVectors, 0, out),
			want(badf, "fd_write", 0, wasiEmpty, 1, out+8),
			want(fault, "fd_write", 0, end, 1, out),
			want(fault, "fd_write", 0, wasiBad+8, 1, out),
			want(fault, "fd_write", 0, wasiVectors, 0, -1),
		}, written: "1024:00000000"},
		{name: "writing to others", uses: []use{
			want(badf, "fd_write", 3, wasiVectors, 2, out),
			want(badf, "fd_write", -1, -1, -1, -1),
			want(ok, "fd_close", 1),
			want(badf, "fd_write", 1, wasiVectors, 2, out),
			want(badf, "fd_write", 1, wasiVectors, 0, out),
			want(ok, "fd_write", 2, wasiVectors, 2, out+8),
			want(ok, "fd_close", 2),
			want(badf, "fd_write", 2, wasiVectors, 2, out),
		}, written: "1032:06000000", stderr: "onetwo"},

		{name: "yielding", uses: []use{
			want(ok, "sched_yield"),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			written, got := useWASI(t, box, s, 1_700_000_000_123_456_789, tc.uses...)
			if written != tc.written || string(got.Stderr) != tc.stderr || string(got.Output) != "{}" {
				t.Errorf("written: %q, stderr: %q, want %q and %q; output %q", written, got.Stderr, tc.written, tc.stderr, got.Output)
			}
		})
	}
}

func TestClocksShowEveryTime(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	for _, started := range []int64{-1 << 63, -1_500_000_001, -1, 0, 1, 1<<63 - 1} {
		written, out := useWASI(t, box, s, started, want(0, "clock_time_get", 0, 0, wasiOut), want(0, "clock_time_get", 1, 0, wasiOut+16))
		if w := fmt.Sprintf("1024:%x 1040:00ca9a3b00000000", binary.LittleEndian.AppendUint64(nil, uint64(started))); written != w || string(out.Output) != "{}" {
			t.Errorf("at %d: %q, %v", started, written, out.Err)
		}
	}
}

// TestWhatStartingLeavesBehind closes a stream, writes and waits in _initialize: the call goes on from there, and the next one too.
func TestWhatStartingLeavesBehind(t *testing.T) {
	g := newGuest()
	importing := func(name string) uint32 { return g.Import(toolabi.WASIModule, name, sandbox.WASIParams(t, name), i32) }
	write, closing, poll, now := importing("fd_write"), importing("fd_close"), importing("poll_oneoff"), importing("clock_time_get")
	g.Data(0, []byte{16, 0, 0, 0, 4, 0, 0, 0})
	g.Data(16, []byte("one\ntwo\n"))
	g.Data(64, clockSubscription(1, 5000, 0))
	must := func(errno int32) []byte { return slices.Concat(I32Const(errno), I32Eq, I32Eqz, If, Unreachable, End) }
	writing := func(fd, errno int32) []byte {
		return slices.Concat(I32Const(fd), I32Const(0), I32Const(1), I32Const(512), Call(write), must(errno))
	}
	started := g.Func(nil, nil, 0,
		writing(2, 0), I32Const(0), I32Const(20), I32Store, // so that the next time it is the second line
		I32Const(1), Call(closing), must(0),
		I32Const(64), I32Const(128), I32Const(1), I32Const(512), Call(poll), must(0))
	g.Export(toolabi.ExportInitialize, started)
	ok := g.ok(t)
	g.invoke(0,
		I32Const(1), I64Const(0), I32Const(512), Call(now), must(0), I32Const(512), I32Load, must(1_000_005_000),
		writing(1, 8), writing(2, 0), I32Const(2), Call(closing), must(0), writing(2, 8), ok)
	box, s := open(t, sandbox.Config{})
	d := s.add(g.build(t))
	for n := range 3 {
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "echo"}, nil)
		if err != nil || string(out.Output) != "{}" || string(out.Stderr) != "one\ntwo\n" {
			t.Errorf("call %d: output %q, standard error %q, %v, %v", n, out.Output, out.Stderr, out.Err, err)
		}
	}
}

// TestAGuestIsNotToldThatItsTimeIsOver ends the context while the host is asked, and looks at what the guest gets after that. What
// takes no time is answered as ever, so that what was nearly finished counts; what may take long unwinds, and is no errno.
func TestAGuestIsNotToldThatItsTimeIsOver(t *testing.T) {
	limit := toolabi.NewError(toolabi.LimitTime, "its time is over")
	for _, tc := range []struct {
		use  use
		ends bool
	}{
		{want(0, "args_sizes_get", wasiOut, wasiOut), false},
		{want(0, "args_get", wasiOut, wasiOut), false},
		{want(0, "environ_sizes_get", wasiOut, wasiOut), false},
		{want(0, "environ_get", wasiOut, wasiOut), false},
		{want(0, "clock_res_get", 0, wasiOut), false},
		{want(0, "clock_time_get", 0, 0, wasiOut), false},
		{want(0, "fd_close", 1), false},
		{want(0, "fd_fdstat_get", 1, wasiOut), false},
		{want(0, "fd_fdstat_set_flags", 1, 0), false},
		{want(0, "fd_prestat_get", 1, wasiOut), false},
		{want(8, "fd_prestat_dir_name", 3, wasiOut, 0), false},
		{want(52, "fd_seek", 1, 0, 0, wasiOut), false},
		{want(0, "sched_yield"), false},
		{want(0, "random_get", wasiOut, 1), true},
		{want(0, "fd_write", 2, wasiVectors, 2, wasiOut), true},
		{want(28, "poll_oneoff", 0, 0, 0, 0), true},
		{want(52, "fd_sync", 1), true},
	} {
		t.Run(tc.use.function, func(t *testing.T) {
			g := newGuest(toolabi.FuncClock)
			function := g.Import(toolabi.WASIModule, tc.use.function, sandbox.WASIParams(t, tc.use.function), i32)
			g.Data(0, wasiMemory()[:replyAt])
			ok := g.ok(t)
			g.invoke(0, I32Const(0), I32Const(0), Call(g.host[toolabi.FuncClock]), I32WrapI64, Drop,
				tc.use.params(t), Call(function), I32Const(int32(tc.use.errno)), I32Eq, I32Eqz, If, Unreachable, End, ok)
			box, s := open(t, sandbox.Config{})
			ctx, cancel := context.WithCancelCause(t.Context())
			out, err := box.Invoke(ctx, toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}, func(context.Context, string, []byte) (toolabi.Answer, error) {
				cancel(limit)
				return toolabi.Answer{Reply: []byte("1")}, nil
			})
			must(t, err)
			if ended := out.Err == limit; ended != tc.ends || !ended && string(out.Output) != "{}" {
				t.Errorf("output %q, error %v; want an end: %v", out.Output, out.Err, tc.ends)
			}
		})
	}
}
