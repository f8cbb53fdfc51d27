package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// recorder is a host function that answers from a list and writes down what it was asked.
type recorder struct {
	asked   []string
	answers []toolabi.Answer
}

func (r *recorder) call(_ context.Context, name string, request []byte) (toolabi.Answer, error) {
	r.asked = append(r.asked, fmt.Sprintf("%s %x", name, request))
	if len(r.answers) < len(r.asked) {
		return toolabi.Answer{}, errors.New("asked too often")
	}
	return r.answers[len(r.asked)-1], nil
}

func TestTwoHostCallsInOrder(t *testing.T) {
	g := newGuest(toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend)
	g.Data(100, []byte("abcdef"))
	fetch, send := g.host[toolabi.FuncHTTPFetch], g.host[toolabi.FuncHTTPSend]
	// The reply of the second call becomes the output.
	g.Data(8192, []byte{0xa1, 1, 0x44})
	g.invoke(0,
		I32Const(100), I32Const(3), Call(fetch), Drop,
		I32Const(103), I32Const(3), Call(send), Drop,
		I32Const(8195), I32Const(4), I32Const(0), Call(g.result), Drop,
		I32Const(8192), I32Const(7), Call(g.output), Drop)
	r := &recorder{answers: []toolabi.Answer{{Reply: []byte("one")}, {Reply: []byte("1234")}}}
	out := outcome(t, g.build(t), r.call)
	if string(out.Output) != "1234" {
		t.Errorf("outcome is %s, %v", out.Output, out.Err)
	}
	if want := []string{"http_fetch 616263", "http_send 646566"}; !slices.Equal(r.asked, want) {
		t.Errorf("asked %q, want %q", r.asked, want)
	}
}

// TestAShortBufferNeverRepeatsACall reads one answer piece by piece and past its end.
func TestAShortBufferNeverRepeatsACall(t *testing.T) {
	g := newGuest(toolabi.FuncClock)
	g.Data(8192, []byte{0xa1, 1, 0x46})
	read := func(at, n, off int32) []byte {
		return slices.Concat(I32Const(at), I32Const(n), I32Const(off), Call(g.result))
	}
	must := func(want int32) []byte { return slices.Concat(I32Const(want), I32Eq, I32Eqz, If, Unreachable, End) }
	g.invoke(0,
		I32Const(0), I32Const(0), Call(g.host[toolabi.FuncClock]), I32WrapI64, must(6),
		read(8195, 2, 0), must(2), read(8197, 3, 2), must(3), read(8200, 100, 5), must(1),
		read(0, 100, 6), must(0), read(0, 100, 7), must(0), read(0, 100, -1), must(0), read(0, 0, 0), must(0),
		I32Const(8192), I32Const(9), Call(g.output), Drop)
	r := &recorder{answers: []toolabi.Answer{{Reply: []byte("[1,23]")}}}
	out := outcome(t, g.build(t), r.call)
	if string(out.Output) != "[1,23]" || len(r.asked) != 1 {
		t.Errorf("outcome is %s, %v after %d calls", out.Output, out.Err, len(r.asked))
	}
}

// answered is a guest that uses a function once and passes the error or the length on: the output is the length as a
// byte when it is below 0x18, else the error is its reply.
func errorOrNothing(t testing.TB, function string, n int32) []byte {
	g := newGuest(function)
	g.Memory(400)
	ok := g.ok(t)
	// An error reply is the map {2: error}.
	g.Data(8192, []byte{0xa1, 2})
	g.invokeOnly(1,
		I32Const(0), I32Const(n), Call(g.host[function]), I32WrapI64, LocalSet(1),
		I32Const(0), LocalGet(1), I32LtS, If, ok, I32Const(0), Return, End,
		I32Const(8194), I32Const(1<<16), I32Const(0), Call(g.result), LocalSet(1),
		I32Const(8192), LocalGet(1), I32Const(2), I32Add, Call(g.output), Drop)
	return g.build(t)
}

