package sdk

import (
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// Clock reads the host's clock, in UTC. The answer is recorded: a tool that is entered again sees the same time.
// time.Now stands at the start of the call and moves with the host's answers only.
//
// Errors: toolabi.Denied in a tool that declares itself Pure.
func Clock() (time.Time, error) {
	var reply toolabi.ClockReply
	if err := use(crossClock, toolabi.ClockRequest{}, &reply); err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, reply.UnixNano).UTC(), nil
}
