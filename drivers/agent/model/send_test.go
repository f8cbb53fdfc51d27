package model_test

import (
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// TestAnAnswerIsTheSameInOnePieceAndInMany holds what Send makes of an answer, streamed or not.
func TestAnAnswerIsTheSameInOnePieceAndInMany(t *testing.T) {
	messages := map[string]string{
		"openai":    `{"role":"assistant","content":"Grüße, ann","tool_calls":[{"id":"call_1","type":"function","function":{"name":"charge","arguments":"{\"n\":9007199254740993}"}}]}`,
		"anthropic": `[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Grüße, ann"},{"type":"tool_use","id":"toolu_1","name":"charge","input":{"n":9007199254740993}}]`,
	}
	usage := map[string]model.Usage{
		"openai": {Input: 15, Output: 7, CacheRead: 5}, "anthropic": {Input: 15, Output: 7, CacheRead: 5, CacheWrite: 3},
	}
	stop := map[string]string{"openai": "tool_calls", "anthropic": "tool_use"}
	id := map[string]string{"openai": "chatcmpl-1", "anthropic": "msg_1"}
	for _, stream := range []bool{false, true} {
		var raw string
		p := startProvider(t, func(c net.Conn, h heard) { says(raw)(c, h) })
		for _, s := range sides(p.url, stream) {
			raw = reply(200, s.whole, "Idempotent-Replayed: true")
			if stream {
				raw = streamed(s.events...)
			}
			a, err := s.client.Send(t.Context(), question(t, s.client), patient())
			if err != nil {
				t.Errorf("%s, stream %t: %v", s.name, stream, err)
				continue
			}
			want := model.Answer{Protocol: s.name, Message: []byte(messages[s.name]), Stop: stop[s.name], Usage: usage[s.name], Model: "m-1", ID: id[s.name], Replayed: !stream}
			if !reflect.DeepEqual(a, want) {
				t.Errorf("%s, stream %t:\ngot  %+v\nwant %+v\nmessage %s", s.name, stream, a, want, a.Message)
			}
			said, err := s.client.Read(a)
			if err != nil || said.Text != "Grüße, ann" || len(said.Calls) != 1 || string(said.Calls[0].Input) != `{"n":9007199254740993}` || said.Cut {
				t.Errorf("%s, stream %t: it says %+v, %v", s.name, stream, said, err)
			}
		}
	}
}

// TestARequestSaysWhatTheProtocolWants holds the head of a request and what is put behind its bytes.
func TestARequestSaysWhatTheProtocolWants(t *testing.T) {
	for _, stream := range []bool{false, true} {
		p := startProvider(t, says(reply(404, "{}")))
		for i, s := range sides(p.url+"/v9/", stream) {
			q := question(t, s.client)
			s.client.Send(t.Context(), q, patient())
			all, conns, _ := p.arrived()
			if len(all) != i+1 || conns != i+1 {
				t.Fatalf("%s: %d requests on %d connections, want %d", s.name, len(all), conns, i+1)
			}
			got := all[i]
			line := map[string]string{"openai": "POST /v9/chat/completions", "anthropic": "POST /v9/v1/messages"}[s.name]
			more := map[string]string{"openai": `,"stream":true,"stream_options":{"include_usage":true}}`, "anthropic": `,"stream":true}`}[s.name]
			body := string(q)
			if stream {
				body = strings.TrimSuffix(body, "}") + more
			}
			if got.line != line || got.body != body {
				t.Errorf("%s: it got %s with %s\nwant %s with %s", s.name, got.line, got.body, line, body)
			}
			for name, want := range map[string]string{
				"Idempotency-Key": "k-1", "User-Agent": "wrun/1", "Accept-Encoding": "identity", "Content-Type": "application/json",
				"Connection": "close",
			} {
				if got.header.Get(name) != want {
					t.Errorf("%s: header %s is %q, want %q", s.name, name, got.header.Get(name), want)
				}
			}
			key := map[string]string{"openai": "Bearer " + secret, "anthropic": secret}[s.name]
			name := map[string]string{"openai": "Authorization", "anthropic": "X-Api-Key"}[s.name]
			if got.header.Get(name) != key {
				t.Errorf("%s: header %s is %q", s.name, name, got.header.Get(name))
			}
			if v := got.header.Get("Anthropic-Version"); (v == "2023-06-01") != (s.name == "anthropic") {
				t.Errorf("%s: anthropic-version is %q", s.name, v)
			}
		}
	}
}

// TestProgressIsToldTheTextAsItComes holds Attempt.Progress.
func TestProgressIsToldTheTextAsItComes(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var raw string
		p := startProvider(t, func(c net.Conn, h heard) { says(raw)(c, h) })
		for _, s := range sides(p.url, stream) {
			raw = reply(200, s.whole)
			if stream {
				raw = streamed(s.events...)
			}
			var text strings.Builder
			var last int64
			times := 0
			a := patient()
			a.Progress = func(n int64, piece string) {
				if n < last {
					t.Errorf("%s: %d bytes after %d", s.name, n, last)
				}
				last = n
				if piece != "" {
					times++
				}
				text.WriteString(piece)
			}
			if _, err := s.client.Send(t.Context(), question(t, s.client), a); err != nil {
				t.Fatal(err)
			}
			want := 1
			if stream {
				want = 2
			}
			if text.String() != "Grüße, ann" || times != want || last == 0 {
				t.Errorf("%s, stream %t: told %q in %d pieces and %d bytes", s.name, stream, text.String(), times, last)
			}
		}
	}
}

// TestAnAnswerOfTenMegabytesComesWhole: nothing is cut below MaxAnswer; and a longer one is lost with a reason.
func TestAnAnswerOfTenMegabytesComesWhole(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	for _, stream := range []bool{false, true} {
		var raw string
		p := startProvider(t, func(c net.Conn, h heard) { says(raw)(c, h) })
		for _, s := range sides(p.url, stream) {
			for _, times := range []int{1, 2} {
				raw = reply(200, strings.Replace(s.whole, "Grüße", strings.Repeat(long, times), 1))
				if stream {
					events := append([]string(nil), s.events...)
					for i, e := range events {
						if piece := strings.Replace(e, "Grü", long, 1); piece != e {
							events[i] = strings.Repeat(piece, times)
						}
					}
					raw = streamed(events...)
				}
				a, err := s.client.Send(t.Context(), question(t, s.client), patient())
				if times == 1 {
					if err != nil || len(a.Message) < len(long) {
						t.Errorf("%s, stream %t: %d bytes, %v", s.name, stream, len(a.Message), err)
					}
					continue
				}
				e := told(t, err)
				if e.Detail != "too_large" || e.Effect.String() != "unknown" {
					t.Errorf("%s, stream %t: %v, effect %v", s.name, stream, e, e.Effect)
				}
			}
		}
	}
}
