package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// dataModule writes a module of nothing but data segments.
func dataModule(segments []segment) []byte {
	return module(written{secData, dataContent(segments)})
}

// rewritten returns the bytes of a module rewritten.
func rewritten(t testing.TB, wasm []byte) []byte {
	_, after := rewrite(t, wasm)
	return after.wasm
}

// at writes i32.const v and end.
func at(v uint32) []byte {
	expr := []byte{0x41}
	for n := int32(v); ; {
		c := byte(n & 0x7f)
		if n >>= 7; n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(expr, c, 0x0b)
		}
		expr = append(expr, c|0x80)
	}
}

// initial returns the memory that segments make, and where the last one ends.
func initial(t *testing.T, wasm []byte) (memory []byte, segments int) {
	t.Helper()
	m, err := Parse(wasm, Caps{})
	if err != nil {
		t.Fatal(err)
	}
	memory = make([]byte, 1<<18)
	for _, s := range m.data {
		at, ok := constantOffset(s.offset)
		if !ok {
			t.Fatalf("offset % x", s.offset)
		}
		copy(memory[at:], s.content)
	}
	return memory, len(m.data)
}

func TestSegmentsBecomeFewAndMemoryTheSame(t *testing.T) {
	x, y := []byte("xx"), []byte("yy")
	for _, tc := range []struct {
		name string
		in   []segment
		want int
	}{
		{"neighbours", []segment{{at(10), x}, {at(12), y}, {at(20), x}}, 1},
		{"far apart", []segment{{at(10), x}, {at(10_000), y}}, 2},
		{"the gap itself", []segment{{at(10), x}, {at(12 + maxGap), y}, {at(15 + 2*maxGap), x}}, 2},
		{"downwards", []segment{{at(20), x}, {at(10), y}}, 1},
		{"over each other", []segment{{at(10), x}, {at(11), y}}, 2},
		{"between", []segment{{at(12), x}, {at(0), y}, {at(20), x}}, 1},
		{"within", []segment{{at(10), []byte("12345")}, {at(12), y}, {at(20), x}}, 3},
		{"empty", []segment{{at(5), nil}, {at(6), y}}, 1},
		{"one", []segment{{at(63), x}}, 1},
		{"large addresses", []segment{{at(64), x}, {at(8192), y}, {at(8194), x}, {at(200_000), y}}, 3},
	} {
		wasm := dataModule(tc.in)
		before, _ := initial(t, wasm)
		after, n := initial(t, rewritten(t, wasm))
		if !bytes.Equal(before, after) || n != tc.want {
			t.Errorf("%s: %d segments, want %d; the same memory: %v", tc.name, n, tc.want, bytes.Equal(before, after))
		}
	}
}

func TestConstantOffsets(t *testing.T) {
	for _, v := range []uint32{0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		if got, ok := constantOffset(at(v)); !ok || got != uint64(v) {
			t.Errorf("%d is read as %d, %v", v, got, ok)
		}
	}
	for _, expr := range [][]byte{nil, {0x0b}, {0x23, 0, 0x0b}, {0x41, 1, 0x41, 2, 0x0b}, {0x42, 1, 0x0b}} {
		if v, ok := constantOffset(expr); ok {
			t.Errorf("% x is read as %d", expr, v)
		}
	}
}

// FuzzMergedData takes pairs of a distance and a length from the fuzzer.
func FuzzMergedData(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 255, 3})
	f.Add([]byte{1, 0, 9, 1, 1, 9, 0, 4, 200})
	f.Fuzz(func(t *testing.T, b []byte) {
		var segments []segment
		place := uint32(0)
		for ; len(b) >= 3 && len(segments) < 200; b = b[3:] {
			place += uint32(int16(binary.LittleEndian.Uint16(b)) >> 6)
			if place > 100_000 {
				place = 0
			}
			segments = append(segments, segment{at(place), bytes.Repeat([]byte{b[2] | 1}, int(b[2]))})
			place += uint32(b[2])
		}
		wasm := dataModule(segments)
		before, _ := initial(t, wasm)
		if after, _ := initial(t, rewritten(t, wasm)); !bytes.Equal(before, after) {
			t.Error("the memory differs")
		}
	})
}

func TestLargeSegmentsComeInPieces(t *testing.T) {
	large := bytes.Repeat([]byte("12345678"), placedBytes/8*2+1)
	for _, tc := range []struct {
		name   string
		offset []byte
		want   []uint64
	}{
		{"low", at(10), []uint64{10, 10 + placedBytes, 10 + 2*placedBytes}},
		{"high", at(1 << 31), []uint64{1 << 31, 1<<31 + placedBytes, 1<<31 + 2*placedBytes}},
		{"over the end", at(1<<32 - placedBytes), []uint64{1<<32 - placedBytes}},
	} {
		before, err := Parse(dataModule([]segment{{tc.offset, large}}), Caps{})
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		var content []byte
		for _, s := range before.initialData().segments {
			at, _ := constantOffset(s.offset)
			got, content = append(got, at), append(content, s.content...)
		}
		if !slices.Equal(got, tc.want) || !bytes.Equal(content, large) {
			t.Errorf("%s: at %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestALargeSegmentLiesAtAConstant takes one that could not be written in pieces.
func TestALargeSegmentLiesAtAConstant(t *testing.T) {
	globals := written{secGlobal, []byte{1, I32, 0, opI32Const, 0, opEnd}}
	data := func(n int) written {
		return written{secData, dataContent([]segment{{[]byte{opGlobalGet, 0, opEnd}, make([]byte, n)}})}
	}
	if _, err := Parse(module(globals, data(placedBytes)), Caps{}); err != nil {
		t.Error(err)
	}
	var over *CapError
	if _, err := Parse(module(globals, data(placedBytes+1)), Caps{}); !errors.As(err, &over) {
		t.Errorf("%v, want a CapError", err)
	}
}
