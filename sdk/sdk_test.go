package sdk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// The module of this test has one tool, "do", which does what the test says.
var do func() error

type nothing struct{}

func init() {
	sdk.Module("sdk-test", "1.2.3", "for tests",
		sdk.Need(toolabi.FuncHTTPFetch, "to read"), sdk.Need(toolabi.FuncHTTPSend, "to write", "https://host.test"),
		sdk.Need(toolabi.FuncToolCall, "to call", "other.*", "third.one"),
		sdk.Limit(toolabi.Limits{MemoryBytes: 1 << 20}))
	sdk.Register(sdk.Tool[nothing, nothing]{
		Name: "do", Description: "does it", Idempotency: sdk.Keyed, KeyTTL: time.Hour + 999*time.Microsecond,
		Lookup: "look", Settle: time.Second, Compensate: "undo", Destructive: true, Approval: true, Timeout: time.Minute,
		Retry: sdk.Retry{Attempts: 3, Backoff: time.Second, MaxBackoff: -1},
		Run:   func(context.Context, nothing) (nothing, error) { return nothing{}, do() },
	})
	sdk.Register(sdk.Tool[sdk.LookupInput, sdk.LookupOutput]{Name: "look", Idempotency: sdk.ReadOnly, Run: look})
	sdk.Register(sdk.Tool[sdk.CompensateInput, undone]{Name: "undo", Idempotency: sdk.Idempotent, Run: undo})
}

// run lets the tool do f in a world.
func run(t *testing.T, w *sdktest.World, f func() error) error {
	t.Helper()
	do = f
	_, err := sdktest.Call(t, w, "do", "{}")
	return err
}

