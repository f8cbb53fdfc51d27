package sandbox_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

func eachFile(dir string, do func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return do(path)
	})
}

// TestUnlistedWASIAnswersENOSYS opens a file that exists and looks at what the call left in memory.
func TestUnlistedWASIAnswersENOSYS(t *testing.T) {
	i, l := I32, I64
	for _, f := range []struct {
		name   string
		params []byte
	}{
		{"path_open", []byte{i, i, i, i, i, l, l, i, i}},
		{"path_filestat_get", []byte{i, i, i, i, i}},
		{"sock_accept", []byte{i, i, i}},
		{"fd_pread", []byte{i, i, i, l, i}},
		{"proc_raise", []byte{i}},
	} {
		g := newGuest()
		imported := g.Import(toolabi.WASIModule, f.name, f.params, i32)
		var args []byte
		for n, p := range f.params {
			if p == I32 {
				args = append(args, I32Const(int32(1024+64*n))...)
			} else {
				args = append(args, I64Const(-1)...)
			}
		}
		ok := g.ok(t)
		unwritten := func(at int32) []byte { return slices.Concat(I32Const(at), I32Load, If, Unreachable, End) }
		g.invoke(0, args, Call(imported), I32Const(52), I32Eq, I32Eqz, If, Unreachable, End, unwritten(1024), unwritten(1024+64*8), ok)
		if out := outcome(t, g.build(t), nil); string(out.Output) != "{}" {
			t.Errorf("%s: %v", f.name, out.Err)
		}
	}
}

// pollGuest calls poll_oneoff with what is at 0, and answers with the bytes at 8192+3 to 8192+3+n behind a reply's head.
func pollGuest(t testing.TB, subscriptions []byte, n int32, after ...[]byte) []byte {
	g := newGuest()
	poll := g.Import(toolabi.WASIModule, "poll_oneoff", []byte{I32, I32, I32, I32}, i32)
	now := g.Import(toolabi.WASIModule, "clock_time_get", []byte{I32, I64, I32}, i32)
	g.Data(0, subscriptions)
	ok := g.ok(t)
	body := slices.Concat(I32Const(0), I32Const(1024), I32Const(n), I32Const(2048), Call(poll),
		If, Unreachable, End,
		I32Const(0), I64Const(0), I32Const(2056), Call(now), If, Unreachable, End)
	g.invoke(0, body, slices.Concat(after...), ok)
	return g.build(t)
}

func clockSubscription(userdata byte, timeout uint64, flags byte) []byte {
	b := make([]byte, 48)
	b[0] = userdata
	for i := range 8 {
		b[24+i] = byte(timeout >> (8 * i))
	}
	b[40] = flags
	return b
}

func fdSubscription(userdata, kind, fd byte) []byte {
	b := make([]byte, 48)
	b[0], b[8], b[16] = userdata, kind, fd
	return b
}

func TestWaitingMovesTheGuestsClock(t *testing.T) {
	must := func(at, want int32) []byte {
		return slices.Concat(I32Const(at), I32Load, I32Const(want), I32Eq, I32Eqz, If, Unreachable, End)
	}
	const events, count, clock = 1024, 2048, 2056 // where the guest finds what came back
	for _, tc := range []struct {
		name  string
		subs  []byte
		n     int32
		after [][]byte
	}{
		{"the first of two is due", slices.Concat(clockSubscription(7, 5000, 0), clockSubscription(8, 3000, 0)), 2,
			[][]byte{must(count, 1), must(events, 8), must(clock, 3000)}},
		{"both are due", slices.Concat(clockSubscription(7, 3000, 0), clockSubscription(8, 3000, 0)), 2,
			[][]byte{must(count, 2), must(events+32, 8), must(clock, 3000)}},
		{"a time that is to come", clockSubscription(7, 9000, 1), 1, [][]byte{must(count, 1), must(clock, 9000)}},
		{"output takes everything, at once", slices.Concat(clockSubscription(7, 5000, 0), fdSubscription(8, 2, 1)), 2,
			[][]byte{must(count, 1), must(events, 8), must(events+8, 2<<16), must(clock, 0)}},
		{"input is at its end", fdSubscription(9, 1, 0), 1, [][]byte{must(count, 1), must(events, 9), must(events+8, 1<<16), must(events+24, 1)}},
		{"a file that is not open", fdSubscription(9, 1, 5), 1, [][]byte{must(count, 1), must(events+8, 1<<16|8)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if out := outcome(t, pollGuest(t, tc.subs, tc.n, tc.after...), nil); string(out.Output) != "{}" {
				t.Errorf("outcome is %v", out.Err)
			}
		})
	}
}

func TestBadPollsAreErrnos(t *testing.T) {
	for n, want := range map[int32]int32{0: 28, 5000: 28, 4000: 21, 0x05555556: 28, -1: 28} {
		g := newGuest()
		poll := g.Import(toolabi.WASIModule, "poll_oneoff", []byte{I32, I32, I32, I32}, i32)
		g.invoke(0, I32Const(0), I32Const(1024), I32Const(n), I32Const(2048), Call(poll), I32Const(want), I32Eq, I32Eqz, If, Unreachable, End, g.ok(t))
		if out := outcome(t, g.build(t), nil); string(out.Output) != "{}" {
			t.Errorf("%d subscriptions: %v", n, out.Err)
		}
	}
}

func TestRandomnessOfAllMemoryAtOnce(t *testing.T) {
	g := newGuest()
	random := g.Import(toolabi.WASIModule, "random_get", i32s, i32)
	g.invoke(0, I32Const(0), I32Const(-1), Call(random), I32Const(21), I32Eq, I32Eqz, If, Unreachable, End, g.ok(t))
	if out := outcome(t, g.build(t), nil); string(out.Output) != "{}" {
		t.Errorf("4 GiB of randomness: %v", out.Err)
	}
}

func TestNoFilesAreOpen(t *testing.T) {
	g := newGuest()
	prestat := g.Import(toolabi.WASIModule, "fd_prestat_get", i32s, i32)
	g.invoke(0, I32Const(3), I32Const(0), Call(prestat), I32Const(8), I32Eq, I32Eqz, If, Unreachable, End, g.ok(t))
	if out := outcome(t, g.build(t), nil); string(out.Output) != "{}" {
		t.Errorf("descriptor 3: %v", out.Err)
	}
}
