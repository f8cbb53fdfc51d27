package sandbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestEchoReturnsTheInputAsItCame(t *testing.T) {
	const input = `{"id":9007199254740993,"ü":[1.10,-0]}`
	out, err := call(t, echo(t), input, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Output) != input || out.Err != nil {
		t.Errorf("outcome is %s, %v; want %s", out.Output, out.Err, input)
	}
}

func TestToolsThatFail(t *testing.T) {
	recurse := func() *guest {
		g := newGuest()
		f := g.Func(nil, nil, 0, Call(3)) // itself: three imports come before it
		return g.invoke(0, Call(f))
	}
	for _, tc := range []struct {
		name string
		make func(g *guest) *guest
		code toolabi.Code
		says string
	}{
		{"unreachable", func(g *guest) *guest { return g.invoke(0, Unreachable) }, toolabi.Trapped, "unreachable"},
		{"division by zero", func(g *guest) *guest {
			return g.invoke(0, I32Const(1), I32Const(0), I32DivS, Drop)
		}, toolabi.Trapped, "integer divide by zero"},
		{"load out of bounds", func(g *guest) *guest {
			return g.invoke(0, I32Const(-4), I32Load, Drop)
		}, toolabi.Trapped, "out of bounds memory access"},
		{"call of an empty table element", func(g *guest) *guest {
			g.Table(0, 1)
			return g.invoke(0, I32Const(0), I32Const(0), I32Const(0), I32Const(0), CallIndirect(0), Drop)
		}, toolabi.Trapped, ""},
		{"endless recursion", func(*guest) *guest { return recurse() }, toolabi.Trapped, "stack overflow"},
		{"status that is not 0", func(g *guest) *guest { return g.invoke(0, I32Const(7), Return) }, toolabi.Protocol, "returned 7"},
		{"no reply", func(g *guest) *guest { return g.invoke(0) }, toolabi.Protocol, "reply"},
		{"reply that is not CBOR", func(g *guest) *guest {
			g.Data(replyAt, []byte{0xff, 0xff})
			return g.invoke(0, g.answer(2))
		}, toolabi.Protocol, "reply"},
		{"reply with trailing bytes", func(g *guest) *guest {
			g.Data(replyAt, []byte{0xa1, 1, 0x42, '{', '}', 0})
			return g.invoke(0, g.answer(6))
		}, toolabi.Protocol, "reply"},
		{"output that is not JSON", func(g *guest) *guest {
			return g.invoke(0, g.static(t, toolabi.Reply{Output: []byte("{")}))
		}, toolabi.Protocol, "JSON"},
		{"output and error", func(g *guest) *guest {
			return g.invoke(0, g.static(t, toolabi.Reply{Output: []byte("1"), Err: toolabi.NewError(toolabi.Failed, "x")}))
		}, toolabi.Protocol, "both"},
		{"neither output nor error", func(g *guest) *guest { return g.invoke(0, g.static(t, toolabi.Reply{})) }, toolabi.Protocol, "JSON"},
		{"trap in _initialize", func(g *guest) *guest {
			g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, Unreachable))
			return g.invoke(0)
		}, toolabi.Trapped, "unreachable"},
		{"data outside of memory", func(g *guest) *guest {
			g.Data(2*65536-1, []byte("ab"))
			return g.invoke(0, g.ok(t))
		}, toolabi.Trapped, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := outcome(t, tc.make(newGuest()).build(t), nil)
			wantCode(t, out, tc.code)
			if !strings.Contains(out.Err.Message, tc.says) || strings.Contains(out.Err.Message, "\n") {
				t.Errorf("message is %q, want one line that says %q", out.Err.Message, tc.says)
			}
			if strings.Contains(out.Err.Message, "wazero") || strings.Contains(out.Err.Message, ".go") {
				t.Errorf("message shows the host's inside: %q", out.Err.Message)
			}
		})
	}
}

func TestExitIsAnOutcome(t *testing.T) {
	for _, code := range []int32{0, 3, -1, -0x10000001} { // the last two are wazero's own for a context that ended
		g := newGuest()
		exit := g.Import(toolabi.WASIModule, "proc_exit", i32, nil)
		g.invoke(0, I32Const(code), Call(exit), g.ok(t))
		wantCode(t, outcome(t, g.build(t), nil), toolabi.Exited)
	}
}

