package sdk

import (
	"fmt"
	"math"

	"github.com/wrun-dev/wrun/toolabi"
)

// Random draws n bytes, 1 to toolabi.MaxRandom, from the host's generator. The answer is recorded: a tool that is
// entered again gets the same bytes. They are fit for names and keys, as math/rand in a guest is not.
//
// Errors: toolabi.Invalid when n is below 1, toolabi.TooLarge when it is over the cap, toolabi.Denied in a tool that
// declares itself Pure.
func Random(n int) ([]byte, error) {
	if n < 1 {
		return nil, toolabi.NewError(toolabi.Invalid, fmt.Sprintf("draw %d random bytes: want at least 1", n))
	}
	var reply toolabi.RandomReply
	if err := use(crossRandom, toolabi.RandomRequest{N: uint32(min(n, math.MaxUint32))}, &reply); err != nil {
		return nil, err
	}
	if len(reply.Bytes) != n {
		return nil, toolabi.NewError(toolabi.Protocol, fmt.Sprintf("host drew %d random bytes where %d were asked for", len(reply.Bytes), n))
	}
	return reply.Bytes, nil
}
