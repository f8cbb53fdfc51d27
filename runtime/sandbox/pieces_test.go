package sandbox_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
)

// TestDataInPiecesIsTheSame copies from large data segments in a module and in its rewritten form, where the initial memory
// and what is copied later come piece by piece and the segments have other indices.
func TestDataInPiecesIsTheSame(t *testing.T) {
	pattern := func(n int, by byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i>>8) ^ byte(i)*by
		}
		return b
	}
	const size, page = 200_000, 1 << 16
	m := new(Module)
	m.Memory(60)
	m.ExportRaw("memory", 2, 0)
	m.Data(100, pattern(2_500_000, 3)) // comes in three pieces
	m.PassiveData(pattern(size, 5))
	m.PassiveData([]byte("short"))
	copyFrom := func(segment uint32) []byte {
		return slices.Concat(LocalGet(0), LocalGet(1), LocalGet(2), MemoryInit(segment))
	}
	programs := map[string][]byte{
		"active": copyFrom(0), "large": copyFrom(1), "short": copyFrom(2),
		"dropped": slices.Concat(DataDrop(1), copyFrom(1)), "short dropped": slices.Concat(DataDrop(2), copyFrom(2)),
		"other dropped": slices.Concat(DataDrop(0), DataDrop(2), copyFrom(1)),
	}
	for name, body := range programs {
		m.Export(name, m.Func(ptrs, nil, 0, body))
	}
	raw := m.Bytes()
	for name := range programs {
		for _, p := range [][3]uint64{
			{0, 0, 0}, {7, 2, 3}, {7, 2, 4}, {10, 0, size}, {10, 1, size}, {10, 1, size - 1}, {10, size, 0}, {10, size + 1, 0},
			{60*page - size, 0, size}, {60*page - size + 1, 0, size}, {60 * page, 0, 0}, {60*page + 1, 0, 0},
			{0, 5000, page}, {0, 5000, page + 1}, {1, 1 << 31, 1 << 31}, {1<<32 - 1, 1<<32 - 1, 1<<32 - 1},
		} {
			want, wantErr := runOnMemory(t, raw, name, p)
			got, gotErr := runOnMemory(t, rewritten(t, raw), name, p)
			if gotErr != wantErr || !bytes.Equal(got, want) {
				t.Errorf("%s %v: %q, want %q; memory is the same: %v", name, p, gotErr, wantErr, bytes.Equal(got, want))
			}
		}
	}
}

// runOnMemory calls a function of a new instance and returns the memory and the trap it leaves.
func runOnMemory(t *testing.T, module []byte, name string, p [3]uint64) ([]byte, string) {
	h := newBare(t)
	mod, err := h.runtime.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.ExportedFunction(name).Call(t.Context(), p[:]...)
	trap := ""
	if err != nil {
		trap, _, _ = strings.Cut(err.Error(), "\n")
	}
	memory, _ := mod.Memory().Read(0, mod.Memory().Size())
	memory = bytes.Clone(memory)
	_ = h.runtime.Close(context.Background())
	return memory, trap
}
