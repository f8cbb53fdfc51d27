package hostfuncs_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestACallOfAToolIsJudgedBeforeItsIntent(t *testing.T) {
	f := function(t, toolabi.FuncToolCall)
	for _, tt := range []struct {
		tool, input string
		targets     []string
		want        toolabi.Code // 0 accepts
		says        string
	}{
		{"payments.charge", `{"cents":1}`, nil, 0, ""},
		{"payments.charge", ` null `, []string{"payments.*"}, 0, ""},
		{"payments.charge", `{}`, []string{"text.upper", "payments.refund"}, toolabi.Denied, "does not name payments.charge among its targets"},
		{"payments", `{}`, nil, toolabi.Invalid, `"payments" is no full name`},
		{"payments.*", `{}`, nil, toolabi.Invalid, "no full name"},
		{"pay\x1b[31m\n.x", `{}`, nil, toolabi.Invalid, `"pay .x" is no full name`},
		{"", `{}`, nil, toolabi.Invalid, "no full name"},
		{"payments.charge", ``, nil, toolabi.BadInput, "it is empty"},
		{"payments.charge", `{"cents":`, nil, toolabi.BadInput, "not JSON"},
		{"payments.charge", `{"cents":1,"cents":2}`, nil, toolabi.BadInput, "twice"},
		{"payments.charge", "\"\xff\"", nil, toolabi.BadInput, "not UTF-8"},
		{"payments.charge", `"` + strings.Repeat("a", toolabi.MaxInput) + `"`, nil, toolabi.TooLarge, "at most 16777216"},
	} {
		err := f.Check(hostfuncs.Call{Targets: tt.targets}, encode(t, toolabi.ToolCallRequest{Tool: tt.tool, Input: []byte(tt.input)}))
		if tt.want == 0 {
			if err != nil {
				t.Errorf("%s %s: %v", tt.tool, tt.input, err)
			}
			continue
		}
		if e := wantError(t, err, tt.want, toolabi.EffectNone); !strings.Contains(e.Message, tt.says) {
			t.Errorf("%s %.40s: says %q, want %q", tt.tool, tt.input, e.Message, tt.says)
		}
	}
}

func TestACallOfAToolAsPeopleReadIt(t *testing.T) {
	f := function(t, toolabi.FuncToolCall)
	req := encode(t, toolabi.ToolCallRequest{Tool: "payments.charge", Input: []byte(`{"to": "<a>"}`)})
	if got := f.Describe(req); got != "payments.charge" {
		t.Errorf("described as %q", got)
	}
	shown, err := f.ShowRequest(req)
	if want := `{"tool":"payments.charge","input":{"to":"<a>"}}` + "\n"; err != nil || string(shown) != want {
		t.Errorf("shown as %s, %v, want %s", shown, err, want)
	}
	shown, err = f.ShowReply(encode(t, toolabi.ToolCallReply{Output: []byte(`{"id":"<1>"}`)}))
	if want := `{"id":"<1>"}` + "\n"; err != nil || string(shown) != want {
		t.Errorf("the reply is shown as %s, %v, want %s", shown, err, want)
	}
	if shown, err := f.ShowReply([]byte{0xff}); err == nil {
		t.Errorf("garbage is shown as %s", shown)
	}
	if f.ParseReply != nil {
		t.Error("somebody can say what a tool returned")
	}
}

// What is accepted names a tool, and can be shown.
func FuzzToolCall(f *testing.F) {
	f.Add(encode(f, toolabi.ToolCallRequest{Tool: "payments.charge", Input: []byte(`{"cents":1}`)}))
	f.Add(encode(f, toolabi.ToolCallRequest{Tool: "a.*", Input: []byte(`[`)}))
	f.Add([]byte{0xa0})
	fn := function(f, toolabi.FuncToolCall)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if fn.Check(hostfuncs.Call{}, raw) != nil {
			return
		}
		if _, _, ok := toolabi.SplitTool(fn.Describe(raw)); !ok {
			t.Fatalf("%x is described as %q", raw, fn.Describe(raw))
		}
		if _, err := fn.ShowRequest(raw); err != nil {
			t.Fatalf("%x cannot be shown: %v", raw, err)
		}
	})
}
