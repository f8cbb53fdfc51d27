package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// describing returns a guest whose wrun_describe has this body and which has no manifest.
func describing(g *guest, body ...[]byte) []byte {
	g.Export(toolabi.ExportDescribe, g.Func(nil, i32, 0, append(body, I32Const(0))...))
	return g.invoke(0).Bytes()
}

func TestDescribeReturnsWhatTheModuleSays(t *testing.T) {
	g := newGuest()
	b, err := toolabi.Encode(&g.manifest)
	if err != nil {
		t.Fatal(err)
	}
	g.Data(replyAt, b)
	m, err := sandbox.Describe(t.Context(), describing(g, g.answer(len(b))))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "guest" || len(m.Tools) != 1 {
		t.Errorf("manifest is %+v", m)
	}
}

func TestModulesThatCannotDescribeThemselves(t *testing.T) {
	plain := newGuest()
	_, err := sandbox.Describe(t.Context(), plain.invoke(0).Bytes())
	wantLoad(t, err, sandbox.ABI, "tool.toml")
	_, err = sandbox.Describe(t.Context(), describing(newGuest()))
	wantLoad(t, err, sandbox.BadManifest, "")

	uses := newGuest(toolabi.FuncClock)
	for _, tc := range []struct {
		says string
		wasm []byte
	}{
		{"unreachable", describing(newGuest(), Unreachable)},
		{"returned 5", describing(newGuest(), I32Const(5), Return)},
		{"no host functions", describing(uses, I32Const(0), I32Const(0), Call(uses.host[toolabi.FuncClock]), Drop)},
	} {
		if _, err := sandbox.Describe(t.Context(), tc.wasm); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("error is %v, want it to say %q", err, tc.says)
		}
	}

	why := errors.New("it took too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, why)
	defer cancel()
	if _, err := sandbox.Describe(ctx, describing(newGuest(), Loop, Br(0), End)); !errors.Is(err, why) {
		t.Errorf("error is %v, want %v", err, why)
	}
}