func TestAnErrorOfAHostFunctionReachesTheGuestWhole(t *testing.T) {
	want := toolabi.Error{Code: toolabi.RateLimited, Message: "later", Retry: toolabi.RetryAfter, Effect: toolabi.EffectUnknown, RetryAfterMS: 70_000, Detail: "quota"}
	r := &recorder{answers: []toolabi.Answer{{Err: &want, Reply: []byte("not used")}}}
	out := outcome(t, errorOrNothing(t, toolabi.FuncHTTPSend, 8), r.call)
	if out.Err == nil || *out.Err != want {
		t.Errorf("error is %+v, want %+v", out.Err, want)
	}
}

func TestSizesOfAHostCall(t *testing.T) {
	large := toolabi.Answer{Reply: make([]byte, toolabi.MaxOutput+1)}
	r := &recorder{}
	out := outcome(t, errorOrNothing(t, toolabi.FuncHTTPSend, toolabi.MaxInput+1), r.call)
	wantCode(t, out, toolabi.TooLarge)
	if len(r.asked) != 0 || out.Err.Effect != toolabi.EffectNone {
		t.Errorf("a request over the cap was passed on: %d, effect %v", len(r.asked), out.Err.Effect)
	}
	for function, effect := range map[string]toolabi.EffectState{
		toolabi.FuncHTTPSend: toolabi.EffectUnknown, toolabi.FuncHTTPFetch: toolabi.EffectNone,
	} {
		out := outcome(t, errorOrNothing(t, function, 8), (&recorder{answers: []toolabi.Answer{large}}).call)
		wantCode(t, out, toolabi.TooLarge)
		if out.Err.Effect != effect {
			t.Errorf("%s: a reply over the cap has effect %v, want %v", function, out.Err.Effect, effect)
		}
	}
	most := toolabi.Answer{Reply: bytes.Repeat([]byte{1}, toolabi.MaxOutput)}
	g := newGuest(toolabi.FuncClock)
	ok := g.ok(t)
	g.invoke(0, I32Const(0), I32Const(0), Call(g.host[toolabi.FuncClock]), I32WrapI64, I32Const(toolabi.MaxOutput), I32Eq, If, ok, End)
	if out := outcome(t, g.build(t), (&recorder{answers: []toolabi.Answer{most}}).call); string(out.Output) != "{}" {
		t.Errorf("the largest reply came to %v", out.Err)
	}
}

type ownError struct{ step string }

func (e *ownError) Error() string { return "stopped at " + e.step }

func TestAHostsErrorUnwindsTheGuestAndComesBackAsItIs(t *testing.T) {
	wasm := errorOrNothing(t, toolabi.FuncClock, 0)
	want := &ownError{"charge/1"}
	_, err := call(t, wasm, "{}", func(context.Context, string, []byte) (toolabi.Answer, error) { return toolabi.Answer{}, want })
	if err != want {
		t.Errorf("error is %v, want the very error of the host", err)
	}
	_, err = call(t, wasm, "{}", func(context.Context, string, []byte) (toolabi.Answer, error) { panic("host is broken") })
	if err == nil || !strings.Contains(err.Error(), "host is broken") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("error is %v, want one line that says what the host panicked with", err)
	}
	if _, err = call(t, wasm, "{}", nil); err == nil {
		t.Error("a call without host functions used one")
	}
}

