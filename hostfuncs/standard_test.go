package hostfuncs_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestStandardHasEveryFunctionOfTheContractInItsOrder(t *testing.T) {
	funcs := hostfuncs.Standard(hostfuncs.Config{})
	if len(funcs) != len(toolabi.Functions) {
		t.Fatalf("%d functions, want %d", len(funcs), len(toolabi.Functions))
	}
	for i, want := range toolabi.Functions {
		got := funcs[i]
		if got.Name != want.Name || got.Class != want.Class {
			t.Errorf("function %d is %s (%s), want %s (%s)", i, got.Name, got.Class, want.Name, want.Class)
		}
		waits := want.Class == toolabi.Wait
		if (got.Await != nil) != waits || (got.Call != nil) != (!waits && want.Class != toolabi.Call) {
			t.Errorf("%s (%s) has Call: %v, Await: %v", got.Name, got.Class, got.Call != nil, got.Await != nil)
		}
	}
}

func TestEveryFunctionRefusesWhatItCannotDecode(t *testing.T) {
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		for _, raw := range [][]byte{nil, {0xff}, []byte("{}"), {0xa1, 0x18, 0x63, 0x01}, bytes.Repeat([]byte{0x81}, 1000)} {
			for what, err := range judgements(t, f, hostfuncs.Call{}, raw) {
				if e := hostfuncs.AsError(err); err == nil || e.Code != toolabi.Invalid {
					t.Errorf("%s of %s(%x) = %v, want %s", what, f.Name, raw[:min(len(raw), 8)], err, toolabi.Invalid)
				}
			}
			if f.ShowRequest != nil {
				if shown, err := f.ShowRequest(raw); err == nil {
					t.Errorf("%s(%x) is shown as %s", f.Name, raw[:min(len(raw), 8)], shown)
				}
			}
			if f.Timeout != nil && f.Timeout(raw) != 0 {
				t.Errorf("%s(%x) may take %s, want nothing", f.Name, raw[:min(len(raw), 8)], f.Timeout(raw))
			}
			if f.Describe != nil && f.Describe(raw) != "" {
				t.Errorf("%s(%x) is described as %q, want nothing", f.Name, raw[:min(len(raw), 8)], f.Describe(raw))
			}
		}
	}
}

// judgements returns what each part of a function that judges a request says to it.
func judgements(t *testing.T, f hostfuncs.Func, c hostfuncs.Call, raw []byte) map[string]error {
	t.Helper()
	said := map[string]error{}
	if f.Call != nil {
		_, said["Call"] = f.Call(t.Context(), c, raw)
	}
	if f.Await != nil {
		_, said["Await"] = f.Await(c, raw)
	}
	if f.Check != nil {
		said["Check"] = f.Check(c, raw)
	}
	return said
}

func TestLogHandsOnOneCleanLine(t *testing.T) {
	type line struct {
		level   uint8
		message string
	}
	var got []line
	c := hostfuncs.Call{Log: func(level uint8, message string) { got = append(got, line{level, message}) }}
	for _, req := range []toolabi.LogRequest{
		{Message: "hello"},
		{Level: toolabi.LevelError, Message: "a\nERROR forged\x1b[31m red"},
		{Level: toolabi.LevelDebug, Message: strings.Repeat("é", toolabi.MaxText)},
	} {
		if _, err := use[toolabi.LogRequest, toolabi.LogReply](t.Context(), hostfuncs.Config{}, toolabi.FuncLog, c, req); err != nil {
			t.Fatal(err)
		}
	}
	want := []line{{toolabi.LevelInfo, "hello"}, {toolabi.LevelError, "a ERROR forged red"}, {toolabi.LevelDebug, strings.Repeat("é", toolabi.MaxText/2)}}
	if len(got) != len(want) {
		t.Fatalf("got %d lines, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %+.60v, want %+.60v", i, got[i], want[i])
		}
	}
}

