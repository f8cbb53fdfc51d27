package wasm

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

// ample is a module that has at least three of everything that is capped.
func ample() []byte {
	code := slices.Concat([]byte{2, 3, I32, 2, I64},
		[]byte{opLoop, 0x40, opLoop, 0x40, opLoop, 0x40, opI32Const, 0, opBrTable, 3, 0, 0, 0, 0, opEnd, opEnd, opEnd},
		[]byte{opI32Const, 0, opIf, 0x40, opEnd, opI32Const, 0, opBrIf, 0},
		[]byte{opBlock, 3, opUnreachable, opEnd, opBr, 0}, []byte{opEnd})
	bodies := []byte{3}
	for range 3 {
		bodies = append(append(bodies, byte(len(code))), code...)
	}
	name := func(s string) []byte { return appendName(nil, s) }
	global := []byte{I32, 1, opI32Const, 0, opEnd}
	return module(
		written{secType, []byte{4, 0x60, 3, I32, I32, I32, 0, 0x60, 0, 0, 0x60, 1, I64, 0, 0x60, 0, 5, I32, I32, I32, I32, I32}},
		written{secImport, slices.Concat([]byte{3}, name("a"), name("b"), []byte{0, 1}, name("a"), name("c"), []byte{0, 1}, name("a"), name("d"), []byte{0, 1})},
		written{secFunction, []byte{3, 1, 1, 1}},
		written{secTable, []byte{3, FuncRef, 0, 3, FuncRef, 0, 3, FuncRef, 0, 3}},
		written{secMemory, []byte{1, 0, 1}},
		written{secGlobal, slices.Concat([]byte{3}, global, global, global)},
		written{secExport, slices.Concat([]byte{3}, name("x"), []byte{0, 0}, name("y"), []byte{0, 0}, name("z"), []byte{0, 0})},
		written{secElement, []byte{3, 0, opI32Const, 0, opEnd, 1, 0, 0, opI32Const, 1, opEnd, 1, 0, 0, opI32Const, 2, opEnd, 1, 0}},
		written{secCode, bodies},
		written{secData, slices.Concat([]byte{3}, slices.Repeat([]byte{0, opI32Const, 0, opEnd, 1, 'x'}, 3))},
		written{secCustom, name("one")}, written{secCustom, name("two")}, written{secCustom, name("three")},
	)
}

// Each cap has an error of its own, which names what there is too much of, how much, and the cap.
func TestEachCapHasItsError(t *testing.T) {
	wasm := ample()
	if _, err := Parse(wasm, Caps{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	fields := reflect.TypeFor[Caps]()
	for i := range fields.NumField() {
		field := fields.Field(i).Name
		var caps Caps
		reflect.ValueOf(&caps).Elem().Field(i).SetUint(2)
		m, err := Parse(wasm, caps)
		if err == nil {
			_, err = m.Rewrite(Bounds{})
		}
		var over *CapError
		if !errors.As(err, &over) || over.Limit != 2 || over.Found <= 2 {
			t.Errorf("%s: %v", field, err)
			continue
		}
		if other, ok := seen[over.What]; ok {
			t.Errorf("%s and %s have the same error: %v", field, other, err)
		}
		seen[over.What] = field
	}
}
