package interleave

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// suspending are the real functions that wait, and the one that calls a tool.
var suspending = slices.DeleteFunc(hostfuncs.Standard(hostfuncs.Config{}), func(f hostfuncs.Func) bool {
	return f.Class != toolabi.Wait && f.Class != toolabi.Call
})

// functions are the host functions of a process.
func (t *trial) functions(p *process) []hostfuncs.Func {
	return append([]hostfuncs.Func{
		{
			Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Timeout: sendsFor, ShowRequest: asText, ParseReply: ofText,
			Call: func(ctx context.Context, c hostfuncs.Call, body []byte) ([]byte, error) {
				return t.send(ctx, p, request{
					step: journal.Step(c.Step), body: string(body), key: c.Key, again: c.Repeatable, promise: t.scenario.promise(c.Tool), beforeSend: c.BeforeSend,
				})
			},
		},
		{
			Name: toolabi.FuncClock, Class: toolabi.Read,
			Call: func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
				t.began(p, "a read", c.Step)
				t.mu.Lock()
				defer t.mu.Unlock()
				t.reads++
				return fmt.Appendf(nil, "r%d", t.reads), nil
			},
		},
		{
			Name: toolabi.FuncHTTPFetch, Class: toolabi.Read,
			Call: func(_ context.Context, c hostfuncs.Call, op []byte) ([]byte, error) {
				return t.fetch(p, c.Step, string(op))
			},
		},
	}, suspending...)
}

func asText(b []byte) ([]byte, error) { return json.Marshal(string(b)) }

func ofText(b []byte) ([]byte, error) {
	var s string
	err := json.Unmarshal(b, &s)
	return []byte(s), err
}

// cannotTell is what the provider answers when it does not know now whether something took place.
const cannotTell = "?"

// fetch asks the provider what it has of an operation at this moment: its reply to it, or nothing.
func (t *trial) fetch(p *process, step, op string) ([]byte, error) {
	t.began(p, "a read", step)
	switch t.pause(p, waiter{at: atFetch, step: step}) {
	case dead:
		return nil, errDead
	case refused:
		return nil, &toolabi.Error{Code: toolabi.Unavailable, Message: "no connection", Retry: toolabi.RetrySafe}
	case vague:
		return []byte(cannotTell), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.traced {
		t.note(fmt.Sprintf("the provider is asked for %s, which took place %d times", op, t.world.acts[op]))
	}
	return []byte(t.world.replies[op]), nil
}