func TestAToolsOwnErrorSaysOnlyWhatAToolMaySay(t *testing.T) {
	for _, tc := range []struct {
		name, message, detail string
		in, want              toolabi.Error
	}{
		{name: "its own", in: toolabi.Error{Code: toolabi.Failed, Message: "no tea", Detail: "tea", Retry: toolabi.RetrySafe, Effect: toolabi.EffectApplied},
			want: toolabi.Error{Code: toolabi.Failed, Message: "no tea", Detail: "tea", Retry: toolabi.RetrySafe, Effect: toolabi.EffectApplied}},
		{name: "one passed on", in: toolabi.Error{Code: toolabi.RateLimited, Retry: toolabi.RetryAfter, RetryAfterMS: 30},
			want: toolabi.Error{Code: toolabi.RateLimited, Retry: toolabi.RetryAfter, RetryAfterMS: 30, Effect: toolabi.EffectNone}},
		{name: "a limit", in: toolabi.Error{Code: toolabi.LimitTime, RetryAfterMS: 5},
			want: toolabi.Error{Code: toolabi.Failed, Retry: toolabi.RetryNever, Effect: toolabi.EffectNone}},
		{name: "an unknown code", in: toolabi.Error{Code: 999, Retry: 77, Effect: 88},
			want: toolabi.Error{Code: toolabi.Failed, Retry: toolabi.RetryNever, Effect: toolabi.EffectUnknown}},
		{name: "escapes", in: toolabi.Error{Code: toolabi.Failed, Message: "a\x1b[31mb\x1b]0;title\ac\rd\u202ee", Detail: "x\ny"},
			want: toolabi.Error{Code: toolabi.Failed, Message: "abcde", Detail: "x y", Retry: toolabi.RetryNever, Effect: toolabi.EffectNone}},
		{name: "too long", in: toolabi.Error{Code: toolabi.Failed, Message: strings.Repeat("m", 6000), Detail: strings.Repeat("d", 100)},
			want: toolabi.Error{Code: toolabi.Failed, Message: strings.Repeat("m", 4096), Detail: strings.Repeat("d", 64), Retry: toolabi.RetryNever, Effect: toolabi.EffectNone}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuest()
			g.invoke(0, g.static(t, toolabi.Reply{Err: &tc.in}))
			out := outcome(t, g.build(t), nil)
			if out.Err == nil || *out.Err != tc.want {
				t.Errorf("error is %+v, want %+v", out.Err, tc.want)
			}
		})
	}
}

// TestOutputOverItsLimit also holds that what is refused is refused whole: a guest may say something shorter instead.
func TestOutputOverItsLimit(t *testing.T) {
	loop := newGuest()
	loop.invoke(0, Loop, I32Const(0), I32Const(65536), Call(loop.output), I32Eqz, BrIf(0), End)
	wantCode(t, outcome(t, loop.build(t), nil), toolabi.LimitOutput)

	exact := newGuest()
	exact.invoke(0, exact.static(t, toolabi.Reply{Output: []byte(`"12345678"`)}))
	box, s := open(t, sandbox.Config{Limits: toolabi.Limits{OutputBytes: 10}})
	for _, tc := range []struct {
		limit uint64
		want  string
	}{{0, `"12345678"`}, {10, `"12345678"`}, {11, `"12345678"`}, {9, ""}} {
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(exact.build(t)), Tool: "echo", Limits: toolabi.Limits{OutputBytes: tc.limit}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(out.Output) != tc.want || (tc.want == "") != errors.Is(errorOf(out), toolabi.LimitOutput) {
			t.Errorf("limit %d: outcome is %s, %v; want %s", tc.limit, out.Output, out.Err, tc.want)
		}
	}

	shorter := newGuest()
	shorter.Memory(300)
	short := shorter.ok(t)
	shorter.invokeOnly(0, I32Const(0), I32Const(18<<20), Call(shorter.output), Drop, short)
	if out := outcome(t, shorter.build(t), nil); string(out.Output) != "{}" {
		t.Errorf("outcome is %s, %v; want what it wrote after the refusal", out.Output, out.Err)
	}
}

func errorOf(out toolabi.Outcome) error {
	if out.Err == nil {
		return nil
	}
	return out.Err
}

func TestMemoryIsBoundedPerCall(t *testing.T) {
	// It grows page by page until it is refused and then fails, or goes on, as its input says.
	grow := slices.Concat(Loop, I32Const(1), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, BrIf(0), End)
	fails, copes := newGuest(), newGuest()
	fails.invoke(0, grow, Unreachable)
	copes.invoke(0, grow, copes.ok(t))
	box, s := open(t, sandbox.Config{})
	run := func(g *guest, limit uint64) toolabi.Outcome {
		t.Helper()
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo", Limits: toolabi.Limits{MemoryBytes: limit}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wantCode(t, run(fails, 1<<20), toolabi.LimitMemory)
	wantCode(t, run(fails, 65536), toolabi.LimitMemory) // less than it begins with
	if out := run(copes, 1<<20); string(out.Output) != "{}" {
		t.Errorf("a guest that copes with a refusal came to %s, %v", out.Output, out.Err)
	}
	// What the module's own maximum refuses is not the limit's doing.
	own := newGuest()
	own.MemoryMax(2, 3)
	own.invokeOnly(0, grow, Unreachable)
	wantCode(t, run(own, 1<<20), toolabi.Trapped)
}

// TestAModulesOwnMaximumHolds grows memories one page at a time, and by a page and all that there is at once: the number of pages
// that is reached is the same as before the module was rewritten.
func TestAModulesOwnMaximumHolds(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	none := int32(-1)
	for _, tc := range []struct {
		min      uint32
		max      int32
		limit    uint64 // in pages
		most     int32
		exceeded bool // failing then is the limit's doing
	}{
		{2, 2, 16, 2, false},
		{2, 3, 16, 3, false},
		{0, 0, 16, 0, false},
		{0, 1, 16, 1, false},
		{2, 16, 16, 16, false},
		{2, 17, 16, 16, true},
		{2, 15, 16, 15, false},
		{2, 65536, 16, 16, true},
		{2, 65535, 16, 16, true},
		{2, none, 16, 16, true},
	} {
		grow := slices.Concat(Loop, I32Const(1), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, BrIf(0), End)
		reached := slices.Concat(MemorySize, I32Const(tc.most), I32Eq, I32Eqz, If, Loop, Br(0), End, End) // to trap says something else
		atOnce := slices.Concat(I32Const(tc.most+1), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, If, Loop, Br(0), End, End)
		g := newGuest()
		if tc.max == none {
			g.Memory(tc.min)
		} else {
			g.MemoryMax(tc.min, uint32(tc.max))
		}
		g.invokeOnly(0, atOnce, grow, reached, Unreachable)
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(g.build(t)), Tool: "echo", Limits: toolabi.Limits{MemoryBytes: tc.limit << 16, Fuel: 1 << 20}}, nil)
		want := toolabi.Trapped
		if tc.exceeded {
			want = toolabi.LimitMemory
		}
		if err != nil || !errors.Is(errorOf(out), want) {
			t.Errorf("from %d to %d pages, %d in the call: %v, %v; want %v", tc.min, tc.max, tc.limit, out.Err, err, want)
		}
	}
}

