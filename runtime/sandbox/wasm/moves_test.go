package wasm

import (
	"bytes"
	"slices"
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
		if f.weight != tc.weight || f.kept != tc.kept {
			t.Errorf("%s: weight %d and %d places, want %d and %d", tc.name, f.weight, f.kept, tc.weight, tc.kept)
		}
	}
}
