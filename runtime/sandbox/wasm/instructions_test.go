package wasm

import (
	"errors"
	"slices"
	"testing"
)

// TestEveryInstructionIsReadOrRefused reads a function that ends after each first byte, and after each number behind a prefix,
// known or not.
func TestEveryInstructionIsReadOrRefused(t *testing.T) {
	read := func(code []byte) {
		body := append([]byte{0}, code...)
		_, err := Parse(module(
			written{secType, []byte{1, 0x60, 0, 0}},
			written{secFunction, []byte{1, 0}},
			written{secCode, slices.Concat([]byte{1, byte(len(body))}, body)},
		), Caps{})
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("% x: %v", code, err)
		}
	}
	for op := range 256 {
		if op != opEnd {
			read([]byte{byte(op)})
		}
	}
	for _, prefix := range []byte{opBulk, opVector} {
		for sub := range uint32(1000) {
			read(appendU32([]byte{prefix}, sub))
		}
		read(appendU32([]byte{prefix}, 1<<32-1))
	}
}
