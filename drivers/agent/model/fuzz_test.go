package model_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: x\r\ndata: a\rdata: b\n\n: c\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, err := model.EventsOf(b)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range events {
			n += len(e)
		}
		if n > len(b)+len(events) {
			t.Fatalf("%d bytes of events out of %d", n, len(b))
		}
	})
}

// fuzzStream holds that what is put together out of any bytes can be kept, read, and put into the next request.
func fuzzStream(f *testing.F, c model.Client, events []string) {
	f.Add([]byte(strings.Join(events, "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, text, err := model.Assemble(c, b)
		if err != nil {
			return
		}
		if !json.Valid(a.Message) {
			t.Fatalf("the message is no JSON: %s", a.Message)
		}
		if !utf8.ValidString(a.ID + a.Model + a.Stop + text) {
			t.Fatal("a name is no UTF-8")
		}
		useAnswer(t, c, a)
	})
}

// useAnswer reads an answer, and puts it into a request with a result for each call.
func useAnswer(t *testing.T, c model.Client, a model.Answer) {
	said, err := c.Read(a)
	if err != nil {
		return
	}
	if !utf8.ValidString(said.Text) {
		t.Fatal("the text is no UTF-8")
	}
	r := model.Request{Model: "m", Messages: []model.Message{{User: "x"}, {Answer: &a}, {User: "y"}}}
	if len(said.Calls) > 0 {
		var results []model.Result
		for _, call := range said.Calls {
			if !utf8.ValidString(call.ID + call.Tool) {
				t.Fatal("a call has a name that is no UTF-8")
			}
			results = append(results, model.Result{Call: call.ID, Tool: call.Tool, Text: "done"})
		}
		r.Messages[2] = model.Message{Results: results}
	}
	b, err := c.Encode(r)
	if err != nil {
		t.Fatalf("it cannot go back: %v", err)
	}
	if !json.Valid(b) || !utf8.Valid(b) {
		t.Fatalf("the request is no JSON: %s", b)
	}
}

func FuzzOpenAIStream(f *testing.F) { fuzzStream(f, side0("openai"), openAIEvents) }

func FuzzAnthropicStream(f *testing.F) { fuzzStream(f, side0("anthropic"), anthropicEvents) }

func fuzzRead(f *testing.F, protocol string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), "stop")
	}
	c := side0(protocol)
	f.Fuzz(func(t *testing.T, message []byte, stop string) {
		useAnswer(t, c, model.Answer{Protocol: protocol, Message: message, Stop: stop})
	})
}

func FuzzOpenAIRead(f *testing.F) {
	fuzzRead(f, "openai", `{"role":"assistant","content":"a\ud800","tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}},{}]}`, `{"content":[{"text":"x"}]}`, "{\"content\":\"\xff\"}")
}

func FuzzAnthropicRead(f *testing.F) {
	fuzzRead(f, "anthropic", `[{"type":"text","text":"a\ud800"},{"type":"tool_use","id":"c","name":"t","input":{"n":1e9}},{"type":"tool_use","partial_json":"x"}]`, `{"content":[]}`, "[{\"x\":\"\xff\"}]")
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("1.5", "Mon, 30 Nov 2026 10:00:05 GMT", "Mon, 30 Nov 2026 10:00:00 GMT")
	f.Fuzz(func(t *testing.T, ms, after, date string) {
		h := http.Header{"Retry-After-Ms": {ms}, "Retry-After": {after}, "Date": {date}}
		if got := model.RetryAfterOf(h, time.Unix(1e9, 0)); got > 1<<50 {
			t.Fatalf("%d ms", got)
		}
	})
}
