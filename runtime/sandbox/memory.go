package sandbox

import (
	"errors"
	"slices"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wrun-dev/wrun/runtime/sandbox/memory"
)

const (
	pageSize = memory.PageSize
	// maxMemory keeps the length of a memory within 32 bits, one page below what WebAssembly allows.
	maxMemory = 1<<32 - pageSize
)

// guestBytes returns the guest's memory from ptr on, n bytes of it, or false when it has not that much. The bytes are the
// memory itself and must not be used once the guest runs again, nor after its call: then they are no memory any more. No
// other function touches a guest's memory.
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

// linear is the memory of one instance. What is over the limit of its call is refused as WebAssembly says, and that is
// remembered, unless it is over the module's own maximum too; what the host cannot give is not the guest's to see, and
// unwinds it.
type linear struct {
	kind   memory.Kind
	room   uint64 // the most that any call may have, in bytes
	own    uint64 // the module's own maximum in bytes, 0 for none; the compiler knows one that is a page longer
	region memory.Region
	size   uint64 // what it has, in bytes

	limit   uint64 // of the call, in bytes
	refused bool   // the call wanted more than the limit
	paid    uint64 // what there is room for in the process
	resizes bool   // the host is setting the size

	user memoryUser
}

// memoryUser is who a memory is for: a call, whose goroutine it is used on.
type memoryUser interface {
	// more makes room for n bytes more in the process, and may wait.
	more(n uint64) error
	// spare gives back to the system what no call uses.
	spare()
	// end unwinds the guest and does not return.
	end(error)
}

// serve makes it the memory of a call, which may have limit bytes of it and has room for paid bytes in the process.
func (l *linear) serve(u memoryUser, limit, paid uint64) {
	l.user, l.limit, l.refused, l.paid = u, limit, false, paid
}

// Allocate implements experimental.MemoryAllocator: an instance has one memory, of which the module names the most.
func (l *linear) Allocate(_, most uint64) experimental.LinearMemory {
	if most = min(l.room, most); l.own > 0 {
		most = min(l.own, most)
	}
	r, err := l.kind.Reserve(most)
	if err != nil {
		l.user.spare()
		r, err = l.kind.Reserve(most)
	}
	if err != nil {
		l.user.end(&MemoryError{Wanted: most, Err: err})
	}
	l.region = r
	return l
}

// Reallocate implements experimental.LinearMemory. wazero calls it on the goroutine of the call, and recovers panics there.
func (l *linear) Reallocate(size uint64) []byte {
	if l.resizes {
		b, _ := l.region.First(l.size) // nothing is no memory of that size, which is looked at
		return b
	}
	if l.own > 0 && size > l.own {
		return nil
	}
	if size > l.limit {
		l.refused = true
		return nil
	}
	if size > l.paid {
		if err := l.user.more(size - l.paid); err != nil {
			l.user.end(err)
		}
		l.paid = size
	}
	b := l.first(size)
	l.size = size
	return b
}

func (l *linear) first(size uint64) []byte {
	b, err := l.region.First(size)
	if err != nil {
		l.user.spare()
		b, err = l.region.First(size)
	}
	if err != nil {
		l.user.end(&MemoryError{Wanted: size - min(size, l.size), Held: l.size, Err: err})
	}
	return b
}

// adopt makes the memory of an instance that of an image. What the host cannot give unwinds the call, as elsewhere.
func (l *linear) adopt(mem api.Memory, i *memory.Image) {
	l.first(i.Size())
	err := l.region.Adopt(i)
	if err != nil {
		l.user.spare()
		err = l.region.Adopt(i)
	}
	if err == nil && !l.resize(mem, i.Size()) {
		err = errors.New("the memory of an instance does not become as large as its image")
	}
	if err != nil {
		l.user.end(&MemoryError{Wanted: i.Size(), Err: err})
	}
}

// resize gives the memory of an instance another size between two calls, or reports false. WebAssembly knows no memory that
// becomes smaller: wazero takes the slice that it is given for the memory, however long it is, which is looked at afterwards.
func (l *linear) resize(mem api.Memory, size uint64) bool {
	by := uint32(1)
	switch has := uint64(mem.Size()); {
	case has == size:
		return true
	case has < size:
		by = uint32((size - has) / pageSize)
	}
	l.size, l.resizes = size, true
	mem.Grow(by)
	l.resizes = false
	return uint64(mem.Size()) == size
}

// Free implements experimental.LinearMemory. It does nothing: wazero does not call it when an instantiation fails, and may
// call it before the last function of the host has returned. See release.
func (l *linear) Free() {}

// release gives the memory back, after the call has returned, however it ended.
func (l *linear) release() {
	if l.region == nil {
		return
	}
	_ = l.region.Free() // of a range that was mapped; there is nothing to do about it
	l.region = nil
}
