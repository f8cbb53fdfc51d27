package tooltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// fake is a tool of another module that the world answers for.
type fake struct {
	module  runtime.Module
	answers map[string][]world.ToolReply // by tool
}

// filler is a module that puts what the world has into the stores. It is entered by Invoke, and has no code.
var (
	fillerBytes = []byte("the world's own")
	filler      = runtime.Module{Name: "world", Digest: toolabi.DigestOf(fillerBytes), Manifest: toolabi.Manifest{
		Name: "world", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "fill"}}, Capabilities: []toolabi.Capability{{Name: toolabi.FuncKVPut, Reason: "to have what a case has"}},
	}}
)

// addFakes makes the modules whose tools the world answers for. They are pure, so that every tool may call them.
func (s *Stage) addFakes() {
	byName := map[string]*fake{}
	for _, full := range slices.Sorted(maps.Keys(s.world.Tools)) {
		module, tool, _ := strings.Cut(full, ".")
		f := byName[module]
		if f == nil {
			f = &fake{
				module:  runtime.Module{Name: module, Digest: toolabi.DigestOf(fakeBytes(module)), Manifest: toolabi.Manifest{Name: module, Version: "1.0.0"}},
				answers: map[string][]world.ToolReply{},
			}
			byName[module] = f
			s.fakes[f.module.Digest] = f
		}
		f.module.Manifest.Tools = append(f.module.Manifest.Tools, toolabi.Tool{Name: tool, Idempotency: toolabi.Pure})
		f.answers[tool] = s.world.Tools[full]
	}
}

func fakeBytes(module string) []byte { return []byte("played by the world: " + module) }

// Invoke enters the module under test, or plays another one. It is a runtime.Invoker.
func (s *Stage) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	if inv.Module == filler.Digest {
		return s.fill(ctx, host)
	}
	if f := s.fakes[inv.Module]; f != nil {
		return s.play(f, inv)
	}
	// The randomness of a call depends on the case and the performance, and not on the journal.
	inv.Seed = sha256.Sum256(append([]byte{s.seed}, inv.Tool+"\x00"+string(inv.Input)...))
	return s.box.Invoke(ctx, inv, host)
}

// play answers for another module's tool. A call that is entered again gets the same answer.
func (s *Stage) play(f *fake, inv toolabi.Invocation) (toolabi.Outcome, error) {
	full := f.module.Name + "." + inv.Tool
	s.mu.Lock()
	n, again := s.replies[string(inv.Seed[:])]
	if !again {
		n = s.asked[full]
		s.asked[full]++
		s.replies[string(inv.Seed[:])] = n
	}
	s.mu.Unlock()
	answer, ok := world.Nth(f.answers[inv.Tool], n)
	switch {
	case !ok:
		return toolabi.Outcome{}, errors.New("the world has no answer of " + full)
	case answer.Err != nil:
		return toolabi.Outcome{Err: answer.Err}, nil
	}
	return toolabi.Outcome{Output: []byte(world.ShowJSON(answer.Output))}, nil
}

// fill puts what the world has into the stores.
func (s *Stage) fill(ctx context.Context, host toolabi.HostFunc) (toolabi.Outcome, error) {
	for _, store := range slices.Sorted(maps.Keys(s.world.KV)) {
		for _, key := range slices.Sorted(maps.Keys(s.world.KV[store])) {
			req, err := toolabi.Encode(toolabi.KVPutRequest{Store: store, Key: key, Value: s.world.KV[store][key].Raw()})
			if err != nil {
				return toolabi.Outcome{}, err
			}
			answer, err := host(ctx, toolabi.FuncKVPut, req)
			if err != nil || answer.Err != nil {
				return toolabi.Outcome{Err: answer.Err}, err
			}
		}
	}
	return toolabi.Outcome{Output: []byte("null")}, nil
}
