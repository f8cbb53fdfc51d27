package wasm

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// module writes a module of these sections.
func module(sections ...written) []byte {
	var out bytes.Buffer
	out.WriteString("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		writeSection(&out, s.id, s.content)
	}
	return out.Bytes()
}

// rewrite returns the module rewritten, read again.
func rewrite(t testing.TB, wasm []byte) (before, after *Module) {
	t.Helper()
	before, err := Parse(wasm, Caps{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := before.Rewrite(Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	if after, err = Parse(b, Caps{}); err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	return before, after
}

func TestCustomSectionsDoNotReachTheCompiler(t *testing.T) {
	m := module(written{secCustom, append(appendName(nil, "name"), 1, 4, 1, 0, 1, 'f')})
	if _, after := rewrite(t, m); len(after.Customs) != 0 {
		t.Errorf("%+v", after.Customs)
	}
}

func TestReservedNamesAreRefused(t *testing.T) {
	for _, m := range [][]byte{
		module(written{secGlobal, []byte{1, I32, 0, opI32Const, 0, opEnd}}, written{secExport, append(appendName([]byte{1}, GaugeExport), byte(KindGlobal), 0)}),
		module(written{secImport, append(appendName(appendName([]byte{1}, HostModule), RefillImport), byte(KindGlobal), I32, 0)}),
	} {
		parsed, err := Parse(m, Caps{})
		if err != nil {
			t.Fatal(err)
		}
		var format *FormatError
		if _, err := parsed.Rewrite(Bounds{}); !errors.As(err, &format) || !strings.Contains(err.Error(), "wrun:") {
			t.Errorf("%q: %v", m, err)
		}
	}
}

func TestTheMaximumOfAMemoryIsAPageMore(t *testing.T) {
	for _, tc := range []struct{ before, after Limits }{
		{Limits{}, Limits{}},
		{Limits{Min: 5}, Limits{Min: 5}},
		{Limits{HasMax: true}, Limits{HasMax: true}},
		{Limits{Max: 1, HasMax: true}, Limits{Max: 2, HasMax: true}},
		{Limits{Min: 2, Max: 2, HasMax: true}, Limits{Min: 2, Max: 3, HasMax: true}},
		{Limits{Min: 2, Max: 127, HasMax: true}, Limits{Min: 2, Max: 128, HasMax: true}},
		{Limits{Min: 65535, Max: 65535, HasMax: true}, Limits{Min: 65535, Max: 65536, HasMax: true}},
		{Limits{Min: 1, Max: 65536, HasMax: true}, Limits{Min: 1, Max: 65536, HasMax: true}},
	} {
		content := appendU32([]byte{1, flag(tc.before.HasMax)}, tc.before.Min)
		if tc.before.HasMax {
			content = appendU32(content, tc.before.Max)
		}
		before, after := rewrite(t, module(written{secMemory, content}))
		if before.Memories[0] != tc.before || after.Memories[0] != tc.after {
			t.Errorf("%+v became %+v, want %+v", before.Memories[0], after.Memories[0], tc.after)
		}
	}
	imported := append(appendName(appendName(nil, "m"), "memory"), byte(KindMemory), 1, 1, 2)
	if _, after := rewrite(t, module(written{secImport, append([]byte{1}, imported...)})); !bytes.Contains(after.wasm, imported) || len(after.Memories) > 0 {
		t.Errorf("an imported memory changed: % x", after.wasm)
	}
}

func TestGauge(t *testing.T) {
	g := NewGauge(100)
	if g.Fuel() != 0 || g.Overflowed() {
		t.Errorf("new: %x", uint64(g))
	}
	g -= 7 // charged
	if g.Fuel() != -7 || g.stack() != 100 {
		t.Errorf("after a charge: fuel %d, stack %d", g.Fuel(), g.stack())
	}
	g = g.Refilled(50) - 100<<32
	if g.Fuel() != 50 || g.stack() != 0 || g.Overflowed() {
		t.Errorf("all of the stack in use: fuel %d, stack %d", g.Fuel(), g.stack())
	}
	if g -= 1<<32 + 60; g.Fuel() != -10 || !g.Overflowed() {
		t.Errorf("over it: fuel %d, stack %d", g.Fuel(), g.stack())
	}
}

// FuzzRewrite holds that what the compiler gets is well-formed, has the same program, and bounded tables, and that it is the
// same each time.
func FuzzRewrite(f *testing.F) {
	f.Add(module(written{secCustom, append(appendName(nil, "name"), 1, 4, 1, 0, 1, 'f')}))
	f.Add(module(written{secTable, []byte{2, FuncRef, 0, 1, ExternRef, 1, 2, 9}}))
	f.Add(module(written{secType, []byte{1, 0x60, 0, 0}}, written{secFunction, []byte{1, 0}}, written{secCode, []byte{1, 2, 0, opEnd}}))
	f.Add(module(
		written{secType, []byte{1, 0x60, 0, 0}}, written{secFunction, []byte{2, 0, 0}}, written{secTable, []byte{1, FuncRef, 0, 4}},
		written{secElement, []byte{2, 0, opI32Const, 0, opEnd, 2, 0, 1, 5, FuncRef, 1, opRefFunc, 1, opEnd}},
		written{secCode, []byte{2, 9, 0, opLoop, 0x40, opCall, 1, opBr, 0, opEnd, opEnd, 3, 0, opReturn, opEnd}},
	))
	f.Add(module(
		written{secType, []byte{1, 0x60, 0, 0}}, written{secFunction, []byte{1, 0}},
		written{secCode, []byte{1, 24, 1, 1, I32, opLoop, 0x40, opBlock, 0x40, opLocalGet, 0, opBrTable, 1, 0, 0, opEnd, opI32Const, 0, opLocalSet, 0, opBr, 0, opEnd, opEnd}},
	))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := Parse(wasm, Caps{})
		if err != nil {
			return
		}
		b, err := m.Rewrite(Bounds{})
		if err != nil {
			return
		}
		again, err := Parse(b, Caps{Types: 1 << 20, Imports: 2000, Globals: 1 << 20, Exports: 1 << 20, BodyBytes: 1 << 30, Locals: 1 << 20, Functions: 1 << 20, Nesting: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range again.Tables {
			if !table.HasMax || table.Max > m.caps.TableElements {
				t.Errorf("table %+v is not bounded", table)
			}
		}
		for i, after := range again.Memories {
			if before := m.Memories[i]; after.HasMax != before.HasMax || after.Min != before.Min || after.Max-before.Max > 1 || after.Max == before.Max && after.Max > 0 && after.Max < maxPages {
				t.Errorf("memory %+v became %+v", before, after)
			}
		}
		if len(again.Memories) != len(m.Memories) || len(again.Tables) != len(m.Tables) || len(again.funcs) < len(m.funcs) || len(again.Imports) != len(m.Imports)+1 || len(again.Customs) > 0 || len(again.globals) <= len(m.globals) {
			t.Errorf("%+v became %+v", m, again)
		}
		if twice, _ := m.Rewrite(Bounds{}); !slices.Equal(b, twice) {
			t.Error("the second time it is another module")
		}
		checkHollow(t, m, b)
	})
}