func TestAHostThatOnlyPassesOnTheEndOfTheContext(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	inv := toolabi.Invocation{Module: s.add(errorOrNothing(t, toolabi.FuncClock, 0)), Tool: "echo"}
	limit, uncertain := toolabi.NewError(toolabi.LimitTime, "time is up"), errors.New("outcome unknown")
	run := func(give func(ctx context.Context) error) (toolabi.Outcome, error) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		return box.Invoke(ctx, inv, func(ctx context.Context, _ string, _ []byte) (toolabi.Answer, error) {
			cancel(limit)
			return toolabi.Answer{}, give(ctx)
		})
	}
	for name, give := range map[string]func(context.Context) error{"its error": context.Context.Err, "its cause": context.Cause} {
		if out, err := run(give); err != nil || out.Err != limit {
			t.Errorf("%s: got %v, %v; want the outcome %v", name, out.Err, err, limit)
		}
	}
	// An error that says more than the context's end must not be lost.
	if _, err := run(func(ctx context.Context) error { return errors.Join(uncertain, ctx.Err()) }); !errors.Is(err, uncertain) {
		t.Errorf("error is %v, want %v", err, uncertain)
	}
}

func TestNoHostCallBeginsAfterTheContextEnded(t *testing.T) {
	g := newGuest(toolabi.FuncClock)
	clock := slices.Concat(I32Const(0), I32Const(0), Call(g.host[toolabi.FuncClock]), Drop)
	g.invoke(0, clock, clock, g.ok(t))
	box, s := open(t, sandbox.Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("cancelled")
	asked := 0
	_, err := box.Invoke(ctx, toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo"}, func(context.Context, string, []byte) (toolabi.Answer, error) {
		asked++
		cancel(why)
		return toolabi.Answer{}, nil
	})
	if err != why || asked != 1 {
		t.Errorf("error is %v after %d host calls, want %v after 1", err, asked, why)
	}
}

func TestBadPointersAreMisuse(t *testing.T) {
	const end = 2 * 65536
	args := func(v ...int32) []byte {
		var b []byte
		for _, n := range v {
			b = append(b, I32Const(n)...)
		}
		return b
	}
	g := newGuest(toolabi.FuncClock)
	clock := g.host[toolabi.FuncClock]
	for _, tc := range []struct {
		name string
		code []byte
		ok   bool
	}{
		{"read to the last byte", slices.Concat(args(end-4, 4, 0), Call(g.input), Drop), true},
		{"read one byte too far", slices.Concat(args(end-4, 5, 0), Call(g.input), Drop), false},
		{"read at the end, nothing", slices.Concat(args(end, 0, 0), Call(g.input), Drop), true},
		{"read behind the end, nothing", slices.Concat(args(end+1, 0, 0), Call(g.input), Drop), false},
		{"read at the top of the address space", slices.Concat(args(-4, 4, 0), Call(g.input), Drop), false},
		{"read over the top of the address space", slices.Concat(args(-4, 8, 0), Call(g.input), Drop), false},
		{"read with everything", slices.Concat(args(0, -1, 0), Call(g.input), Drop), false},
		{"read with both", slices.Concat(args(-1, -1, 0), Call(g.input), Drop), false},
		{"write over the top", slices.Concat(args(-4, 8), Call(g.output), Drop), false},
		{"write too much", slices.Concat(args(8, -8), Call(g.output), Drop), false},
		{"result over the top", slices.Concat(args(-4, 4, 0), Call(g.result), Drop), false},
		{"request over the top", slices.Concat(args(-4, 8), Call(clock), Drop), false},
		{"request too long", slices.Concat(args(4, -1), Call(clock), Drop), false},
		{"request behind the end", slices.Concat(args(end, 1), Call(clock), Drop), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuest(toolabi.FuncClock)
			g.invoke(0, tc.code, g.ok(t))
			out := outcome(t, g.build(t), func(context.Context, string, []byte) (toolabi.Answer, error) {
				t.Error("the host was asked")
				return toolabi.Answer{}, nil
			})
			if tc.ok && string(out.Output) != "{}" {
				t.Errorf("outcome is %v, want success", out.Err)
			}
			if !tc.ok {
				wantCode(t, out, toolabi.Protocol)
			}
		})
	}
}

