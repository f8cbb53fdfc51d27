package sdk

import (
	"sync"

	"github.com/wrun-dev/wrun/toolabi"
)

// crossing is held from a request until its answer was read, because the host keeps the last answer only and a tool's
// goroutines can take turns where memory is allocated.
var crossing sync.Mutex

// use makes one use of a host function: cross passes the request to it, and its answer is read into reply, unless that
// is nil. A function is handed in, not its name, so that a module imports only what it uses.
func use(cross func([]byte) int64, req, reply any) error {
	b, err := toolabi.Encode(req)
	if err != nil {
		return toolabi.NewError(toolabi.Invalid, err.Error())
	}
	answer, failed := exchange(cross, b)
	switch {
	case failed:
		return readError(answer)
	case reply == nil:
		return nil
	}
	if err := toolabi.Decode(answer, reply); err != nil {
		return toolabi.NewError(toolabi.Protocol, "read the host's answer: "+err.Error())
	}
	return nil
}

func exchange(cross func([]byte) int64, req []byte) (answer []byte, failed bool) {
	crossing.Lock()
	defer crossing.Unlock()
	n := cross(req)
	if n < 0 {
		n, failed = -n, true
	}
	if n > toolabi.MaxOutput {
		n = toolabi.MaxOutput // no host keeps more; what is missing is found by Decode
	}
	answer = make([]byte, n)
	return answer[:resultRead(answer)], failed
}

func readError(answer []byte) error {
	e, err := toolabi.DecodeError(answer)
	if err != nil {
		return toolabi.NewError(toolabi.Protocol, "read the host's error: "+err.Error())
	}
	return e
}
