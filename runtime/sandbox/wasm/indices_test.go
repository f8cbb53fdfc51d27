package wasm

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestNothingThatIsAddedCanBeNamed takes a module that is whole but for one index, which is one too high. Behind the
// module's own stands something of the host's once it is rewritten: the gauge, above all.
func TestNothingThatIsAddedCanBeNamed(t *testing.T) {
	build := func(code []byte, exports, element []byte) []byte {
		body := slices.Concat([]byte{0}, code, []byte{opEnd})
		return module(
			written{secType, []byte{1, 0x60, 1, I64, 0}},
			written{secFunction, []byte{1, 0}},
			written{secTable, []byte{1, FuncRef, 0, 4}},
			written{secMemory, []byte{1, 0, 1}},
			written{secGlobal, []byte{1, I64, 1, opI64Const, 5, opEnd}},
			written{secExport, exports},
			written{secElement, element},
			written{secCode, slices.Concat([]byte{1, byte(len(body))}, body)},
		)
	}
	export := func(kind Kind, index byte) []byte { return append(appendName([]byte{1}, "x"), byte(kind), index) }
	none := []byte{0}
	for _, tc := range []struct {
		name string
		good []byte
		bad  []byte
	}{
		{"global.set", build([]byte{opI64Const, 1, opGlobalSet, 0}, none, none), build([]byte{opI64Const, 1, opGlobalSet, 1}, none, none)},
		{"global.get", build([]byte{opGlobalGet, 0, 0x1a}, none, none), build([]byte{opGlobalGet, 1, 0x1a}, none, none)},
		{"an exported global", build(nil, export(KindGlobal, 0), none), build(nil, export(KindGlobal, 1), none)},
		{"an exported function", build(nil, export(KindFunc, 0), none), build(nil, export(KindFunc, 1), none)},
		{"an exported table", build(nil, export(KindTable, 0), none), build(nil, export(KindTable, 1), none)},
		{"call", build([]byte{opI64Const, 1, opCall, 0}, none, none), build([]byte{opI64Const, 1, opCall, 1}, none, none)},
		{"call_indirect", build([]byte{opI64Const, 1, opI32Const, 0, opCallIndirect, 0, 0}, none, none), build([]byte{opI64Const, 1, opI32Const, 0, opCallIndirect, 1, 0}, none, none)},
		{"ref.func", build([]byte{opRefFunc, 0, 0x1a}, export(KindFunc, 0), none), build([]byte{opRefFunc, 1, 0x1a}, export(KindFunc, 0), none)},
		{"a local", build([]byte{opLocalGet, 0, 0x1a}, none, none), build([]byte{opLocalGet, 1, 0x1a}, none, none)},
		{"a label", build([]byte{opBr, 0}, none, none), build([]byte{opBr, 1}, none, none)},
		{"a label of br_if", build([]byte{opI32Const, 0, opBrIf, 0}, none, none), build([]byte{opI32Const, 0, opBrIf, 1}, none, none)},
		{"a label of br_table", build([]byte{opI32Const, 0, opBrTable, 1, 0, 0}, none, none), build([]byte{opI32Const, 0, opBrTable, 1, 0, 1}, none, none)},
		{"the type of a block", build([]byte{opI64Const, 1, opBlock, 0, 0x1a, opEnd}, none, none), build([]byte{opI64Const, 1, opBlock, 1, 0x1a, opEnd}, none, none)},
		{"an element", build(nil, none, []byte{1, 0, opI32Const, 0, opEnd, 1, 0}), build(nil, none, []byte{1, 0, opI32Const, 0, opEnd, 1, 1})},
	} {
		if _, err := Parse(tc.good, Caps{}); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		_, err := Parse(tc.bad, Caps{})
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), " 1 of 1") {
			t.Errorf("%s one too high: %v", tc.name, err)
		}
	}
}

func TestAnExportOfAnUnknownKindIsRefused(t *testing.T) {
	m := module(written{secExport, append(appendName([]byte{1}, "x"), 0x30, 0)})
	if _, err := Parse(m, Caps{}); err == nil || !strings.Contains(err.Error(), "export kind 48") {
		t.Errorf("%v", err)
	}
}

// TestAReferenceNeedsItsFunctionNamedOutsideOfCode holds what validation would no longer see: references are made in globals.
func TestAReferenceNeedsItsFunctionNamedOutsideOfCode(t *testing.T) {
	build := func(globals, exports, elements []byte) []byte {
		return module(
			written{secType, []byte{1, 0x60, 0, 0}},
			written{secFunction, []byte{1, 0}},
			written{secTable, []byte{1, FuncRef, 0, 4}},
			written{secGlobal, globals},
			written{secExport, exports},
			written{secElement, elements},
			written{secCode, []byte{1, 5, 0, opRefFunc, 0, 0x1a, opEnd}},
		)
	}
	none := []byte{0}
	for _, tc := range []struct {
		name   string
		module []byte
		good   bool
	}{
		{"nowhere", build(none, none, none), false},
		{"in a global", build([]byte{1, FuncRef, 0, opRefFunc, 0, opEnd}, none, none), true},
		{"in an export", build(none, []byte{1, 1, 'f', byte(KindFunc), 0}, none), true},
		{"in an export of a global", build([]byte{1, I32, 0, opI32Const, 0, opEnd}, []byte{1, 1, 'g', byte(KindGlobal), 0}, none), false},
		{"in an active segment", build(none, none, []byte{1, 0, opI32Const, 0, opEnd, 1, 0}), true},
		{"in a declaring segment", build(none, none, []byte{1, 3, 0, 1, 0}), true},
		{"in a segment of expressions", build(none, none, []byte{1, 5, FuncRef, 1, opRefFunc, 0, opEnd}), true},
	} {
		if _, err := Parse(tc.module, Caps{}); (err == nil) != tc.good {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
