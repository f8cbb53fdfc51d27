package telemetry

import (
	"encoding/binary"
	"math"
	"time"
)

// message is a message of protocol buffers while it is written. Fields of numbers that are 0 and of texts that are empty may be left
// out, and are.
type message []byte

// The wire types.
const (
	varint  = 0
	fixed64 = 1
	lengthy = 2
)

func (m *message) tag(field, wire uint64) { *m = binary.AppendUvarint(*m, field<<3|wire) }

func (m *message) uint(field, v uint64) {
	if v != 0 {
		m.tag(field, varint)
		*m = binary.AppendUvarint(*m, v)
	}
}

func (m *message) fixed(field, v uint64) {
	m.tag(field, fixed64)
	*m = binary.LittleEndian.AppendUint64(*m, v)
}

func (m *message) float(field uint64, v float64) { m.fixed(field, math.Float64bits(v)) }

// time writes nanoseconds since 1970-01-01 UTC.
func (m *message) time(field uint64, t time.Time) { m.fixed(field, uint64(max(t.UnixNano(), 0))) }

func (m *message) bytes(field uint64, b []byte) {
	if len(b) > 0 {
		m.inner(field, b)
	}
}

func (m *message) text(field uint64, s string) { m.bytes(field, []byte(s)) }

// inner writes a message inside of this one, also one that is empty.
func (m *message) inner(field uint64, b []byte) {
	m.tag(field, lengthy)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

// attributes writes attributes as KeyValue messages.
func (m *message) attributes(field uint64, as []attribute) {
	for _, a := range as {
		var value, pair message
		switch v := a.value.(type) {
		case string:
			value.inner(1, []byte(v))
		case int64:
			value.tag(3, varint) // also 0
			value = binary.AppendUvarint(value, uint64(v))
		}
		pair.text(1, a.key)
		pair.inner(2, value)
		m.inner(field, pair)
	}
}

func appendFixed(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
