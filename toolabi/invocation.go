package toolabi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Digest is the SHA-256 of a module's bytes, or of a request.
type Digest [32]byte

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

// String returns 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 hexadecimal digits, for people.
func (d Digest) Short() string { return hex.EncodeToString(d[:6]) }

// Request is what a guest reads with input_read.
type Request struct {
	// ABI is 1.
	ABI uint8 `cbor:"1,keyasint"`
	// Tool is the name of the tool to run.
	Tool string `cbor:"2,keyasint"`
	// Input is the tool's input: JSON, exactly the bytes that the caller gave.
	Input []byte `cbor:"3,keyasint"`
}

// Reply is what a guest writes with output_write: either an output or an error.
type Reply struct {
	// Output is the tool's output: JSON.
	Output []byte `cbor:"1,keyasint,omitempty"`
	// Err is set when the tool failed; its Code is Failed, or one that the tool passes on.
	Err *Error `cbor:"2,keyasint,omitempty"`
}

// Invocation is everything that decides what a call computes. Two invocations that are equal, answered equally, give
// equal outcomes.
type Invocation struct {
	// Module is the digest of the module.
	Module Digest
	// Tool is the name of the tool in the module.
	Tool string
	// Input is the tool's input, JSON.
	Input []byte
	// Started is where the guest's clock stands at first, in nanoseconds since 1970-01-01 UTC.
	Started int64
	// Seed is where the guest's randomness comes from.
	Seed [32]byte
	// Limits bound the call.
	Limits Limits
	// Mounts are the directories that a Command may use. What they hold decides what the call computes too, and is the only
	// thing beside the fields above and the answers of host functions that does.
	Mounts []Mount
	// Pause is called when the call begins to wait for room on the host, and what it returns when the wait is over: waiting is
	// not the call's time. nil means that nobody counts; it decides nothing of what the call computes.
	Pause func() (resume func())
}

// Limits bound one call. The zero value of a field means the host's default.
type Limits struct {
	// TimeoutMS is the live time of the call in milliseconds, waits and replay left out. Default 60 s.
	TimeoutMS uint64 `cbor:"1,keyasint,omitempty" json:"timeout_ms,omitempty"`
	// MemoryBytes is the most linear memory. Default 256 MiB.
	MemoryBytes uint64 `cbor:"2,keyasint,omitempty" json:"memory_bytes,omitempty"`
	// OutputBytes is the longest reply. Default and most: MaxOutput.
	OutputBytes uint64 `cbor:"3,keyasint,omitempty" json:"output_bytes,omitempty"`
	// Fuel is how much the call may compute, in units that pay for 16 simple instructions; see docs/abi.md. Default: no limit
	// beside TimeoutMS.
	Fuel uint64 `cbor:"4,keyasint,omitempty" json:"fuel,omitempty"`
}

// Tighten returns l with every limit that o sets and that is lower.
func (l Limits) Tighten(o Limits) Limits {
	lower := func(a, b uint64) uint64 {
		if a == 0 || (b != 0 && b < a) {
			return b
		}
		return a
	}
	return Limits{
		TimeoutMS:   lower(l.TimeoutMS, o.TimeoutMS),
		MemoryBytes: lower(l.MemoryBytes, o.MemoryBytes),
		OutputBytes: lower(l.OutputBytes, o.OutputBytes),
		Fuel:        lower(l.Fuel, o.Fuel),
	}
}

// Answer is what a host function gives back to a guest.
type Answer struct {
	// Reply is the encoded reply; not used when Err is set.
	Reply []byte
	// Err is an error that the guest can handle.
	Err *Error
	// At is when the outcome became known, in nanoseconds since 1970-01-01 UTC; the guest's clock moves up to it.
	// 0 leaves the clock alone.
	At int64
}

// HostFunc answers one use of a host function. An error unwinds the guest and is returned by whoever entered it; what
// the guest may see goes into Answer.Err.
type HostFunc func(ctx context.Context, name string, request []byte) (Answer, error)

// Outcome is what came of a call.
type Outcome struct {
	// Output is the tool's output, JSON; not used when Err is set.
	Output []byte
	// Err is how the tool failed: its own error, a trap, an exit, a breach of the protocol or a limit.
	Err *Error
	// Stderr is the end of what the guest wrote to its standard output and error, at most 64 KiB, for people.
	Stderr []byte
	// Fuel is how much the guest computed, in the unit of Limits.Fuel: the same module, invocation and answers use the same.
	// Everything that ran is counted, also what ran again in a replay; 0 where the host does not count.
	Fuel uint64
	// Unentered says, beside an error of the host or in Err, that nothing of the module ran.
	Unentered bool
}
