package wasm

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestManyValuesAreWeighed holds that what takes many values along weighs as much as moving them, and that the results of
// calls and blocks count as places on the stack.
func TestManyValuesAreWeighed(t *testing.T) {
	long := bytes.Repeat([]byte{V128}, 100) // 200 places
	typ := func(params, results []byte) []byte {
		b := append(appendU32([]byte{0x60}, uint32(len(params))), params...)
		return append(appendU32(b, uint32(len(results))), results...)
	}
	const none, out, in, few = 0, 1, 2, 3
	types := slices.Concat([]byte{4}, typ(nil, nil), typ(nil, long), typ(long, nil), typ([]byte{I32, I32}, []byte{I32, I32}))
	for _, tc := range []struct {
		name   string
		typ    byte
		code   []byte
		weight uint64
		kept   uint64
	}{
		{"nothing", none, nil, 0, 0},
		{"call of few values", none, []byte{opCall, few}, 4, 0},
		{"call with results", none, []byte{opCall, out}, 204, 200},
		{"call with parameters", none, []byte{opCall, in}, 204, 0},
		{"indirect call with results", none, []byte{opCallIndirect, out, 0}, 208, 200},
		{"block and its end", none, []byte{opBlock, out, opEnd}, 200, 200},
		{"branch out of a block", none, []byte{opBlock, out, opBr, 0, opEnd}, 401, 200},
		{"branch out of a block of one value", none, []byte{opBlock, V128, opBr, 0, opEnd}, 1, 0},
		{"begin of a loop", none, []byte{opLoop, in, opEnd}, 200, 200},
		{"branch back", none, []byte{opLoop, in, opBr, 0, opEnd}, 401, 200},
		{"branch back to a loop that leaves values", none, []byte{opLoop, out, opBr, 0, opEnd}, 201, 200},
		{"conditional branch", none, []byte{opBlock, out, opBrIf, 0, opEnd}, 401, 200},
		{"table of branches", none, []byte{opBlock, 0x40, opBlock, out, opBrTable, 1, 0, 1, opEnd, opEnd}, 404, 200},
		{"both sides of an if", none, []byte{opIf, out, opElse, opEnd}, 401, 200},
		{"return", out, []byte{opReturn}, 401, 0}, // and the end of the function
		{"branch out of the function", out, []byte{opBr, 0}, 401, 0},
	} {
		// The functions that are called have the types of their indices.
		body := slices.Concat([]byte{0}, tc.code, []byte{opEnd})
		trap := []byte{3, 0, opUnreachable, opEnd}
		code := slices.Concat([]byte{5}, trap, trap, trap, trap, []byte{byte(len(body))}, body)
		m, err := Parse(module(written{secType, types}, written{secFunction, []byte{5, none, out, in, few, tc.typ}}, written{secCode, code}), Caps{})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		f := m.funcs[4]
		if f.weight != tc.weight || f.places != tc.kept {
			t.Errorf("%s: weight %d and %d places, want %d and %d", tc.name, f.weight, f.places, tc.weight, tc.kept)
		}
	}
}

// TestMergesAreWeighed holds that the end of a block weighs what may have to be moved there: the locals that were set in it,
// each once.
func TestMergesAreWeighed(t *testing.T) {
	set := func(local byte) []byte { return []byte{opI32Const, 0, opLocalSet, local} } // weighs 2
	for _, tc := range []struct {
		name string
		code []byte
		want uint64
	}{
		{"outside of the block", slices.Concat(set(0), []byte{opBlock, 0x40, opEnd}), 2},
		{"in the block", slices.Concat([]byte{opBlock, 0x40}, set(0), []byte{opEnd}), 3},
		{"in a block in the block", slices.Concat([]byte{opBlock, 0x40, opBlock, 0x40}, set(0), set(1), []byte{opEnd, opEnd}), 8},
		{"in an if", slices.Concat([]byte{opI32Const, 0, opIf, 0x40}, set(0), []byte{opElse}, set(1), []byte{opEnd}), 8},
		{"in a loop, which only its begin leads into", slices.Concat([]byte{opLoop, 0x40}, set(0), []byte{opEnd}), 2},
		{"more often than there are locals", slices.Concat([]byte{opBlock, 0x40}, bytes.Repeat(set(2), 10), []byte{opEnd}), 23},
	} {
		body := slices.Concat([]byte{1, 3, I32}, tc.code, []byte{opEnd})
		m, err := Parse(module(written{secType, []byte{1, 0x60, 0, 0}}, written{secFunction, []byte{1, 0}},
			written{secCode, slices.Concat([]byte{1, byte(len(body))}, body)}), Caps{})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		} else if got := m.funcs[0].weight; got != tc.want {
			t.Errorf("%s: weight %d, want %d", tc.name, got, tc.want)
		}
	}
}

