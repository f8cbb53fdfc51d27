package sdk_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

type amount struct {
	Cents int64  `json:"cents"`
	To    string `json:"to,omitempty"`
}

// others are the tools that tools call.
func others() *sdktest.World {
	return &sdktest.World{Tools: map[string]func([]byte) ([]byte, error){
		"other.echo":  func(in []byte) ([]byte, error) { return in, nil },
		"other.text":  func([]byte) ([]byte, error) { return []byte(`"text"`), nil },
		"other.bad":   func([]byte) ([]byte, error) { return []byte(`{`), nil },
		"other.fail":  func([]byte) ([]byte, error) { return nil, errors.New("no luck") },
		"other.limit": func([]byte) ([]byte, error) { return nil, toolabi.NewError(toolabi.LimitTime, "too slow") },
		"third.two":   func([]byte) ([]byte, error) { return []byte(`{}`), nil },
	}}
}

func TestAToolCallsAnother(t *testing.T) {
	w := others()
	err := run(t, w, func() error {
		var out amount
		if err := sdk.CallTool("other.echo", amount{Cents: 9007199254740993, To: "<a>"}, &out); err != nil || out != (amount{9007199254740993, "<a>"}) {
			t.Errorf("got %+v, %v", out, err)
		}
		var raw toolabi.RawJSON
		if err := sdk.CallTool("other.echo", toolabi.RawJSON(`{"b":1.50,"a":2}`), &raw); err != nil || string(raw) != `{"b":1.50,"a":2}` {
			t.Errorf("got %s, %v", raw, err)
		}
		return errors.Join(sdk.CallTool("other.text", nil, nil), sdk.CallTool("other.echo", map[string]int{"cents": 1, "more": 2}, &out))
	})
	if err != nil {
		t.Error(err)
	}
	if len(w.Calls) != 4 || w.Calls[0].Tool != "other.echo" || string(w.Calls[0].Input) != `{"cents":9007199254740993,"to":"<a>"}` || string(w.Calls[2].Input) != "null" {
		t.Errorf("called %+v", w.Calls)
	}
}

func TestCallsThatFail(t *testing.T) {
	for _, c := range []struct {
		tool string
		in   any
		code toolabi.Code
		says string
	}{
		{"other.fail", nil, toolabi.Failed, "no luck"},
		{"other.limit", nil, toolabi.LimitTime, "too slow"},
		{"other.bad", nil, toolabi.BadOutput, "is not JSON"},
		{"other.text", nil, toolabi.BadOutput, "read the output of other.text"},
		{"other.none", nil, toolabi.NotFound, "other.none"},
		{"third.two", nil, toolabi.Denied, "not among the targets"},
		{"other", nil, toolabi.Invalid, "no full name"},
		{"other.\xff", nil, toolabi.Invalid, ""},
		{"other.echo", func() {}, toolabi.BadInput, "write the input of other.echo"},
		{"other.echo", toolabi.RawJSON(`{"a":1,"a":2}`), toolabi.BadInput, "twice"},
	} {
		var got error
		_ = run(t, others(), func() error {
			var out amount
			got = sdk.CallTool(c.tool, c.in, &out)
			return nil
		})
		if !errors.Is(got, c.code) || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: got %v, want %s with %q", c.tool, got, c.code, c.says)
		}
	}
}
