package sandbox

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// streams are the descriptors of a module of ABI 1: 0, 1 and 2, each open until it is closed. There are no others. What they answer
// has been so since the first module of ABI 1, and differs here and there from what a program's streams do.
type streams struct{ closed [3]bool }

func (s *streams) isOpen(fd uint64) bool {
	n := uint32(fd)
	return int64(n) < int64(len(s.closed)) && !s.closed[n]
}

func (s *streams) fdClose(_ api.Module, a []uint64) uint32 {
	if !s.isOpen(a[0]) {
		return errnoBadf
	}
	s.closed[uint32(a[0])] = true
	return errnoSuccess
}

// fdFdstatGet shows a stream as a device that is no terminal, with all rights of a file.
func (s *streams) fdFdstatGet(mod api.Module, a []uint64) uint32 {
	b, ok := guestBytes(mod, uint32(a[1]), 24)
	switch {
	case !ok:
		return errnoFault
	case !s.isOpen(a[0]):
		return errnoBadf
	}
	clear(b)
	b[0] = typeBlock
	binary.LittleEndian.PutUint64(b[8:], rightsOfFile|rightsOfFileWrite|rightRead|rightWrite)
	return errnoSuccess
}

// fdFdstatSetFlags changes nothing, and refuses what would have to.
func (s *streams) fdFdstatSetFlags(_ api.Module, a []uint64) uint32 {
	switch flags := uint16(a[1]); {
	case flags&flagsSync != 0:
		return errnoInval
	case !s.isOpen(a[0]):
		return errnoBadf
	case flags&flagNonblock != 0:
		return errnoNosys
	}
	return errnoSuccess
}

// fdPrestatGet shows a stream as a directory without a name.
func (s *streams) fdPrestatGet(mod api.Module, a []uint64) uint32 {
	if !s.isOpen(a[0]) {
		return errnoBadf
	}
	return answer64(mod, a[1], 0)
}

func (s *streams) fdPrestatDirName(mod api.Module, a []uint64) uint32 {
	switch {
	case !s.isOpen(a[0]):
		return errnoBadf
	case uint32(a[2]) > 0:
		return errnoNametoolong
	}
	return answer(mod, a[1], nil)
}

func (s *streams) fdSeek(_ api.Module, a []uint64) uint32 {
	if !s.isOpen(a[0]) {
		return errnoBadf
	}
	return errnoNosys
}

// streamsRead is fd_read: the input is at its end, and from an output not a byte can be read. A list can be as long as memory is, so
// that the time is looked at with each buffer.
func (c *call) streamsRead(ctx context.Context, mod api.Module, a []uint64) uint32 {
	if !c.streams.isOpen(a[0]) {
		return errnoBadf
	}
	list, ok := bufferList(mod, a[1], a[2])
	if !ok {
		return errnoFault
	}
	for ; len(list) > 0; list = list[bufferSize:] {
		c.pause(ctx)
		if binary.LittleEndian.Uint32(list[4:]) == 0 {
			continue // wherever it lies
		}
		if _, ok := buffer(mod, list); !ok {
			return errnoFault
		}
		if uint32(a[0]) != 0 {
			return errnoBadf
		}
		break
	}
	return answer32(mod, a[3], 0)
}

// streamsWrite is fd_write: an output takes everything, and the input not even nothing. The time is looked at as in streamsRead.
func (c *call) streamsWrite(ctx context.Context, mod api.Module, a []uint64) uint32 {
	if !c.streams.isOpen(a[0]) {
		return errnoBadf
	}
	list, ok := bufferList(mod, a[1], a[2])
	if !ok {
		return errnoFault
	}
	total := uint32(0)
	for ; len(list) > 0; list = list[bufferSize:] {
		c.pause(ctx)
		b, ok := buffer(mod, list)
		switch {
		case !ok:
			return errnoFault
		case uint32(a[0]) == 0:
			return errnoBadf
		}
		c.stdio.write(b)
		total += uint32(len(b))
	}
	return answer32(mod, a[3], total)
}

// bufferSize is how much of memory describes a buffer: where it lies, and its length.
const bufferSize = 8

// bufferList returns the list of n buffers.
func bufferList(mod api.Module, at, n uint64) ([]byte, bool) {
	if uint32(n) > math.MaxUint32/bufferSize {
		return nil, false
	}
	return guestBytes(mod, uint32(at), bufferSize*uint32(n))
}

// buffer returns the first buffer of a list.
func buffer(mod api.Module, list []byte) ([]byte, bool) {
	return guestBytes(mod, binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:]))
}
