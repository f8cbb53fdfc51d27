package fakemodel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/fakemodel"
)

const twoCalls = `replies: [{say: 'Grüße 😀', calls: [{tool: a, with: {text: Grüße}}, {tool: b, id: i, arguments: '{broken \xff'}], usage: {input: 5, output: 6, cache_read: 7, cache_write: 8}}]`

// events are the data of a stream, without the last one of a protocol that ends with [DONE].
func events(t *testing.T, body string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for _, event := range strings.Split(strings.TrimSuffix(body, "\n"), "\n\n") {
		_, data, ok := strings.Cut(event, "data: ")
		if !ok {
			t.Fatalf("no data in the event %q", event)
		}
		if data == "[DONE]" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		list = append(list, v)
	}
	return list
}

// at follows a path of keys and numbers, and is nil where there is nothing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func TestChatComesInPieces(t *testing.T) {
	s := start(t, fakemodel.Config{Script: replies(t, twoCalls)})
	a := want(t, 200, "", "POST", s.URL()+"/v1/chat/completions", strings.Replace(chatHello, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1))
	if got := a.header.Get("Content-Type"); got != "text/event-stream" || !strings.HasSuffix(a.body, "\n\ndata: [DONE]\n") {
		t.Errorf("%s ends with %.40q", got, a.body[max(0, len(a.body)-40):])
	}
	text, texts, arguments, pieces, stop := "", 0, [2]string{}, [2]int{}, any(nil)
	list := events(t, a.body)
	for _, e := range list[:len(list)-1] {
		if s, _ := at(e, "choices", 0, "delta", "content").(string); s != "" {
			text, texts = text+s, texts+1
		}
		if call := at(e, "choices", 0, "delta", "tool_calls", 0); call != nil {
			i := int(at(call, "index").(float64))
			arguments[i] += at(call, "function", "arguments").(string)
			pieces[i]++
		}
		if f := at(e, "choices", 0, "finish_reason"); f != nil {
			stop = f
		}
	}
	if text != "Grüße 😀" || texts < 2 || stop != "tool_calls" {
		t.Errorf("text %q in %d pieces, then %v", text, texts, stop)
	}
	if arguments != [2]string{`{"text":"Grüße"}`, "{broken \uFFFD"} || pieces[0] < 3 || pieces[1] < 3 || !strings.Contains(a.body, "\xff") {
		t.Errorf("arguments %q in %d pieces", arguments, pieces)
	}
	if u := at(list[len(list)-1], "usage"); at(u, "prompt_tokens") != 20.0 || at(u, "completion_tokens") != 6.0 || at(u, "prompt_tokens_details", "cached_tokens") != 7.0 {
		t.Errorf("usage %v", u)
	}
}

func TestMessagesComeInPieces(t *testing.T) {
	s := start(t, fakemodel.Config{Script: replies(t, twoCalls)})
	a := want(t, 200, "", "POST", s.URL()+"/v1/messages", strings.Replace(msgsHello, "{", `{"stream":true,`, 1))
	text, arguments, kinds := "", [3]string{}, map[any]int{}
	var last map[string]any
	for _, e := range events(t, a.body) {
		kinds[e["type"]]++
		switch e["type"] {
		case "content_block_delta":
			s, _ := at(e, "delta", "text").(string)
			text += s
			s, _ = at(e, "delta", "partial_json").(string)
			arguments[int(e["index"].(float64))] += s
		case "message_delta":
			last = e
		case "message_start":
			if u := at(e, "message", "usage"); at(u, "input_tokens") != 5.0 || at(u, "cache_read_input_tokens") != 7.0 || at(u, "cache_creation_input_tokens") != 8.0 {
				t.Errorf("usage %v", u)
			}
		}
	}
	if text != "Grüße 😀" || arguments != [3]string{"", `{"text":"Grüße"}`, "{broken \uFFFD"} {
		t.Errorf("text %q, arguments %q", text, arguments)
	}
	if kinds["content_block_start"] != 3 || kinds["content_block_stop"] != 3 || kinds["content_block_delta"] < 8 || kinds["message_start"] != 1 || kinds["message_stop"] != 1 {
		t.Errorf("events %v", kinds)
	}
	if at(last, "delta", "stop_reason") != "tool_use" || at(last, "usage", "output_tokens") != 6.0 {
		t.Errorf("it ends with %v", last)
	}
}

func TestHowAnAnswerEndsIsSaidInTheWordsOfEachProtocol(t *testing.T) {
	for _, c := range []struct{ reply, chat, messages string }{
		{"say: a", `"finish_reason":"stop"`, `"stop_reason":"end_turn"`},
		{"call: a", `"finish_reason":"tool_calls"`, `"stop_reason":"tool_use"`},
		{"say: a, cut: true", `"finish_reason":"length"`, `"stop_reason":"max_tokens"`},
		{"say: a, stop: refusal", `"finish_reason":"refusal"`, `"stop_reason":"refusal"`},
		{"call: a, arguments: '{'", `"arguments":"{"`, `"input":"{"`},
	} {
		s := start(t, fakemodel.Config{Script: replies(t, "replies: [{"+c.reply+"}]")})
		want(t, 200, c.chat, "POST", s.URL()+"/v1/chat/completions", chatHello)
		want(t, 200, c.messages, "POST", s.URL()+"/v1/messages", msgsHello)
	}
}

func TestALongAnswerIsStreamedWhole(t *testing.T) {
	s := start(t, fakemodel.Config{Script: replies(t, "replies: [{say: 'é', repeat: 1000000}]")})
	a := want(t, 200, "", "POST", s.URL()+"/v1/messages", strings.Replace(msgsHello, "{", `{"stream":true,`, 1))
	if n := strings.Count(a.body, "é"); n != 1_000_000 {
		t.Errorf("%d of a million characters", n)
	}
}
