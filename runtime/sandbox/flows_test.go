package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// openFlows returns a sandbox and the digest of the guest that waits and calls other tools.
func openFlows(t *testing.T) (*sandbox.Sandbox, toolabi.Digest) {
	t.Helper()
	box, s := open(t, sandbox.Config{CacheDir: wasmtest.CodeCache(t)})
	return box, s.add(wasmtest.Tool(t, "internal/wasmtest/guests/flows"))
}

func TestGoGuestWaitsAndCallsTools(t *testing.T) {
	box, flows := openFlows(t)
	started := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	denied := toolabi.NewError(toolabi.Denied, "mia: no")
	for _, c := range []struct {
		tool, input string
		function    string
		request     any
		answer      toolabi.Answer
		output      string // "" for the answer's error
	}{
		{"ask", `{"text":"Pay 5?","detail":{"cents": 500},"expires_ms":7}`, toolabi.FuncApprove,
			toolabi.ApproveRequest{Text: "Pay 5?", Detail: []byte(`{"cents": 500}`), ExpiresMS: 7},
			toolabi.Answer{Reply: encoded(t, toolabi.ApproveReply{By: "mia", Note: "once"})}, `{"by":"mia","note":"once"}`},
		{"ask", `{"text":"Pay 5?"}`, toolabi.FuncApprove, toolabi.ApproveRequest{Text: "Pay 5?"}, toolabi.Answer{Err: denied}, ""},
		{"nap", `{"ms":1500}`, toolabi.FuncSleep, toolabi.SleepRequest{MS: 1500},
			toolabi.Answer{Reply: encoded(t, toolabi.SleepReply{}), At: started.Add(2 * time.Second).UnixNano()}, `{"ms":2000}`},
		{"nap", `{"until":"2030-01-02T00:00:00Z"}`, toolabi.FuncSleep, toolabi.SleepRequest{Until: started.Add(24 * time.Hour).UnixNano()},
			toolabi.Answer{Reply: encoded(t, toolabi.SleepReply{}), At: started.Add(24 * time.Hour).UnixNano()}, `{"ms":86400000}`},
		{"relay", `{"tool":"a.b","input":{"n": 9007199254740993}}`, toolabi.FuncToolCall,
			toolabi.ToolCallRequest{Tool: "a.b", Input: []byte(`{"n":9007199254740993}`)},
			toolabi.Answer{Reply: encoded(t, toolabi.ToolCallReply{Output: []byte(`[1.50]`)})}, `[1.50]`},
		{"reader", `{"tool":"a.b","input":null}`, toolabi.FuncToolCall,
			toolabi.ToolCallRequest{Tool: "a.b", Input: []byte(`null`)}, toolabi.Answer{Err: denied}, ""},
	} {
		var asked []string
		host := func(_ context.Context, name string, request []byte) (toolabi.Answer, error) {
			asked = append(asked, name)
			if string(request) != string(encoded(t, c.request)) {
				t.Errorf("%s %s asks %x, want %+v", c.tool, c.input, request, c.request)
			}
			return c.answer, nil
		}
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: flows, Tool: c.tool, Input: []byte(c.input), Started: started.UnixNano()}, host)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(asked, []string{c.function}) {
			t.Errorf("%s %s asked %q, want %s", c.tool, c.input, asked, c.function)
		}
		if c.output == "" && !errors.Is(out.Err, toolabi.Denied) || c.output != "" && (out.Err != nil || string(out.Output) != c.output) {
			t.Errorf("%s %s: %s, %v, want %s", c.tool, c.input, out.Output, out.Err, c.output)
		}
	}
}

// A guest that has to wait is left, and nothing of it stays behind: it is entered anew once the answer is there.
func TestAGuestThatWaitsIsUnwound(t *testing.T) {
	box, flows := openFlows(t)
	waiting := errors.New("waits")
	_, err := box.Invoke(t.Context(), toolabi.Invocation{Module: flows, Tool: "ask", Input: []byte(`{"text":"Pay?"}`)},
		func(context.Context, string, []byte) (toolabi.Answer, error) { return toolabi.Answer{}, waiting })
	if !errors.Is(err, waiting) {
		t.Errorf("got %v, want what the host function returned", err)
	}
}

// A tool that calls a tool has both inside the sandbox at once, also when it is the same module.
func TestAToolInsideAToolIsEnteredWhileItsCallerWaits(t *testing.T) {
	box, flows := openFlows(t)
	var enter func(ctx context.Context, tool string, input []byte) (toolabi.Outcome, error)
	depth := 0
	host := func(ctx context.Context, name string, request []byte) (toolabi.Answer, error) {
		var req toolabi.ToolCallRequest
		if err := toolabi.Decode(request, &req); err != nil || name != toolabi.FuncToolCall {
			t.Errorf("asked %s %x: %v", name, request, err)
		}
		if depth++; depth == toolabi.MaxCallDepth {
			return toolabi.Answer{Reply: encoded(t, toolabi.ToolCallReply{Output: []byte(`"the end"`)})}, nil
		}
		out, err := enter(ctx, "relay", req.Input)
		if err != nil {
			return toolabi.Answer{}, err
		}
		return toolabi.Answer{Reply: encoded(t, toolabi.ToolCallReply{Output: out.Output}), Err: out.Err}, nil
	}
	enter = func(ctx context.Context, tool string, input []byte) (toolabi.Outcome, error) {
		return box.Invoke(ctx, toolabi.Invocation{Module: flows, Tool: tool, Input: input}, host)
	}
	input := `null`
	for range toolabi.MaxCallDepth {
		b, err := json.Marshal(map[string]any{"tool": "flows.relay", "input": json.RawMessage(input)})
		if err != nil {
			t.Fatal(err)
		}
		input = string(b)
	}
	out, err := enter(t.Context(), "relay", []byte(input))
	if err != nil || out.Err != nil || string(out.Output) != `"the end"` || depth != toolabi.MaxCallDepth {
		t.Errorf("at depth %d: %s, %v, %v", depth, out.Output, out.Err, err)
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := toolabi.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
