package fakemodel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/toolabi"
)

// everyClient runs a test with wrun's own clients, streamed and not, against a server of its own.
func everyClient(t *testing.T, cfg fakemodel.Config, test func(t *testing.T, s *fakemodel.Server, c model.Client)) {
	cfg.Key = "let-me-in"
	for _, stream := range []bool{false, true} {
		for name, client := range map[string]func(url string) model.Client{
			"openai":    func(url string) model.Client { return model.OpenAI(endpoint(url+"/v1", stream)) },
			"anthropic": func(url string) model.Client { return model.Anthropic(endpoint(url, stream)) },
		} {
			if stream {
				name += " streamed"
			}
			t.Run(name, func(t *testing.T) {
				s := start(t, cfg)
				test(t, s, client(s.URL()))
			})
		}
	}
}

func endpoint(url string, stream bool) model.Endpoint {
	return model.Endpoint{BaseURL: url, Stream: stream, Key: func(context.Context) (string, error) { return "let-me-in", nil }}
}

// send asks, and reads the answer.
func send(t *testing.T, c model.Client, req model.Request) (model.Answer, model.Said, error) {
	t.Helper()
	b, err := c.Encode(req)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	a, err := c.Send(t.Context(), b, model.Attempt{Key: "k"})
	if err != nil {
		return a, model.Said{}, err
	}
	said, err := c.Read(a)
	if err != nil {
		t.Fatalf("read %q: %v", a.Message, err)
	}
	return a, said, nil
}

// Whatever a model writes, the conversation goes on: its answer is sent back in a form that a provider accepts.
func TestAConversationGoesOnWhateverTheModelWrites(t *testing.T) {
	for name, reply := range map[string]string{
		"nothing":           `say: ""`,
		"a call":            `say: a, call: t, with: {n: 1}`,
		"same id":           `calls: [{tool: t, id: same}, {tool: u, id: same}]`,
		"no such tool":      `call: no.such.tool`,
		"arguments no JSON": `call: t, arguments: '{broken'`,
		"no arguments":      `call: t, arguments: ''`,
		"arguments a list":  `call: t, with: [1]`,
		"bytes in text":     `say: 'a\xff'`,
		"bytes in a call":   `call: t, arguments: '{"a":"\xff"}'`,
	} {
		cfg := fakemodel.Config{Script: replies(t, "replies: [{when: .turn == 0, "+reply+"}, {say: '${ .messages[1].answer.calls | length } of ${ .results | length }'}]")}
		t.Run(name, func(t *testing.T) {
			everyClient(t, cfg, func(t *testing.T, s *fakemodel.Server, c model.Client) {
				req := model.Request{Model: "m", Messages: []model.Message{{User: "x"}}, MaxTokens: 100, Tools: []model.Tool{{Name: "t"}, {Name: "u"}}}
				a, said, err := send(t, c, req)
				if err != nil {
					t.Fatal(err)
				}
				next := model.Message{User: "go on"}
				if len(said.Calls) > 0 {
					next = model.Message{}
					for _, call := range said.Calls {
						next.Results = append(next.Results, model.Result{Call: call.ID, Tool: call.Tool, Text: "1"})
					}
				}
				req.Messages = append(req.Messages, model.Message{Answer: &a}, next)
				if _, said, err = send(t, c, req); err != nil {
					t.Errorf("the conversation does not go on: %v", err)
				} else if n := len(next.Results); name != "nothing" && (said.Text == "" || n > 0 && said.Text[0] != byte('0'+n)) {
					t.Errorf("after %d calls it says %q", n, said.Text)
				}
			})
		})
	}
}

func TestAFaultHasTheEffectThatItHad(t *testing.T) {
	for _, f := range fakemodel.Faults {
		if f.Fault == fakemodel.HangBefore || f.Fault == fakemodel.HangAfter || f.Fault == fakemodel.InvalidUTF8 {
			continue
		}
		var b fakemodel.Behaviour
		*b.Left(f.Fault) = 1
		t.Run(string(f.Fault), func(t *testing.T) {
			everyClient(t, fakemodel.Config{Behaviour: b, Script: replies(t, "replies: [{say: some longer text}]")}, func(t *testing.T, s *fakemodel.Server, c model.Client) {
				_, said, err := send(t, c, model.Request{Model: "m", Messages: []model.Message{{User: "x"}}, MaxTokens: 100})
				var e *toolabi.Error
				if !errors.As(err, &e) {
					t.Fatalf("said %+v, %v", said, err)
				}
				if n := s.Count().Bills; n > 0 && e.Effect != toolabi.EffectUnknown {
					t.Errorf("%d bills, and it says that the effect is %s: %v", n, e.Effect, err)
				}
				refused := f.Fault == fakemodel.RateLimit
				if refused && (e.Effect != toolabi.EffectNone || e.RetryAfterMS != 1000) {
					t.Errorf("effect %s, retry after %d ms: %v", e.Effect, e.RetryAfterMS, err)
				}
			})
		})
	}
}

func TestAReplayedAnswerSaysSo(t *testing.T) {
	everyClient(t, fakemodel.Config{Behaviour: fakemodel.Behaviour{HonourKeys: true}}, func(t *testing.T, s *fakemodel.Server, c model.Client) {
		req := model.Request{Model: "m", Messages: []model.Message{{User: "x"}}, MaxTokens: 100}
		first, _, err := send(t, c, req)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := send(t, c, req)
		if err != nil || first.Replayed || !again.Replayed || string(again.Message) != string(first.Message) || again.ID != first.ID {
			t.Errorf("first %+v, then %+v, %v", first, again, err)
		}
		wantCount(t, s, 2, 1)
	})
}