// TestMergesBeyondMeasureHavePlaces has 100 blocks in each other in whose innermost 100 locals are set.
func TestMergesBeyondMeasureHavePlaces(t *testing.T) {
	body := slices.Concat([]byte{1, 100, I32}, bytes.Repeat([]byte{opBlock, 0x40}, 100))
	for i := range byte(100) {
		body = append(body, opI32Const, 0, opLocalSet, i)
	}
	body = append(body, bytes.Repeat([]byte{opEnd}, 101)...)
	m, err := Parse(module(written{secType, []byte{1, 0x60, 0, 0}}, written{secFunction, []byte{1, 0}},
		written{secCode, slices.Concat([]byte{1}, appendU32(nil, uint32(len(body))), body)}), Caps{})
	if err != nil {
		t.Fatal(err)
	}
	f := m.funcs[0]
	if f.plain != 200 || f.weight != 10_200 || f.places != 10_000-mergedPerWeight*200 {
		t.Errorf("weight %d, %d without values, and %d places", f.weight, f.plain, f.places)
	}
}

// TestManyValuesAreCapped takes calls that are never reached, and of which only the check of types sees anything: 60,000 of
// them, 120 KB, took 2 GB to check.
func TestManyValuesAreCapped(t *testing.T) {
	typ := append(appendU32([]byte{2, 0x60, 0, 0, 0x60, 0}, 1000), bytes.Repeat([]byte{I32}, 1000)...)
	parse := func(calls int, caps Caps) error {
		body := slices.Concat([]byte{0, opUnreachable}, bytes.Repeat([]byte{opCall, 0}, calls), []byte{opUnreachable, opEnd})
		code := slices.Concat([]byte{2, 3, 0, opUnreachable, opEnd}, appendU32(nil, uint32(len(body))), body)
		_, err := Parse(module(written{secType, typ}, written{secFunction, []byte{2, 1, 0}}, written{secCode, code}), caps)
		return err
	}
	if err := parse(1000, Caps{Values: 1000}); err != nil {
		t.Error(err)
	}
	for what, caps := range map[string]Caps{"leave": {Values: 1000}, "all functions": {Values: 1000, Moved: 1_000_000, Kept: 1 << 30}} {
		var over *CapError
		if err := parse(1100, caps); !errors.As(err, &over) || !strings.Contains(over.What, what) {
			t.Errorf("%v, want a CapError of what they %s", err, what)
		}
	}
}

// TestEveryTargetOfATableTakesItsValues: the check of types looks at all of them for each.
func TestEveryTargetOfATableTakesItsValues(t *testing.T) {
	typ := append(appendU32([]byte{2, 0x60, 0, 0, 0x60, 0}, 1000), bytes.Repeat([]byte{I32}, 1000)...)
	body := slices.Concat([]byte{0, opBlock, 1, opUnreachable, opBrTable}, appendU32(nil, 999), make([]byte, 1000), []byte{opEnd, opUnreachable, opEnd})
	code := slices.Concat([]byte{1}, appendU32(nil, uint32(len(body))), body)
	wasm := module(written{secType, typ}, written{secFunction, []byte{1, 0}}, written{secCode, code})
	if _, err := Parse(wasm, Caps{Values: 1000, Moved: 1_001_000}); err != nil {
		t.Error(err)
	}
	var over *CapError
	if _, err := Parse(wasm, Caps{Values: 1000, Moved: 1_000_999}); !errors.As(err, &over) {
		t.Errorf("%v, want a CapError", err)
	}
}
