package main

import (
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// post is a world whose mail server says err, or takes everything over.
func post(err error) *sdktest.World {
	return &sdktest.World{Mail: func(toolabi.MailSendRequest) (toolabi.MailSendReply, error) {
		return toolabi.MailSendReply{MessageID: "<wrun-1@example.com>"}, err
	}}
}

func TestSendHandsOverWhatItIsTold(t *testing.T) {
	for _, tool := range []string{"send", "notify"} {
		w := post(nil)
		out, err := sdktest.Call(t, w, tool, `{"to":["ann@example.com"],"cc":["bob@example.com"],"bcc":["cy@example.com"],"reply_to":"help@example.com",
			"subject":"Order 7","text":"Thank you.","html":"<p>Thank you.</p>","files":[{"name":"order.csv","type":"text/csv","text":"7,1\n"}]}`)
		if want := `{"message_id":"<wrun-1@example.com>"}`; err != nil || out != want {
			t.Errorf("%s: got %s, %v, want %s", tool, out, err, want)
		}
		if len(w.Mails) != 1 {
			t.Fatalf("%s: %d mails", tool, len(w.Mails))
		}
		m := w.Mails[0]
		if m.To[0] != "ann@example.com" || m.Cc[0] != "bob@example.com" || m.Bcc[0] != "cy@example.com" || m.ReplyTo != "help@example.com" ||
			m.Subject != "Order 7" || m.Text != "Thank you." || m.HTML != "<p>Thank you.</p>" || string(m.Attachments[0].Body) != "7,1\n" || m.Attachments[0].Type != "text/csv" {
			t.Errorf("%s: sent %+v", tool, m)
		}
	}
}

func TestARefusalReachesTheCaller(t *testing.T) {
	no := toolabi.NewError(toolabi.Failed, "the server refused with 550")
	no.Detail = "smtp_550"
	_, err := sdktest.Call(t, post(no), "send", `{"to":["ann@example.com"],"subject":"s","text":"t"}`)
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != toolabi.Failed || e.Detail != "smtp_550" {
		t.Errorf("got %v", err)
	}
}

func TestInputIsJudged(t *testing.T) {
	for _, input := range []string{`{}`, `{"to":["a@b"],"subject":"","text":"t"}`, `{"to":["a@b"],"subject":"s","text":"t","from":"x@y"}`} {
		w := post(nil)
		if _, err := sdktest.Call(t, w, "send", input); !errors.Is(err, toolabi.BadInput) || len(w.Mails) != 0 {
			t.Errorf("%s: got %v, want bad_input", input, err)
		}
	}
}

func TestEachToolPromisesWhatItsServerCanKeep(t *testing.T) {
	for _, tool := range sdktest.Manifest(t).Tools {
		want := map[string]toolabi.Idempotency{"send": toolabi.NonIdempotent, "notify": toolabi.Idempotent}[tool.Name]
		if got := tool.Declared(); got != want {
			t.Errorf("%s promises %s, want %s", tool.Name, got, want)
		}
	}
}