func TestNothingOfWrunIsThereWhileAModuleStarts(t *testing.T) {
	for _, name := range []string{"input_read", "output_write", "result_read", "clock"} {
		g := newGuest(toolabi.FuncClock)
		use := map[string][]byte{
			"input_read":   slices.Concat(I32Const(0), I32Const(0), I32Const(0), Call(g.input), Drop),
			"output_write": slices.Concat(I32Const(0), I32Const(0), Call(g.output), Drop),
			"result_read":  slices.Concat(I32Const(0), I32Const(0), I32Const(0), Call(g.result), Drop),
			"clock":        slices.Concat(I32Const(0), I32Const(0), Call(g.host[toolabi.FuncClock]), Drop),
		}
		g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, use[name]))
		out := outcome(t, g.invoke(0, g.ok(t)).build(t), func(context.Context, string, []byte) (toolabi.Answer, error) {
			t.Error("the host was asked")
			return toolabi.Answer{}, nil
		})
		wantCode(t, out, toolabi.Protocol)
		if !strings.Contains(out.Err.Message, name) {
			t.Errorf("message %q does not name %s", out.Err.Message, name)
		}
	}
}

// TestWhatWasFinishedCountsThoughTheContextEnded ends the context while the guest is in its last host function: what it
// writes after that, without another one and without a loop, is its reply.
func TestWhatWasFinishedCountsThoughTheContextEnded(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	inv := toolabi.Invocation{Module: s.add(errorOrNothing(t, toolabi.FuncClock, 0)), Tool: "echo"}
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		out, err := box.Invoke(ctx, inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
			seen := make(chan struct{})
			context.AfterFunc(ctx, func() { close(seen) })
			cancel()
			<-seen
			return toolabi.Answer{Reply: []byte("1")}, nil
		})
		if err != nil || string(out.Output) != "{}" {
			t.Fatalf("outcome is %s, %v, %v", out.Output, out.Err, err)
		}
	}
}

// TestWhatAModuleSeesWhileItStarts reads the clock and randomness in _initialize and tells the host of both.
func TestWhatAModuleSeesWhileItStarts(t *testing.T) {
	g := newGuest(toolabi.FuncLog)
	random := g.Import(toolabi.WASIModule, "random_get", i32s, i32)
	now := g.Import(toolabi.WASIModule, "clock_time_get", []byte{I32, I64, I32}, i32)
	see := func(at int32) []byte {
		return slices.Concat(I32Const(at), I32Const(16), Call(random), Drop, I32Const(0), I64Const(0), I32Const(at+16), Call(now), Drop)
	}
	g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, see(0)))
	g.invoke(0, see(24), I32Const(0), I32Const(48), Call(g.host[toolabi.FuncLog]), Drop, g.ok(t))
	run := func(config, call byte, started int64) (atStart, inCall string) {
		box, s := open(t, sandbox.Config{Seed: [32]byte{config}})
		inv := toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo", Seed: [32]byte{call}, Started: started}
		var seen []byte
		if _, err := box.Invoke(t.Context(), inv, func(_ context.Context, _ string, request []byte) (toolabi.Answer, error) {
			seen = request
			return toolabi.Answer{}, nil
		}); err != nil || len(seen) != 48 {
			t.Fatal(err, seen)
		}
		return fmt.Sprintf("%x", seen[:24]), fmt.Sprintf("%x", seen[24:])
	}
	start, inside := run(1, 1, 1000)
	if s, i := run(1, 1, 1000); s != start || i != inside {
		t.Errorf("the same call saw %s %s and %s %s", start, inside, s, i)
	}
	if s, i := run(1, 2, 1000); s != start || i == inside {
		t.Errorf("another seed of the call: saw %s %s and %s %s", start, inside, s, i)
	}
	if s, i := run(1, 1, 2000); s != start || i == inside {
		t.Errorf("another time: saw %s %s and %s %s", start, inside, s, i)
	}
	if s, i := run(2, 1, 1000); s == start || i != inside {
		t.Errorf("another seed of the sandbox: saw %s %s and %s %s", start, inside, s, i)
	}
}
