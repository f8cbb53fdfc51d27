package sandbox_test

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// worldly are places on the host's side: WASI's, and those of the functions of ABI 1.
func worldly() []place {
	return []place{
		writes("a line without an end", "left;"),
		writes("a line that says why", "panic: left\n"),
		writes("half of an escape", "\x1b]0;left"),
		writes("half of a character", "left \xe2\x82"),
		changes("fd_close", 1),
		changes("fd_renumber", 1, 5),
		changes("fd_fdstat_set_flags", 1, 1),
		{"random_get", func(p *placeGuest) (leave, look []byte) {
			random := p.wasi("random_get", i32s)
			return slices.Concat(callWith(random, free, 99), Drop), seeI32(8, callWith(random, seen, 8))
		}},
		{"poll_oneoff", func(p *placeGuest) (leave, look []byte) {
			poll, now := p.wasi("poll_oneoff", fours), p.wasi("clock_time_get", []byte{I32, I64, I32})
			read := func(clock, at int32) []byte {
				return slices.Concat(I32Const(clock), I64Const(0), I32Const(at), Call(now), Drop)
			}
			hour := slices.Concat(I32Const(free+24), I64Const(3600e9), I64Store)
			return slices.Concat(hour, callWith(poll, free, free+64, 1, free+128), Drop), slices.Concat(read(0, seen), read(1, seen+8))
		}},
		{"what _initialize did", func(p *placeGuest) (leave, look []byte) {
			poll, now, write := p.wasi("poll_oneoff", fours), p.wasi("clock_time_get", []byte{I32, I64, I32}), p.wasi("fd_write", fours)
			closes := p.wasi("fd_close", i32)
			sleep := slices.Concat(I32Const(free+24), I64Const(3600e9), I64Store, callWith(poll, free, free+64, 1, free+128), Drop)
			p.initialize = [][]byte{sleep, p.says(write, free+256, "started;"), Drop, callWith(closes, 2), Drop}
			look = slices.Concat(I32Const(1), I64Const(0), I32Const(seen), Call(now), Drop, seeI32(8, callWith(closes, 2)))
			return slices.Concat(sleep, p.says(write, free+512, "left;"), Drop), look
		}},
		{"result of a host function", func(p *placeGuest) (leave, look []byte) {
			return slices.Concat(callWith(p.host[toolabi.FuncLog], logLine, 6), Drop), seeI32(60, callWith(p.result, seen, 60, 0))
		}},
		{"lines of log", func(p *placeGuest) (leave, look []byte) {
			log := callWith(p.host[toolabi.FuncLog], logLine, 6)
			return p.repeat(toolabi.MaxSaid+1, log, Drop), seeI32(0, log, I32WrapI64)
		}},
		{"a piece of a reply", func(p *placeGuest) (leave, look []byte) {
			return slices.Concat(callWith(p.output, logLine, 6), Drop), nil
		}},
		{"depth of calls", func(p *placeGuest) (leave, look []byte) {
			deep := p.deep()
			return append(callWith(deep, 30_000), Drop...), seeI32(0, callWith(deep, 20_000))
		}},
	}
}

// writes is a place where something is written to standard output.
func writes(name, words string) place {
	return place{name, func(p *placeGuest) (leave, look []byte) {
		write := p.wasi("fd_write", fours)
		return slices.Concat(p.says(write, free+64, words), Drop), p.stdout(write)
	}}
}

// changes is a place where a function is used that changes descriptors.
func changes(name string, args ...int32) place {
	return place{name, func(p *placeGuest) (leave, look []byte) {
		change, write := p.wasi(name, i32s[:len(args)]), p.wasi("fd_write", fours)
		return slices.Concat(callWith(change, args...), Drop), p.stdout(write)
	}}
}

var fours = []byte{I32, I32, I32, I32}

func (p *placeGuest) wasi(name string, params []byte) uint32 {
	return p.Import(toolabi.WASIModule, name, params, i32)
}

// stdout is code that looks at standard output: what a write comes to.
func (p *placeGuest) stdout(write uint32) []byte {
	return slices.Concat(seeI32(0, p.says(write, free, "looked;")), seeI32(4, I32Const(free+128), I32Load))
}

// says is code that writes words and pushes the errno.
func (p *placeGuest) says(write uint32, at int32, words string) []byte {
	p.Data(at, []byte{byte(at + 8), byte((at + 8) >> 8), 0, 0, byte(len(words)), 0, 0, 0})
	p.Data(at+8, []byte(words))
	return callWith(write, 1, at, 1, free+128)
}
