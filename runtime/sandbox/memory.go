package sandbox

import (
	"slices"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	pageSize = 64 << 10
	// maxMemory keeps the length of a memory within 32 bits, one page below what WebAssembly allows.
	maxMemory = 1<<32 - pageSize
)

// guestBytes returns the guest's memory from ptr on, n bytes of it, or false when it has not that much. The bytes are the
// memory itself and must not be used once the guest runs again. No other function touches a guest's memory.
func guestBytes(mod api.Module, ptr, n uint32) ([]byte, bool) {
	mem := mod.Memory()
	if mem == nil || uint64(ptr)+uint64(n) > uint64(mem.Size()) {
		return nil, false
	}
	return mem.Read(ptr, n)
}

// copyIn returns a copy of n bytes at ptr.
func copyIn(mod api.Module, ptr, n uint32) ([]byte, bool) {
	b, ok := guestBytes(mod, ptr, n)
	return slices.Clone(b), ok
}

// copyOut copies what src has from off on into the guest's buffer of n bytes at ptr and returns how much it was.
func copyOut(mod api.Module, ptr, n, off uint32, src []byte) (uint32, bool) {
	b, ok := guestBytes(mod, ptr, n)
	if !ok {
		return 0, false
	}
	if uint64(off) >= uint64(len(src)) {
		return 0, true
	}
	return uint32(copy(b, src[off:])), true
}

// linear is the memory of one instance, bounded, and remembers that it refused to grow.
type linear struct {
	limit   uint64
	buf     []byte
	refused bool
}

// Allocate implements experimental.MemoryAllocator: an instance has one memory.
func (l *linear) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if size > l.limit {
		l.refused = true
		return nil
	}
	if size > uint64(cap(l.buf)) {
		// A quarter more than asked for, so that growing page by page does not copy each time.
		grown := make([]byte, size, min(size+size/4, l.limit))
		copy(grown, l.buf)
		l.buf = grown
	}
	l.buf = l.buf[:size]
	return l.buf
}

// Free implements experimental.LinearMemory.
func (l *linear) Free() { l.buf = nil }
