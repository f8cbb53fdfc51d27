package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestAnAnswerComesBackAsItWasWritten(t *testing.T) {
	c := script.Client(parse(t, `replies: [{say: 'a"\xff<é', calls: [{tool: t, id: 'i', arguments: '{\xfe"\n'}], cut: true}]`))
	req := model.Request{
		Model: "m", Instructions: "i", Messages: []model.Message{{User: "x"}}, MaxTokens: 7, Temperature: "0.10",
		Tools: []model.Tool{{Name: "t", Description: "d", Input: json.RawMessage(`{"type":"object"}`)}},
	}
	request, err := c.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","instructions":"i","messages":[{"user":"x"}],"tools":[{"name":"t","description":"d","input":{"type":"object"}}],"max_tokens":7,"temperature":0.10}`
	if string(request) != want {
		t.Errorf("got\n%s\nwant\n%s", request, want)
	}
	before, progress := 0, int64(0)
	answer, err := c.Send(t.Context(), request, model.Attempt{
		BeforeSend: func() error { before++; return nil }, Progress: func(n int64, _ string) { progress = n },
	})
	if err != nil {
		t.Fatal(err)
	}
	if before != 1 || progress != int64(len(answer.Message)) {
		t.Errorf("BeforeSend was called %d times, and progress said %d bytes of %d", before, progress, len(answer.Message))
	}
	said, err := c.Read(answer)
	wantSaid := model.Said{Text: "a\"\uFFFD<é", Cut: true, Calls: []model.Call{{ID: "i", Tool: "t", Input: []byte("{\xfe\"\\n")}}}
	if err != nil || !reflect.DeepEqual(said, wantSaid) {
		t.Errorf("said %+v, %v; want %+v", said, err, wantSaid)
	}
	req.Messages = append(req.Messages, model.Message{Answer: &answer}, model.Message{Results: []model.Result{}})
	if request, err = c.Encode(req); err != nil || !json.Valid(request) {
		t.Errorf("the answer goes back as %q, %v", request, err)
	}
}

func TestNothingIsAskedWhenItMustNotBe(t *testing.T) {
	c, no := script.Client(parse(t, "replies: [{say: a}]")), errors.New("no")
	if _, err := c.Send(t.Context(), []byte(`{}`), model.Attempt{BeforeSend: func() error { return no }}); err != no {
		t.Errorf("got %v, want what BeforeSend returned", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Send(ctx, []byte(`{}`), model.Attempt{BeforeSend: func() error { t.Error("it was to be sent"); return nil }})
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Effect != toolabi.EffectNone || e.Retry != toolabi.RetrySafe {
		t.Errorf("got %v", err)
	}
	_, err = c.Send(t.Context(), []byte(`[]`), model.Attempt{})
	wantFailure(t, err, toolabi.Invalid, "", "read a request to a script")
}

func TestAnAnswerThatIsTooLongIsLost(t *testing.T) {
	_, err := script.Client(parse(t, "replies: [{say: x, repeat: 20000000}]")).Send(t.Context(), []byte(`{}`), model.Attempt{})
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != toolabi.TooLarge || e.Effect != toolabi.EffectUnknown {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerOfAnotherProtocolIsRefused(t *testing.T) {
	c := script.Client(parse(t, "replies: [{say: a}]"))
	foreign := model.Answer{Protocol: "other", Message: []byte(`{}`)}
	if _, err := c.Read(foreign); err == nil {
		t.Error("it was read")
	}
	if _, err := c.Encode(model.Request{Messages: []model.Message{{User: "x"}, {Answer: &foreign}}}); err == nil {
		t.Error("it was encoded")
	}
	for _, message := range []string{``, `[]`, `{"text":7}`, `{"text":"a"`, "null"} {
		if _, err := c.Read(model.Answer{Protocol: script.Protocol, Message: []byte(message)}); err == nil {
			t.Errorf("%q was read", message)
		}
	}
}

// What is written is JSON, and is read as the same.
func FuzzBytes(f *testing.F) {
	for _, s := range []string{"", "plain", "\xff", "é\xc3", "\xed\xa0\x80", "\"\\\n\x00", "\u2028<>&", "\xf0\x9f\x98", "😀\xff😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(script.Bytes(s))
		if err != nil || !json.Valid(b) {
			t.Fatalf("%q became %q, %v", s, b, err)
		}
		var back script.Bytes
		if err := json.Unmarshal(b, &back); err != nil || string(back) != s {
			t.Fatalf("%q became %q, and that %q, %v", s, b, back, err)
		}
		_ = json.Unmarshal([]byte(`"`+s+`"`), &back) // anything may stand in what is read
	})
}
