package sandbox

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// What WASI says of the call itself is the same for every guest: arguments, of which only programs have any, an empty environment,
// clocks, randomness, and leaving.

func (c *call) argsGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	return putStrings(mod, a[0], a[1], c.program.argv())
}

func (c *call) argsSizesGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	return putSizes(mod, a[0], a[1], c.program.argv())
}

func (c *call) environGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	return putStrings(mod, a[0], a[1], nil)
}

func (c *call) environSizesGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	return putSizes(mod, a[0], a[1], nil)
}

// putStrings writes the texts, each with a NUL behind it, and the place of each into a list.
func putStrings(mod api.Module, list, text uint64, values []string) uint32 {
	places, ok := guestBytes(mod, uint32(list), uint32(4*len(values)))
	b, there := guestBytes(mod, uint32(text), textLength(values))
	if !ok || !there {
		return errnoFault
	}
	at := uint32(text)
	for i, v := range values {
		binary.LittleEndian.PutUint32(places[4*i:], at)
		n := copy(b, v)
		b[n] = 0
		b, at = b[n+1:], at+uint32(n)+1
	}
	return errnoSuccess
}

// putSizes writes how many texts there are, and their length with the NULs.
func putSizes(mod api.Module, count, length uint64, values []string) uint32 {
	if errno := answer32(mod, count, uint32(len(values))); errno != errnoSuccess {
		return errno
	}
	return answer32(mod, length, textLength(values))
}

// textLength is far from what a number holds: the arguments are those of a manifest.
func textLength(values []string) (n uint32) {
	for _, v := range values {
		n += uint32(len(v)) + 1
	}
	return n
}

// clockResGet tells of both clocks that they show nanoseconds.
func (c *call) clockResGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	if uint32(a[0]) > clockMonotonic {
		return errnoInval
	}
	return answer64(mod, a[1], 1)
}

// clockTimeGet takes no notice of how exact the guest wants it.
func (c *call) clockTimeGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	switch uint32(a[0]) {
	case clockRealtime:
		return answer64(mod, a[2], uint64(c.clock.wall))
	case clockMonotonic:
		return answer64(mod, a[2], uint64(c.clock.mono))
	}
	return errnoInval
}

// randomPiece is how many bytes are made before the time is looked at.
const randomPiece = 1 << 20

func (c *call) randomGet(ctx context.Context, mod api.Module, a []uint64) uint32 {
	b, ok := guestBytes(mod, uint32(a[0]), uint32(a[1]))
	if !ok {
		return errnoFault
	}
	for ; len(b) > randomPiece; b = b[randomPiece:] {
		c.random.fill(b[:randomPiece])
		c.pause(ctx)
	}
	c.random.fill(b)
	return errnoSuccess
}

func (c *call) procExit(_ context.Context, _ api.Module, a []uint64) uint32 {
	c.leave(uint32(a[0]))
	return errnoSuccess
}