func TestTablesAreBounded(t *testing.T) {
	g := newGuest()
	g.Table(0, 1)
	wasTooMuch := slices.Concat(RefNull, I32Const(1<<28), TableGrow(0), I32Const(-1), I32Eq)
	ok := g.ok(t)
	g.invoke(0, wasTooMuch, If, ok, End)
	if out := outcome(t, g.build(t), nil); string(out.Output) != "{}" {
		t.Errorf("a table grew by 268435456 elements: %s, %v", out.Output, out.Err)
	}
}

func endless(t testing.TB) []byte {
	return newGuest().invoke(0, Loop, Br(0), End).build(t)
}

func TestAContextsCauseDecidesWhatItsEndMeans(t *testing.T) {
	limit, why := toolabi.NewError(toolabi.LimitTime, "used up 5 ms"), errors.New("the run was cancelled")
	box, s := open(t, sandbox.Config{})
	inv := toolabi.Invocation{Module: s.add(endless(t)), Tool: "echo"}
	for _, tc := range []struct {
		name  string
		cause error
	}{{"an error for the tool", limit}, {"any other", why}, {"none given", nil}} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, tc.cause)
			defer cancel()
			for range 2 { // while it runs, and when it is over before
				out, err := box.Invoke(ctx, inv, nil)
				switch {
				case tc.cause == limit && (err != nil || out.Err != limit):
					t.Errorf("got %v, %v; want the outcome %v", out.Err, err, limit)
				case tc.cause == why && err != why:
					t.Errorf("got %v, %v; want %v", out.Err, err, why)
				case tc.cause == nil && err != context.DeadlineExceeded:
					t.Errorf("got %v, %v; want %v", out.Err, err, context.DeadlineExceeded)
				}
			}
		})
	}
}

func TestEndlessInitializeIsStopped(t *testing.T) {
	g := newGuest()
	g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, Loop, Br(0), End))
	box, s := open(t, sandbox.Config{})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, toolabi.LimitTime)
	defer cancel()
	_, err := box.Invoke(ctx, toolabi.Invocation{Module: s.add(g.invoke(0).build(t)), Tool: "echo"}, nil)
	if !errors.Is(err, toolabi.LimitTime) {
		t.Errorf("error is %v, want the cause", err)
	}
}

func TestInputOverTheCapIsRefused(t *testing.T) {
	out, err := call(t, echo(t), strings.Repeat(" ", toolabi.MaxInput+1), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, out, toolabi.TooLarge)
}

func TestStandardOutputIsKeptCleanedAndBounded(t *testing.T) {
	g := newGuest()
	write := g.Import(toolabi.WASIModule, "fd_write", []byte{I32, I32, I32, I32}, i32)
	// One vector: 16 bytes at 64.
	g.Data(0, []byte{64, 0, 0, 0, 16, 0, 0, 0})
	g.Data(64, []byte("\x1b[1mred\x1b[0m\a\r\nxy"))
	one := slices.Concat(I32Const(2), I32Const(0), I32Const(1), I32Const(32), Call(write), Drop)
	ok := g.ok(t)
	count := slices.Concat(LocalGet(1), I32Const(1), I32Add, LocalSet(1), LocalGet(1), I32Const(50_000), I32LtS)
	g.invoke(1, Loop, one, count, BrIf(0), End, ok)
	out := outcome(t, g.build(t), nil)
	if len(out.Stderr) > 64<<10 || len(out.Stderr) < 16<<10 {
		t.Errorf("kept %d bytes, want the last 64 KiB without escapes", len(out.Stderr))
	}
	if !strings.HasSuffix(string(out.Stderr), "red\nxyred\nxy") {
		t.Errorf("ends with %q", out.Stderr[len(out.Stderr)-30:])
	}
}
