package telemetry

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"regexp"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// SpanContext names a span of a trace.
type SpanContext struct {
	Trace [16]byte
	Span  [8]byte
}

var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// ParseTraceparent reads the value of a traceparent header, as W3C Trace Context has it. ok is false when it names no span.
func ParseTraceparent(text string) (c SpanContext, ok bool) {
	m := traceparent.FindStringSubmatch(text)
	if m == nil || m[1] == "ff" || m[1] == "00" && m[4] != "" {
		return c, false
	}
	_, errTrace := hex.Decode(c.Trace[:], []byte(m[2]))
	_, errSpan := hex.Decode(c.Span[:], []byte(m[3]))
	return c, errTrace == nil && errSpan == nil && c.Trace != [16]byte{} && c.Span != [8]byte{}
}

// kind is a span's kind, with OTLP's numbers.
type kind uint64

const (
	internal kind = 1
	client   kind = 3
)

// span is one that is over.
type span struct {
	SpanContext
	parent     [8]byte // zero for a root
	name       string
	kind       kind
	start, end time.Time
	attributes []attribute
	events     []moment
	unkept     int // events that there was no room for
	link       SpanContext
	failed     bool
}

// moment is something that happened while a span lasted.
type moment struct {
	at         time.Time
	name       string
	attributes []attribute
}

// maxMoments is how many moments of a span are kept.
const maxMoments = 128

// traceOf is the trace of a run: that of its journal and its id, so that whoever goes on with it continues the same trace.
func traceOf(j journal.Digest, run string) (t [16]byte) {
	h := sha256.Sum256([]byte("wrun trace\x00" + string(j[:]) + run))
	copy(t[:], h[:])
	return t
}

// spanOf is the span of a run, or of a call in it, which is what others lie below. It is derived as well: what lies below a call that a
// crash has cut off finds it when the call ends, in whatever process.
func spanOf(trace [16]byte, step journal.Step) (s [8]byte) {
	h := sha256.Sum256([]byte("wrun span\x00" + string(trace[:]) + string(step)))
	copy(s[:], h[:])
	return s
}

// anySpan is the span of what nothing lies below.
func anySpan() (s [8]byte) {
	rand.Read(s[:]) // never fails, says its documentation
	return s
}

// sampled says whether a trace is among a share of all.
func sampled(trace [16]byte, share float64) bool {
	return share >= 1 || share > 0 && float64(binary.BigEndian.Uint64(trace[8:])>>1) < share*float64(math.MaxInt64)
}
