package hostile

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

func sections(s ...[]byte) func() []byte {
	return func() []byte { return slices.Concat(append([][]byte{Header}, s...)...) }
}

func raw(s string) func() []byte { return func() []byte { return []byte(s) } }

// unit is a type section with ()->(), huge a count that no file keeps.
var (
	unit = Section(1, []byte{1, 0x60, 0, 0})
	huge = U32(0xfffffff0)
)

// structure are files that are no modules, and modules that announce what they do not have.
func structure() []Case {
	bad := sandbox.Malformed
	return []Case{
		refused("W01", "empty", sandbox.Empty, "empty", raw("")),
		refused("W02", "magic-alone", bad, "ends after 4 bytes", raw("\x00asm")),
		refused("W03", "elf", bad, "not WebAssembly", raw("\x7fELF\x02\x01\x01")),
		refused("W04", "version-2", bad, "version 02", raw("\x00asm\x02\x00\x00\x00")),
		refused("W04", "component", sandbox.Component, "core modules", raw("\x00asm\x0d\x00\x01\x00")),
		{Name: "truncated-at-every-byte", Row: "W05", Modules: truncated, Want: Want{Refused: true}},
		refused("W06", "sections-out-of-order", bad, "out of order", sections(Section(3, []byte{0}), Section(1, []byte{0}))),
		refused("W06", "section-twice", bad, "twice", sections(Section(1, []byte{0}), Section(1, []byte{0}))),
		refused("W06", "section-200", bad, "section 200", sections(Section(200, nil))),
		refused("W07", "custom-section-of-4-GB", bad, "4294967280 bytes wanted", sections([]byte{0}, huge, []byte("\x01a"))),
		refused("W08", "data-of-4-GB", bad, "4294967280 bytes wanted",
			sections(Section(5, []byte{1, 0, 1}), Section(11, slices.Concat([]byte{1, 0}, I32Const(0), End, huge, []byte{1})))),
		refused("W09", "number-of-six-bytes", bad, "over 32 bits", sections([]byte{1, 0x80, 0x80, 0x80, 0x80, 0x80, 0})),
		refused("W09", "number-without-end", bad, "unexpected end", sections([]byte{1, 0x80, 0x80})),
		refused("W09", "constant-of-eleven-bytes", bad, "more than 10 bytes",
			sections(Section(6, slices.Concat([]byte{1, I64, 0, 0x42}, Times(11, []byte{0x80}), []byte{0, 0x0b})))),
		refused("W10", "functions-announced", bad, "announced", sections(unit, Section(3, U32(100_000_000)))),
		refused("W10", "exports-announced", bad, "announced", sections(Section(7, huge))),
		refused("W10", "types-announced", bad, "announced", sections(Section(1, huge))),
		refused("W10", "imports-announced", bad, "announced", sections(Section(2, huge))),
		refused("W10", "globals-announced", bad, "announced", sections(Section(6, huge))),
		refused("W10", "elements-announced", bad, "announced",
			sections(Section(9, slices.Concat([]byte{1, 1, 0}, huge)))),
		refused("W10", "locals-groups-announced", bad, "announced",
			sections(unit, Section(3, []byte{1, 0}), Section(10, slices.Concat([]byte{1, 6}, huge, End)))),
		refused("W10", "targets-announced", bad, "announced",
			sections(unit, Section(3, []byte{1, 0}), Section(10, slices.Concat([]byte{1, 10, 0, 0x41, 0, 0x0e}, huge, End)))),
		refused("W11", "more-bodies", bad, "1 functions and 2 bodies",
			sections(unit, Section(3, []byte{1, 0}), Section(10, []byte{2, 2, 0, 0x0b, 2, 0, 0x0b}))),
		refused("W11", "fewer-bodies", bad, "2 functions and 1 bodies",
			sections(unit, Section(3, []byte{2, 0, 0}), Section(10, []byte{1, 2, 0, 0x0b}))),
		refused("W11", "code-without-sense", bad, "", made(func(t *tool) { t.FuncRaw(nil, nil, []byte{0, 0x6a, 0x0b}) })),
		refused("W11", "no-bodies", bad, "without code", sections(unit, Section(3, []byte{1, 0}))),
	}
}

// truncated is a tool cut off at every byte.
func truncated() [][]byte {
	whole := newTool().bytes()
	cut := make([][]byte, len(whole)-1)
	for n := range cut {
		cut[n] = whole[:n]
	}
	return cut
}
