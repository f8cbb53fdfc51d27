package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

var everydayOnce struct {
	sync.Once
	wasm []byte
}

// everyday returns the guest written in Go.
func everyday(t testing.TB) []byte {
	t.Helper()
	everydayOnce.Do(func() { everydayOnce.wasm = wasmtest.Tool(t, "internal/wasmtest/guests/everyday") })
	if everydayOnce.wasm == nil {
		t.Fatal("the guest could not be built; another test says why")
	}
	return everydayOnce.wasm
}

// openEveryday returns a sandbox and a function that calls a tool of the Go guest.
func openEveryday(t testing.TB) func(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	t.Helper()
	box, s := open(t, sandbox.Config{CacheDir: wasmtest.CodeCache(t), Seed: [32]byte{1}})
	d := s.add(everyday(t))
	return func(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
		inv.Module = d
		if inv.Input == nil {
			inv.Input = []byte("{}")
		}
		return box.Invoke(ctx, inv, host)
	}
}

func TestGoGuestAddsUp(t *testing.T) {
	invoke := openEveryday(t)
	out, err := invoke(t.Context(), toolabi.Invocation{Tool: "sum", Input: []byte(`{"numbers":[1,2,39]}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Output) != `{"total":42}` {
		t.Errorf("outcome is %s, %v", out.Output, out.Err)
	}
}

func TestGoGuestSeesNothingButItsInvocation(t *testing.T) {
	invoke := openEveryday(t)
	started := time.Date(2031, 5, 6, 7, 8, 9, 10, time.UTC)
	run := func(seed byte, started time.Time) string {
		t.Helper()
		out, err := invoke(t.Context(), toolabi.Invocation{Tool: "observe", Seed: [32]byte{seed}, Started: started.UnixNano()}, nil)
		if err != nil || out.Err != nil {
			t.Fatal(err, out.Err, string(out.Stderr))
		}
		return string(out.Output)
	}
	first := run(7, started)
	if again := run(7, started); again != first {
		t.Errorf("the same invocation gave two outcomes:\n%s\n%s", first, again)
	}
	var got, other struct {
		Now           time.Time
		Slept         time.Duration
		Secure        string
		Args, Env     []string
		Opened        string
		Random, Order json.RawMessage
	}
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Now.Equal(started) {
		t.Errorf("the clock began at %v, want %v", got.Now, started)
	}
	if got.Slept < 90*time.Minute || got.Slept > 91*time.Minute {
		t.Errorf("slept for %v, want 90 minutes", got.Slept)
	}
	if len(got.Args) != 0 || len(got.Env) != 0 {
		t.Errorf("arguments are %q, environment %q, want none", got.Args, got.Env)
	}
	if !strings.Contains(got.Opened, "/etc/hostname") {
		t.Errorf("opening a file gave %q, want an error", got.Opened)
	}
	if err := json.Unmarshal([]byte(run(8, started)), &other); err != nil {
		t.Fatal(err)
	}
	if got.Secure == other.Secure {
		t.Errorf("two seeds gave the same random bytes %s", got.Secure)
	}
}

func TestAnswersMoveTheGuestsClockForwardOnly(t *testing.T) {
	invoke := openEveryday(t)
	started := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		at   time.Duration
		want time.Duration
	}{{"later", time.Hour, time.Hour}, {"earlier", -time.Hour, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			host := func(_ context.Context, name string, _ []byte) (toolabi.Answer, error) {
				reply, err := toolabi.Encode(toolabi.ClockReply{UnixNano: 5})
				return toolabi.Answer{Reply: reply, At: started.Add(tc.at).UnixNano()}, err
			}
			out, err := invoke(t.Context(), toolabi.Invocation{Tool: "moments", Started: started.UnixNano()}, host)
			if err != nil {
				t.Fatal(err)
			}
			var m struct{ Before, Host, After time.Time }
			if err := json.Unmarshal(out.Output, &m); err != nil {
				t.Fatal(err, out.Err)
			}
			if !m.Before.Equal(started) || !m.After.Equal(started.Add(tc.want)) || m.Host.UnixNano() != 5 {
				t.Errorf("moments are %+v, want the clock %v later", m, tc.want)
			}
		})
	}
}

func TestGoGuestFailures(t *testing.T) {
	invoke := openEveryday(t)
	for _, tc := range []struct {
		tool, input string
		limits      toolabi.Limits
		code        toolabi.Code
		says        string
	}{
		{tool: "panics", code: toolabi.Trapped, says: "panic: as it was told"},
		{tool: "exits", code: toolabi.Exited, says: "status 3"},
		{tool: "fails", code: toolabi.Failed, says: "out_of_tea"},
		{tool: "hungry", limits: toolabi.Limits{MemoryBytes: 32 << 20}, code: toolabi.LimitMemory, says: "33554432 bytes"},
		{tool: "large", input: `{"bytes":200000}`, limits: toolabi.Limits{OutputBytes: 100_000}, code: toolabi.LimitOutput, says: "100000 bytes"},
		{tool: "absent", code: toolabi.NotFound, says: "absent"},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			inv := toolabi.Invocation{Tool: tc.tool, Limits: tc.limits}
			if tc.input != "" {
				inv.Input = []byte(tc.input)
			}
			out, err := invoke(t.Context(), inv, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantCode(t, out, tc.code)
			if !strings.Contains(out.Err.Error(), tc.says) {
				t.Errorf("error is %q, want it to say %q", out.Err, tc.says)
			}
			if strings.Contains(out.Err.Message, "goroutine") || strings.Contains(out.Err.Message, "\n") {
				t.Errorf("message has more than a line: %q", out.Err.Message)
			}
		})
	}
}

func TestGoGuestIsStoppedWhereItLoops(t *testing.T) {
	invoke := openEveryday(t)
	limit := toolabi.NewError(toolabi.LimitTime, "used up 5 ms")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, limit)
	defer cancel()
	out, err := invoke(ctx, toolabi.Invocation{Tool: "spins"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, out, toolabi.LimitTime)
}

func TestGoGuestGetsErrorsAndReplies(t *testing.T) {
	invoke := openEveryday(t)
	denied := toolabi.NewError(toolabi.Denied, "not granted")
	out, err := invoke(t.Context(), toolabi.Invocation{Tool: "fetch"}, func(context.Context, string, []byte) (toolabi.Answer, error) {
		return toolabi.Answer{Err: denied}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, out, toolabi.Denied)

	body := strings.Repeat("x", 300_000)
	out, err = invoke(t.Context(), toolabi.Invocation{Tool: "fetch"}, func(_ context.Context, name string, request []byte) (toolabi.Answer, error) {
		var r toolabi.HTTPRequest
		if err := toolabi.Decode(request, &r); err != nil || name != toolabi.FuncHTTPFetch {
			return toolabi.Answer{}, errors.Join(err, errors.New(name))
		}
		reply, err := toolabi.Encode(toolabi.HTTPReply{Status: 200, Body: []byte(body)})
		return toolabi.Answer{Reply: reply}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"status":200,"body":"` + body + `"}`; string(out.Output) != want {
		t.Errorf("outcome is %.80q, %v", out.Output, out.Err)
	}
}
