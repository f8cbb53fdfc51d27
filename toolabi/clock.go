package toolabi

// FuncClock reads the host's clock. Read: the answer is recorded, so a tool that is entered again sees the same time.
// The WASI clock, in contrast, stands at the call's recorded start and moves with recorded answers only.
const FuncClock = "clock"

// ClockRequest is empty.
type ClockRequest struct{}

// ClockReply is the answer. There are no errors.
type ClockReply struct {
	// UnixNano is the time in nanoseconds since 1970-01-01 UTC.
	UnixNano int64 `cbor:"1,keyasint"`
}
