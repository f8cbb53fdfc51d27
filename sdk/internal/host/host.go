// Package host is where the functions of sdk arrive when they run as plain Go: in the world that a test installed.
//
// It is no sandbox and decides nothing. A guest does not link it.
package host

import (
	"sync"

	"github.com/wrun-dev/wrun/toolabi"
)

// World answers one use of a host function, on the goroutine that makes it.
type World func(name string, request []byte) ([]byte, *toolabi.Error)

var state struct {
	mu     sync.Mutex // guards what follows
	world  World
	result []byte
}

// Install makes w the world, nil none, and returns the one before.
func Install(w World) (before World) {
	state.mu.Lock()
	defer state.mu.Unlock()
	before, state.world = state.world, w
	return before
}

// Cross asks the world and keeps its answer for Result. It returns the answer's length, minus that for an error, as an
// import does. The caller sees to it that nobody crosses before it has read its result.
func Cross(name string, request []byte) int64 {
	state.mu.Lock()
	world := state.world
	state.mu.Unlock()
	reply, failure := ask(world, name, request)
	n := int64(len(reply))
	if failure != nil {
		reply = encode(failure)
		n = -int64(len(reply))
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	state.result = reply
	return n
}

// Result returns the last answer.
func Result() []byte {
	state.mu.Lock()
	defer state.mu.Unlock()
	return state.result
}

func ask(world World, name string, request []byte) ([]byte, *toolabi.Error) {
	if world == nil {
		return nil, toolabi.NewError(toolabi.Unsupported, name+" was used outside a sandbox and outside sdktest.Call")
	}
	return world(name, request)
}

func encode(e *toolabi.Error) []byte {
	b, err := toolabi.Encode(e)
	if err != nil {
		return nil // an Error is numbers and text: there is nothing in it that cannot be encoded
	}
	return b
}
