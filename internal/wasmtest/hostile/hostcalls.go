package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// use is code that uses a host function with n bytes at ptr.
func use(f uint32, ptr, n int32) []byte {
	return slices.Concat(I32Const(ptr), I32Const(n), Call(f), Drop)
}

// hostCalls use the host's functions badly, or for ever.
func hostCalls() []Case {
	misuse := func(name string, ptr, n int32) Case {
		return runs("W42", name, toolabi.Protocol, "http_fetch", func(t *tool) {
			f := t.host(toolabi.FuncHTTPFetch)
			t.invoke(0, use(f, ptr, n))
		})
	}
	// again uses an import for ever.
	again := func(row, name, function string, code func(f uint32) []byte) Case {
		return stopped(row, name, func(t *tool) {
			f := t.host(function)
			t.invoke(0, Loop, code(f), Br(0), End)
		})
	}
	small := func(f uint32) []byte { return use(f, 0, 1) }
	large := func(f uint32) []byte { return use(f, 0, 2<<16) }
	waits := again("W51", "approval-that-nobody-gives", toolabi.FuncApprove, small)
	waits.Host = Waits
	panics := Case{Name: "host-function-panics", Row: "W59", Host: Panics, Want: Want{Fault: true, Says: "panicked"}, Modules: just(made(func(t *tool) {
		f := t.host(toolabi.FuncClock)
		t.invoke(0, use(f, 0, 0))
	}))}
	floods := stopped("W43", "answers-of-16-MB-for-ever", func(t *tool) {
		f := t.host(toolabi.FuncHTTPFetch)
		t.invoke(0, Loop, use(f, 0, 0), I32Const(0), I32Const(2<<16), I32Const(0), Call(t.result), Drop, Br(0), End)
	})
	floods.Host = Floods
	return append([]Case{
		misuse("request-across-the-end", 2<<16-1, 2),
		misuse("request-of-4-GB", 0, -1),
		misuse("request-of-2-GB", 0, -1<<31),
		misuse("request-around-the-end-of-32-bits", -8, 16),
		misuse("request-at-the-last-bytes-there-could-be", -4, 4),
		stopped("W42", "requests-of-8-MB-for-ever", func(t *tool) {
			t.pages = 128
			f := t.host(toolabi.FuncHTTPFetch)
			t.invoke(0, Loop, use(f, 0, 128<<16), Br(0), End)
		}),
		runs("W44", "host-function-while-it-starts", toolabi.Protocol, "outside of wrun_invoke", func(t *tool) {
			f := t.host(toolabi.FuncLog)
			t.initialize(use(f, 0, 0))
		}),
		runs("W44", "reply-while-it-starts", toolabi.Protocol, "outside of wrun_invoke", func(t *tool) { t.initialize(t.answer()) }),
		stopped("W44", "tool-call-of-itself-for-ever", func(t *tool) {
			f := t.host(toolabi.FuncToolCall)
			t.invoke(0, Loop, small(f), Br(0), End)
		}),
		again("W45", "log-for-ever", toolabi.FuncLog, small),
		again("W45", "log-of-128-KB-for-ever", toolabi.FuncLog, large),
		again("W46", "random-for-ever", toolabi.FuncRandom, small),
		again("W47", "clock-for-ever", toolabi.FuncClock, small),
		again("W47", "sleep-for-ever", toolabi.FuncSleep, small),
		again("W48", "keys-without-end", toolabi.FuncKVPut, small),
		again("W48", "values-of-128-KB-without-end", toolabi.FuncKVPut, large),
		again("W49", "artifacts-without-end", toolabi.FuncArtifactPut, small),
		again("W50", "questions-about-secrets-without-end", toolabi.FuncSecretHas, small),
		again("W51", "approval-for-ever", toolabi.FuncApprove, small),
		again("W51", "approval-of-128-KB-for-ever", toolabi.FuncApprove, large),
		waits, panics, floods,
	}, copies()...)
}

// copies use what is answered without leaving the sandbox, with as much as fits.
func copies() []Case {
	const pages, all = 250, 250 << 16
	forever := func(row, name string, code func(t *tool) []byte) Case {
		return stopped(row, name, func(t *tool) {
			t.pages = pages
			t.invoke(0, Loop, code(t), Drop, Br(0), End)
		})
	}
	// vectors fills memory with (0, all) over and over: each is a buffer of all of it.
	vectors := func(t *tool, function string) []byte {
		f := t.wasi(function, fds)
		t.Data(0, []byte{0, 0, 0, 0, all & 0xff, all >> 8 & 0xff, all >> 16 & 0xff, all >> 24})
		double := []byte{}
		for n := int32(8); n < 8<<20; n *= 2 {
			double = append(double, slices.Concat(I32Const(n), I32Const(0), I32Const(n), MemoryCopy)...)
		}
		return slices.Concat(double, I32Const(1), I32Const(0), I32Const(1_000_000), I32Const(all-8), Call(f))
	}
	return []Case{
		forever("W38", "input-for-ever", func(t *tool) []byte {
			return slices.Concat(I32Const(0), I32Const(all), I32Const(0), Call(t.read))
		}),
		forever("W39", "output-of-nothing-for-ever", func(t *tool) []byte {
			return slices.Concat(I32Const(0), I32Const(0), Call(t.write))
		}),
		runs("W39", "output-without-end", toolabi.LimitOutput, "", func(t *tool) {
			t.pages = 16
			t.invoke(0, Loop, I32Const(0), I32Const(1<<20), Call(t.write), I32Eqz, BrIf(0), End)
		}),
		forever("W39", "output-refused-for-ever", func(t *tool) []byte {
			return slices.Concat(I32Const(0), I32Const(1<<20), Call(t.write))
		}),
		forever("W45", "standard-error-for-ever", func(t *tool) []byte {
			f := t.wasi("fd_write", fds)
			t.Data(0, []byte{16, 0, 0, 0, 0, 0, 0xf0, 0})
			return slices.Concat(I32Const(2), I32Const(0), I32Const(1), I32Const(8), Call(f))
		}),
		forever("W45", "standard-error-by-a-million-buffers", func(t *tool) []byte { return vectors(t, "fd_write") }),
		forever("W45", "standard-input-by-a-million-buffers", func(t *tool) []byte { return vectors(t, "fd_read") }),
		forever("W46", "random-of-all-memory-for-ever", func(t *tool) []byte {
			f := t.wasi("random_get", i32s)
			return slices.Concat(I32Const(0), I32Const(all), Call(f))
		}),
		harmless("W46", "random-of-4-GB", func(t *tool) {
			f := t.wasi("random_get", i32s)
			t.invoke(0, I32Const(0), I32Const(-1), Call(f), I32Const(21), I32Eq, I32Eqz, If, Unreachable, End)
		}),
		forever("W46", "random-byte-by-byte-for-ever", func(t *tool) []byte {
			f := t.wasi("random_get", i32s)
			return slices.Concat(I32Const(0), I32Const(1), Call(f))
		}),
		forever("W47", "WASI-clock-for-ever", func(t *tool) []byte {
			f := t.wasi("clock_time_get", []byte{I32, I64, I32})
			return slices.Concat(I32Const(0), I64Const(1), I32Const(0), Call(f))
		}),
		forever("W47", "poll-for-ever", func(t *tool) []byte {
			f := t.wasi("poll_oneoff", fds)
			return slices.Concat(I32Const(0), I32Const(1<<20), I32Const(4096), I32Const(2<<20), Call(f))
		}),
		forever("W47", "yield-for-ever", func(t *tool) []byte { return Call(t.wasi("sched_yield", nil)) }),
	}
}