func TestManifestSaysWhatWasRegistered(t *testing.T) {
	m := sdktest.Manifest(t)
	got, _ := m.Tool("do")
	got.Input, got.Output = nil, nil
	want := toolabi.Tool{
		Name: "do", Description: "does it", Idempotency: toolabi.Keyed, KeyTTLMS: 3_600_000, Lookup: "look", SettleMS: 1000,
		Compensate: "undo", Destructive: true, Approval: true, TimeoutMS: 60_000,
		Retry: toolabi.RetryPolicy{Attempts: 3, BackoffMS: 1000},
	}
	if got.Name != want.Name || got.Description != want.Description || got.Idempotency != want.Idempotency ||
		got.KeyTTLMS != want.KeyTTLMS || got.Lookup != want.Lookup || got.SettleMS != want.SettleMS ||
		got.Compensate != want.Compensate || got.Destructive != want.Destructive || got.Approval != want.Approval ||
		got.TimeoutMS != want.TimeoutMS || got.Retry != want.Retry {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if m.Name != "sdk-test" || m.Version != "1.2.3" || m.Description != "for tests" || m.Limits.MemoryBytes != 1<<20 {
		t.Errorf("the module is %+v", m)
	}
	if len(m.Capabilities) != 3 || m.Capabilities[1].Reason != "to write" || len(m.Capabilities[1].Targets) != 1 {
		t.Errorf("the module needs %+v", m.Capabilities)
	}
}

func TestLogAndProgressAreCleanedAndCut(t *testing.T) {
	w := new(sdktest.World)
	err := run(t, w, func() error {
		sdk.Log(toolabi.LevelError, strings.Repeat("é", toolabi.MaxText))
		sdk.Logf(0, "%d bad \xff", 1)
		sdk.Progress(1, 2, "half \xff")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Logs) != 2 || w.Logs[0].Level != toolabi.LevelError || len(w.Logs[0].Message) != toolabi.MaxText {
		t.Fatalf("logged %d lines", len(w.Logs))
	}
	if want := (toolabi.LogRequest{Level: toolabi.LevelInfo, Message: "1 bad \uFFFD"}); w.Logs[1] != want {
		t.Errorf("logged %+v, want %+v", w.Logs[1], want)
	}
	if want := (toolabi.ProgressRequest{Done: 1, Total: 2, Message: "half \uFFFD"}); len(w.Reports) != 1 || w.Reports[0] != want {
		t.Errorf("reported %+v, want %+v", w.Reports, want)
	}
}

func TestClockIsTheHosts(t *testing.T) {
	want := time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	err := run(t, &sdktest.World{Clock: func() time.Time { return want }}, func() error {
		got, err := sdk.Clock()
		if got != want {
			t.Errorf("the clock says %v, want %v", got, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRandomIsTheHosts(t *testing.T) {
	w := &sdktest.World{Random: func(n int) []byte { return []byte(strings.Repeat("r", n)) }}
	err := run(t, w, func() error {
		got, err := sdk.Random(toolabi.MaxRandom)
		if string(got) != strings.Repeat("r", toolabi.MaxRandom) {
			t.Errorf("drew %d bytes %.10q", len(got), got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRandomRefusesBadSizes(t *testing.T) {
	w := &sdktest.World{Random: func(n int) []byte { return make([]byte, n) }}
	for n, code := range map[int]toolabi.Code{0: toolabi.Invalid, -5: toolabi.Invalid, toolabi.MaxRandom + 1: toolabi.TooLarge} {
		err := run(t, w, func() error { _, err := sdk.Random(n); return err })
		if !errors.Is(err, code) {
			t.Errorf("drawing %d bytes: got %v, want %s", n, err, code)
		}
	}
}

func TestRandomDoesNotTakeFewerBytesThanItAskedFor(t *testing.T) {
	w := &sdktest.World{Random: func(int) []byte { return []byte("r") }}
	err := run(t, w, func() error { _, err := sdk.Random(2); return err })
	if !errors.Is(err, toolabi.Protocol) {
		t.Errorf("got %v, want a breach of the protocol", err)
	}
}

func TestHTTPErrorsOfTheHostReachTheTool(t *testing.T) {
	want := toolabi.Error{Code: toolabi.Timeout, Message: "no reply", Retry: toolabi.RetryAfter, Effect: toolabi.EffectUnknown, RetryAfterMS: 7, Detail: "d"}
	w := &sdktest.World{Exchange: func(string, toolabi.HTTPRequest) (toolabi.HTTPReply, error) { return toolabi.HTTPReply{}, &want }}
	err := run(t, w, func() error {
		_, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: "https://host.test/"})
		var e *toolabi.Error
		if !errors.As(err, &e) || *e != want || !errors.Is(err, toolabi.Timeout) {
			t.Errorf("the tool got %+v, want %+v", err, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFetchWithoutAMethodIsAGet(t *testing.T) {
	w := &sdktest.World{Exchange: func(name string, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
		return toolabi.HTTPReply{Status: 200, Body: []byte(name + " " + req.Method)}, nil
	}}
	err := run(t, w, func() error {
		reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: "https://host.test/"})
		if got, want := string(reply.Body), "http_fetch GET"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFunctionsOutsideASandboxAndATestAreUnsupported(t *testing.T) {
	sdk.Log(toolabi.LevelInfo, "goes nowhere")
	if _, err := sdk.Clock(); !errors.Is(err, toolabi.Unsupported) {
		t.Errorf("got %v, want unsupported", err)
	}
}

func TestGoroutinesOfAToolGetTheirOwnAnswers(t *testing.T) {
	w := &sdktest.World{Random: func(n int) []byte { return make([]byte, n) }}
	const n = 50
	err := run(t, w, func() error {
		errs := make(chan error, n)
		for i := range n {
			go func() {
				b, err := sdk.Random(i + 1)
				if err == nil && len(b) != i+1 {
					err = errors.New("got the bytes of another")
				}
				errs <- err
			}()
		}
		var all []error
		for range n {
			all = append(all, <-errs)
		}
		return errors.Join(all...)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFailCutsWhatIsTooLong(t *testing.T) {
	e := sdk.Fail(strings.Repeat("d", 65), strings.Repeat("m", toolabi.MaxText+1))
	if e.Code != toolabi.Failed || len(e.Detail) != 64 || len(e.Message) != toolabi.MaxText {
		t.Errorf("got code %s, detail of %d and message of %d bytes", e.Code, len(e.Detail), len(e.Message))
	}
}
