package sandbox

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// The layout of poll_oneoff's messages, and what they hold.
const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 4096

	pollClock   = 0
	pollFdRead  = 1
	pollFdWrite = 2

	clockRealtime  = 0
	clockMonotonic = 1

	pollAbsolute = 1 // flag of a clock subscription
	pollHangup   = 1 // flag of an event of a file descriptor
)

// subscription is one thing that a guest waits for.
type subscription struct {
	userdata [8]byte
	kind     byte
	errno    uint16
	wait     int64  // nanoseconds from now
	bytes    uint64 // that can be read
	hangup   bool
}

// pollOneoff waits in the guest's own time: the clock jumps to the first moment at which something is due, and the call
// returns at once. The standard streams are always ready: input is at its end, output takes everything.
func (c *call) pollOneoff(_ context.Context, mod api.Module, p []uint64) uint32 {
	in, out, n, count := uint32(p[0]), uint32(p[1]), uint32(p[2]), uint32(p[3])
	if n == 0 || n > maxSubscriptions {
		return errnoInval
	}
	asked, ok := copyIn(mod, in, n*subscriptionSize)
	if !ok {
		return errnoFault
	}
	subs := make([]subscription, n)
	first := int64(math.MaxInt64)
	for i := range subs {
		subs[i] = c.subscription(asked[i*subscriptionSize:][:subscriptionSize])
		first = min(first, subs[i].wait)
	}
	c.clock.advance(first)
	var events []byte
	for _, s := range subs {
		if s.wait <= first {
			events = s.appendEvent(events)
		}
	}
	if !writeTo(mod, out, events) || !writeTo(mod, count, binary.LittleEndian.AppendUint32(nil, uint32(len(events)/eventSize))) {
		return errnoFault
	}
	return errnoSuccess
}

// subscription decodes one of them and works out when it is due.
func (c *call) subscription(b []byte) subscription {
	s := subscription{userdata: [8]byte(b), kind: b[8]}
	id := binary.LittleEndian.Uint32(b[16:])
	switch s.kind {
	case pollClock:
		s.wait, s.errno = c.until(id, binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint16(b[40:]))
	case pollFdRead, pollFdWrite:
		s.ready(c.program, id)
	default:
		s.errno = errnoInval
	}
	return s
}

// ready says what is known of a descriptor: whatever is open is always ready.
func (s *subscription) ready(p *program, id uint32) {
	switch {
	case p != nil:
		s.bytes, s.hangup, s.errno = p.poll(id, s.kind == pollFdWrite)
	case s.kind == pollFdRead:
		s.hangup = id == 0
		if id != 0 {
			s.errno = errnoBadf
		}
	case id != 1 && id != 2:
		s.errno = errnoBadf
	}
}

// until returns how long it is to a time on one of the clocks.
func (c *call) until(id uint32, timeout uint64, flags uint16) (int64, uint16) {
	if id > clockMonotonic || flags > pollAbsolute {
		return 0, errnoInval
	}
	wait := int64(min(timeout, math.MaxInt64))
	if flags == pollAbsolute {
		now := c.clock.wall
		if id == clockMonotonic {
			now = c.clock.mono
		}
		if wait <= now {
			return 0, 0
		}
		wait -= max(now, 0)
	}
	return wait, 0
}

func (s subscription) appendEvent(b []byte) []byte {
	b = append(b, s.userdata[:]...)
	b = binary.LittleEndian.AppendUint16(b, s.errno)
	b = append(b, s.kind, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, s.bytes)
	if s.hangup {
		return append(b, pollHangup, 0, 0, 0, 0, 0, 0, 0)
	}
	return binary.LittleEndian.AppendUint64(b, 0)
}

func writeTo(mod api.Module, ptr uint32, b []byte) bool {
	n, ok := copyOut(mod, ptr, uint32(len(b)), 0, b)
	return ok && int(n) == len(b)
}
