package toolabi

// FuncSleep waits for real. Wait: when to wake is recorded, the run may be suspended and the process may end; the tool is
// entered again once the time has come. A sleep of the guest's own, in contrast, moves its clock and returns at once.
const FuncSleep = "sleep"

// MaxSleepMS is the longest sleep in milliseconds: 366 days.
const MaxSleepMS = 366 * 24 * 3_600_000

// SleepRequest says how long; exactly one of the two fields is set. Errors: Invalid when none or both are, or when the
// sleep would be longer than MaxSleepMS (it did not begin).
type SleepRequest struct {
	// MS is how long to sleep in milliseconds.
	MS uint64 `cbor:"1,keyasint,omitempty"`
	// Until is when to wake, in nanoseconds since 1970-01-01 UTC. A time that has passed wakes at once.
	Until int64 `cbor:"2,keyasint,omitempty"`
}

// SleepReply is empty. It never comes early, and comes late when no process was there to wake the tool.
type SleepReply struct{}
