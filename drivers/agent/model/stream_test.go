package model_test

import (
	"net"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// data is a stream of events without names.
func data(pieces ...string) string {
	events := make([]string, len(pieces))
	for i, p := range pieces {
		events[i] = "data: " + p + "\n\n"
	}
	return streamed(events...)
}

// TestThePiecesOfAStreamMakeTheMessage holds what is made of streams that are not as simple as they could be.
func TestThePiecesOfAStreamMakeTheMessage(t *testing.T) {
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	const end = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	begin, stop := anthropicEvents[0], event("message_stop", "")
	var raw string
	p := startProvider(t, func(c net.Conn, h heard) { says(raw)(c, h) })
	for _, c := range []struct{ name, protocol, raw, want string }{
		{"nothing but an end", "openai", data(end), `{"role":"assistant","content":null}`},
		{"no word at the end", "openai", data(delta(`{"content":"a"}`), end), `{"role":"assistant","content":"a"}`},
		{"no reason for the end", "openai", data(delta(`{"content":"a"}`), "[DONE]"), `{"role":"assistant","content":"a"}`},
		{"half a pair in each piece", "openai", data(delta(`{"content":"\ud83d"}`), delta(`{"content":"\ude00"}`), end), `{"role":"assistant","content":"\ud83d\ude00"}`},
		{"half a rune in each piece", "openai", data(delta("{\"content\":\"\xc3\"}"), delta("{\"content\":\"\xbc\"}"), end), `{"role":"assistant","content":"ü"}`},
		{"a refusal", "openai", data(delta(`{"role":"assistant","content":null,"refusal":null}`), delta(`{"refusal":"I will"}`), delta(`{"refusal":" not"}`), end),
			`{"role":"assistant","content":null,"refusal":"I will not"}`},
		{"members that are not known", "openai", data(delta(`{"content":"","reasoning_content":"a","x":1,"details":[ {"n":1} ]}`), delta(`{"reasoning_content":"b","x":2.0,"details":[{"n":2},{"n":3}]}`), end),
			`{"role":"assistant","content":"","reasoning_content":"ab","x":2.0,"details":[ {"n":1},{"n":2},{"n":3}]}`},
		{"another choice", "openai", data(delta(`{"content":"a"}`), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, end), `{"role":"assistant","content":"a"}`},
		{"calls in turns", "openai", data(
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"B","arguments":"{"}},{"index":0,"id":"a","function":{"name":"A"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"[1]"}}]}`), delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"B","arguments":"}"}}]}`), end),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"A","arguments":"[1]"}},{"id":"b","type":"function","function":{"name":"B","arguments":"{}"}}]}`},
		{"calls without an index or with the same", "openai", data(
			delta(`{"tool_calls":[{"id":"a","function":{"name":"A","arguments":"1"}}]}`), delta(`{"tool_calls":[{"id":"b","function":{"name":"B","arguments":"2"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"C","arguments":{"n": 3}}}]}`), delta(`{"tool_calls":[{"index":0,"id":"d","function":{"name":"D"}}]}`), end),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"A","arguments":"1"}},{"id":"b","type":"function","function":{"name":"B","arguments":"2"}},{"id":"c","type":"function","function":{"name":"C","arguments":"{\"n\": 3}"}},{"id":"d","type":"function","function":{"name":"D","arguments":""}}]}`},
		{"arguments that are no UTF-8", "openai", data(delta("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"A\",\"arguments\":\"\xff\\\"\"}}]}"), end),
			"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"A\",\"arguments\":\"\xff\\\"\"}}]}"},

		{"no blocks", "anthropic", streamed(begin, stop), `[]`},
		{"a call without an input", "anthropic", streamed(begin, event("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}`), stop),
			`[{"type":"tool_use","id":"c","name":"t","input":{}}]`},
		{"an input that is cut", "anthropic", streamed(begin, event("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}`),
			event("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\": \"\ud83d"}`), stop),
			`[{"type":"tool_use","id":"c","name":"t","input":{},"partial_json":"{\"n\": \"\ud83d"}]`},
		{"blocks in another order, and kinds that are not known", "anthropic", streamed(begin,
			event("content_block_start", `"index":1,"content_block":{"type":"new","x":1.0,"content":null}`), event("content_block_start", `"index":0,"content_block":{"type":"text","text":"a"}`),
			event("content_block_delta", `"index":1,"delta":{"type":"new_delta","content":"y","z":[2]}`), event("content_block_delta", `"index":0,"delta":{"type":"citations_delta","citation":{"n":1}}`),
			event("content_block_delta", `"index":0,"delta":{"type":"citations_delta","citation":{"n":2}}`), event("something_new", `"index":9`), stop),
			`[{"type":"text","text":"a","citations":[{"n":1},{"n":2}]},{"type":"new","x":1.0,"content":"y","z":[2]}]`},
	} {
		raw = c.raw
		client := sides(p.url, true)[0].client
		if c.protocol == "anthropic" {
			client = sides(p.url, true)[1].client
		}
		a, err := client.Send(t.Context(), question(t, client), patient())
		if err != nil || string(a.Message) != c.want {
			t.Errorf("%s, %s: %v\ngot  %s\nwant %s", c.protocol, c.name, err, a.Message, c.want)
			continue
		}
		if _, err := client.Read(a); err != nil {
			t.Errorf("%s, %s: %v", c.protocol, c.name, err)
		}
	}
}

// TestAStreamEndsWhereItsEndIsSaid: nobody waits for a server that says it and keeps the connection.
func TestAStreamEndsWhereItsEndIsSaid(t *testing.T) {
	for i := range 2 {
		p := startProvider(t, func(c net.Conn, h heard) {
			all := streamed(sides("", true)[i].events...)
			c.Write([]byte(strings.TrimSuffix(all, "0\r\n\r\n")))
			c.Read(make([]byte, 1)) // until the client goes
		})
		c := sides(p.url, true)[i].client
		if _, err := c.Send(t.Context(), question(t, c), patient()); err != nil {
			t.Error(err)
		}
	}
}

// TestEventsAreReadInEachForm holds server-sent events.
func TestEventsAreReadInEachForm(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\n\ndata: b\n\n":                           "/a|/b",
		"\xef\xbb\xbfdata: a\r\n\r\ndata:b\r\rdata: c":     "/a|/b|/c",
		"event: x\ndata: a\ndata:  b\nid: 1\nretry: 2\n\n": "x/a\n b",
		": comment\n\nevent: x\n\ndata: a\n\n":             "/a",
		"data\n\n\n\n":                                     "/",
		"data: a\r\ndata: b\r\n\r\n":                       "/a\nb",
		"datax: a\n\n":                                     "",
		"":                                                 "",
	} {
		got, err := model.EventsOf([]byte(in))
		if strings.Join(got, "|") != want || err != nil {
			t.Errorf("%q is %q, want %q: %v", in, strings.Join(got, "|"), want, err)
		}
	}
}

// All that is kept of an answer counts towards its size, the numbers of its blocks too.
func TestTheNumbersOfBlocksAreNoPlaceToHideIn(t *testing.T) {
	events := []string{anthropicEvents[0]}
	for range 40 {
		events = append(events, event("content_block_start", `"index":`+strings.Repeat("1", (1<<20)+len(events))+`,"content_block":{"type":"text"}`))
	}
	_, _, err := model.Assemble(model.Anthropic(model.Endpoint{}), []byte(streamed(append(events, event("message_stop", ""))...)))
	if err == nil || err.Error() != "the answer is too long" {
		t.Errorf("got %v", err)
	}
}
