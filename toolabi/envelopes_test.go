package toolabi_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestEnvelopesHoldJSONAsJSON(t *testing.T) {
	for want, v := range map[string]any{
		`{"tool":"charge","input":{"cents":9007199254740993},"function":"http_send","request":{"method":"POST"},"key":"wrun-1",` +
			`"announced":"2030-01-01T00:00:00.000000001Z"}`: &toolabi.LookupInput{
			Tool: "charge", Input: toolabi.RawJSON(`{"cents":9007199254740993}`), Function: "http_send", Request: toolabi.RawJSON(`{"method":"POST"}`),
			Key: "wrun-1", Announced: "2030-01-01T00:00:00.000000001Z"},
		`{"verdict":"happened","reply":{"id":1.50}}`: &toolabi.LookupOutput{Verdict: "happened", Reply: toolabi.RawJSON(`{"id":1.50}`)},
		`{"verdict":"unknown","note":"n"}`:           &toolabi.LookupOutput{Verdict: "unknown", Note: "n"},
		`{"run":"r","step":"s","tool":"t","input":[],"output":{"id":1},"effects":[` +
			`{"step":"s/1","function":"http_send","request":{},"reply":null,"key":"k"}]}`: &toolabi.CompensateInput{
			Run: "r", Step: "s", Tool: "t", Input: toolabi.RawJSON(`[]`), Output: toolabi.RawJSON(`{"id":1}`),
			Effects: []toolabi.CompensateEffect{{Step: "s/1", Function: "http_send", Request: toolabi.RawJSON(`{}`), Reply: toolabi.RawJSON(`null`), Key: "k"}}},
	} {
		b, err := json.Marshal(v)
		if err != nil || string(b) != want {
			t.Errorf("got %s, %v, want %s", b, err, want)
		}
		again := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		if err := json.Unmarshal(b, again); err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%s became %+v, %v", b, again, err)
		}
	}
}

func TestACallWithoutOutputAndEffectsIsWrittenSo(t *testing.T) {
	const want = `{"run":"r","step":"s","tool":"t","input":{},"output":null,"effects":[]}`
	b, err := json.Marshal(toolabi.CompensateInput{Run: "r", Step: "s", Tool: "t", Input: toolabi.RawJSON("{}")})
	if err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
}

func TestWhatIsNoJSONCannotBeHeld(t *testing.T) {
	if b, err := json.Marshal(toolabi.LookupInput{Input: toolabi.RawJSON(`{"a":`)}); err == nil {
		t.Errorf("written as %s", b)
	}
}