func TestLogRefusesAnUnknownLevelAndWorksWithoutAListener(t *testing.T) {
	_, err := use[toolabi.LogRequest, toolabi.LogReply](t.Context(), hostfuncs.Config{}, toolabi.FuncLog, hostfuncs.Call{}, toolabi.LogRequest{Level: 5})
	wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	if _, err := use[toolabi.LogRequest, toolabi.LogReply](t.Context(), hostfuncs.Config{}, toolabi.FuncLog, hostfuncs.Call{}, toolabi.LogRequest{Message: "x"}); err != nil {
		t.Error(err)
	}
	if _, err := use[toolabi.ProgressRequest, toolabi.ProgressReply](t.Context(), hostfuncs.Config{}, toolabi.FuncProgress, hostfuncs.Call{}, toolabi.ProgressRequest{Done: 1}); err != nil {
		t.Error(err)
	}
}

func TestProgressHandsOnNumbersAndACleanMessage(t *testing.T) {
	var done, total uint64
	var message string
	c := hostfuncs.Call{Progress: func(d, n uint64, m string) { done, total, message = d, n, m }}
	req := toolabi.ProgressRequest{Done: 1 << 63, Total: 7, Message: "half\u202e way"}
	if _, err := use[toolabi.ProgressRequest, toolabi.ProgressReply](t.Context(), hostfuncs.Config{}, toolabi.FuncProgress, c, req); err != nil {
		t.Fatal(err)
	}
	if done != 1<<63 || total != 7 || message != "half way" {
		t.Errorf("got %d of %d, %q", done, total, message)
	}
}

func TestClockReadsTheCallsClockOrTheConfigured(t *testing.T) {
	at := func(s int64) func() time.Time { return func() time.Time { return time.Unix(s, 5) } }
	for _, tc := range []struct {
		cfg  hostfuncs.Config
		call hostfuncs.Call
		want int64
	}{
		{hostfuncs.Config{Now: at(1)}, hostfuncs.Call{Now: at(2)}, 2_000_000_005},
		{hostfuncs.Config{Now: at(1)}, hostfuncs.Call{}, 1_000_000_005},
	} {
		got, err := use[toolabi.ClockRequest, toolabi.ClockReply](t.Context(), tc.cfg, toolabi.FuncClock, tc.call, toolabi.ClockRequest{})
		if err != nil || got.UnixNano != tc.want {
			t.Errorf("clock = %d, %v, want %d", got.UnixNano, err, tc.want)
		}
	}
	before := time.Now().UnixNano()
	got, err := use[toolabi.ClockRequest, toolabi.ClockReply](t.Context(), hostfuncs.Config{}, toolabi.FuncClock, hostfuncs.Call{}, toolabi.ClockRequest{})
	if err != nil || got.UnixNano < before {
		t.Errorf("clock = %d, %v, want at least %d", got.UnixNano, err, before)
	}
}

func TestRandomDrawsAsManyBytesAsAskedForAndNoTwoAlike(t *testing.T) {
	draw := func(n uint32) ([]byte, error) {
		reply, err := use[toolabi.RandomRequest, toolabi.RandomReply](t.Context(), hostfuncs.Config{}, toolabi.FuncRandom, hostfuncs.Call{}, toolabi.RandomRequest{N: n})
		return reply.Bytes, err
	}
	for _, n := range []uint32{1, 32, toolabi.MaxRandom} {
		if b, err := draw(n); err != nil || len(b) != int(n) {
			t.Errorf("random(%d) gave %d bytes, %v", n, len(b), err)
		}
	}
	a, _ := draw(32)
	if b, _ := draw(32); bytes.Equal(a, b) {
		t.Errorf("two draws gave %x", a)
	}
	_, err := draw(0)
	wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	for _, n := range []uint32{toolabi.MaxRandom + 1, 1<<32 - 1} {
		_, err = draw(n)
		wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
	}
}
