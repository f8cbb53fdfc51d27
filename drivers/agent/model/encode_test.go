package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// goldenRequest has everything that a request can say.
func goldenRequest(protocol string) model.Request {
	first := `{"role": "assistant", "content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"charge","arguments":"{\"n\": 9007199254740993, \"x\":1.10}"}}],"annotations":[]}`
	if protocol == "anthropic" {
		first = `[{"type":"thinking","thinking":"<hm>","signature":"c2ln"},{"type":"text","text":"I charge."},{"type":"tool_use","id":"toolu_1","name":"charge","input":{"n": 9007199254740993, "x":1.10}},{"type":"tool_use","id":"toolu_2","name":"mail","input":{}}]`
	} else {
		first = strings.Replace(first, `],"annotations"`, `,{"id":"call_2","type":"function","function":{"name":"mail","arguments":"no JSON"}}],"annotations"`, 1)
	}
	ids := map[string][2]string{"openai": {"call_1", "call_2"}, "anthropic": {"toolu_1", "toolu_2"}}[protocol]
	return model.Request{
		Model: "m-1", Instructions: "Be <brief> & \"kind\".\n\u2028", MaxTokens: 1000, Temperature: "0.20",
		Messages: []model.Message{
			{User: "Charge ann.\t\x01\xff"},
			{Answer: &model.Answer{Protocol: protocol, Message: []byte(first)}},
			{Results: []model.Result{{Call: ids[0], Tool: "charge", Text: `{"ok":true}`}, {Call: ids[1], Tool: "mail", Text: "the input is no JSON", Failed: true}}},
			{User: "Thanks 😀"},
		},
		Tools: []model.Tool{
			{Name: "charge", Description: "Charges.", Input: json.RawMessage(`{"type":"object", "properties":{"n":{"type":"integer","maximum":1e20}}}`)},
			{Name: "mail"},
			{Name: "find", Input: json.RawMessage(`{"properties":{}}`)},
		},
	}
}

const openAIGolden = `{"model":"m-1","messages":[{"role":"system","content":"Be <brief> & \"kind\".\n` + "\u2028" + `"},{"role":"user","content":"Charge ann.\t\u0001` + "\uFFFD" + `"},{"role": "assistant", "content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"charge","arguments":"{\"n\": 9007199254740993, \"x\":1.10}"}},{"id":"call_2","type":"function","function":{"name":"mail","arguments":"no JSON"}}],"annotations":[]},{"role":"tool","tool_call_id":"call_1","content":"{\"ok\":true}"},{"role":"tool","tool_call_id":"call_2","content":"Error: the input is no JSON"},{"role":"user","content":"Thanks 😀"}],"tools":[{"type":"function","function":{"name":"charge","description":"Charges.","parameters":{"type":"object", "properties":{"n":{"type":"integer","maximum":1e20}}}}},{"type":"function","function":{"name":"mail","parameters":{"type":"object"}}},{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{}}}}],"max_completion_tokens":1000,"temperature":0.20}`

const anthropicGolden = `{"model":"m-1","max_tokens":1000,"system":"Be <brief> & \"kind\".\n` + "\u2028" + `","messages":[{"role":"user","content":"Charge ann.\t\u0001` + "\uFFFD" + `"},{"role":"assistant","content":[{"type":"thinking","thinking":"<hm>","signature":"c2ln"},{"type":"text","text":"I charge."},{"type":"tool_use","id":"toolu_1","name":"charge","input":{"n": 9007199254740993, "x":1.10}},{"type":"tool_use","id":"toolu_2","name":"mail","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"{\"ok\":true}"},{"type":"tool_result","tool_use_id":"toolu_2","content":"the input is no JSON","is_error":true}]},{"role":"user","content":"Thanks 😀"}],"tools":[{"name":"charge","description":"Charges.","input_schema":{"type":"object", "properties":{"n":{"type":"integer","maximum":1e20}}}},{"name":"mail","input_schema":{"type":"object"}},{"name":"find","input_schema":{"type":"object","properties":{}}}],"temperature":0.20}`

// TestTheBytesOfARequestNeverChange: a run remembers the fingerprint of each request, and one that was begun before a change of
// these bytes would have diverged after it. They may only change together with a way for such runs to go on.
func TestTheBytesOfARequestNeverChange(t *testing.T) {
	for _, c := range []struct {
		client model.Client
		name   string
		want   string
	}{
		{model.OpenAI(model.Endpoint{}), "openai", openAIGolden},
		{model.OpenAI(model.Endpoint{Stream: true, BaseURL: "https://API.openai.com/v1/", UserAgent: "x"}), "openai", openAIGolden},
		{model.OpenAI(model.Endpoint{BaseURL: "http://127.0.0.1:8080/v1"}), "openai", strings.Replace(openAIGolden, "max_completion_tokens", "max_tokens", 1)},
		{model.Anthropic(model.Endpoint{}), "anthropic", anthropicGolden},
		{model.Anthropic(model.Endpoint{Stream: true, BaseURL: "http://127.0.0.1:8080"}), "anthropic", anthropicGolden},
	} {
		got, err := c.client.Encode(goldenRequest(c.name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: it is no JSON", c.name)
		}
	}
}

// TestAnAnswerThatAProviderWouldRefuseIsMended holds what becomes of an earlier answer that cannot go back as it came, and of the
// results of its calls.
func TestAnAnswerThatAProviderWouldRefuseIsMended(t *testing.T) {
	cases := []struct {
		name, protocol, message string
		results                 []model.Result
		want                    string // the messages between the user's
	}{
		{"bytes that are no UTF-8", "openai", "{\"role\":\"assistant\",\"content\":\"a\xff\xfeb \\ud800 \\udc00 \\ud83d\\ude00 \\\\ud800\"}", nil,
			"{\"role\":\"assistant\",\"content\":\"a\uFFFD\uFFFDb \\ufffd \\ufffd \\ud83d\\ude00 \\\\ud800\"}"},
		{"no content", "openai", `{"role":"assistant","content":null}`, nil, `{"role":"assistant","content":""}`},
		{"an empty content", "openai", `{"role":"assistant","content":"","x":1}`, nil, `{"role":"assistant","content":"","x":1}`},
		{"no role", "openai", `{"content":"a"}`, nil, `{"role":"assistant","content":"a"}`},
		{"two calls with one id", "openai", `{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"a","arguments":"{}"}},{"id":"c","function":{"name":"b","arguments":"{ }"}}]}`,
			[]model.Result{{Call: "c", Text: "1"}, {Call: "c", Text: "2"}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"c_2","type":"function","function":{"name":"b","arguments":"{ }"}}]},{"role":"tool","tool_call_id":"c","content":"1"},{"role":"tool","tool_call_id":"c_2","content":"2"}`},
		{"a call without an id, a name and arguments", "openai", `{"role":"assistant","content":"x","tool_calls":[{"function":{"name":"a b/ü"}},{}]}`,
			[]model.Result{{Call: "", Text: "1", Failed: true}},
			`{"role":"assistant","content":"x","tool_calls":[{"id":"call","type":"function","function":{"name":"a_b___","arguments":""}},{"id":"call_2","type":"function","function":{"name":"tool","arguments":""}}]},{"role":"tool","tool_call_id":"call","content":"Error: 1"},{"role":"tool","tool_call_id":"call_2","content":"Error: There is no result: the call was not made."}`},
		{"a call that was not made", "openai", `{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"a","arguments":"{\"x"}}]}`, nil,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"a","arguments":"{\"x"}}]},{"role":"tool","tool_call_id":"c","content":"Error: There is no result: the call was not made."}`},

		{"bytes that are no UTF-8", "anthropic", "[{\"type\":\"text\",\"text\":\"a\xff \\ud800\"},{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"a\",\"input\":{\"x\":\"\xff\"}}]",
			[]model.Result{{Call: "c"}},
			"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\uFFFD \\ufffd\"},{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"a\",\"input\":{\"x\":\"\uFFFD\"}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\"}]}"},
		{"no content", "anthropic", `[]`, nil, ``},
		{"a blank text", "anthropic", `[{"type":"text","text":" \n"}]`, nil, ``},
		{"a blank text and another", "anthropic", `[{"type":"text","text":""},{"type":"text","text":"a"}]`, nil, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
		{"a kind that is not known", "anthropic", `[{"type":"new","x":[1.0]}]`, nil, `{"role":"assistant","content":[{"type":"new","x":[1.0]}]}`},
		{"the message around it", "anthropic", `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, nil, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
		{"inputs that are no object", "anthropic", `[{"type":"tool_use","id":"c","name":"a","input":{},"partial_json":"{\"x"},{"type":"tool_use","id":"d","name":"b","input":[1]},{"type":"tool_use","id":"e","name":"c"}]`,
			[]model.Result{{Call: "c", Failed: true}, {Call: "d", Text: "2"}, {Call: "e", Text: "3"}},
			`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"a","input":{}},{"type":"tool_use","id":"d","name":"b","input":{}},{"type":"tool_use","id":"e","name":"c","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"It failed.","is_error":true},{"type":"tool_result","tool_use_id":"d","content":"2"},{"type":"tool_result","tool_use_id":"e","content":"3"}]}`},
		{"ids that do not fit", "anthropic", `[{"type":"tool_use","id":"c:1","name":"a b","input":{"n":1.0}},{"type":"tool_use","id":"c_1","name":"b","input":{}},{"type":"tool_use","id":"c_1","name":"b","input":{}}]`,
			[]model.Result{{Call: "c_1", Text: "2"}, {Call: "c:1", Text: "1"}},
			`{"role":"assistant","content":[{"type":"tool_use","id":"c_1","name":"a_b","input":{"n":1.0}},{"type":"tool_use","id":"c_1_2","name":"b","input":{}},{"type":"tool_use","id":"c_1_3","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1","content":"1"},{"type":"tool_result","tool_use_id":"c_1_2","content":"2"},{"type":"tool_result","tool_use_id":"c_1_3","content":"There is no result: the call was not made.","is_error":true}]}`},
	}
	for _, c := range cases {
		client, a := side0(c.protocol), &model.Answer{Protocol: c.protocol, Message: []byte(c.message)}
		r := model.Request{Model: "m", Messages: []model.Message{{User: "begin"}, {Answer: a}}}
		if c.results != nil {
			r.Messages = append(r.Messages, model.Message{Results: c.results})
		}
		r.Messages = append(r.Messages, model.Message{User: "end"})
		got, err := client.Encode(r)
		if err != nil {
			t.Errorf("%s, %s: %v", c.protocol, c.name, err)
			continue
		}
		if !json.Valid(got) {
			t.Errorf("%s, %s: it is no JSON: %s", c.protocol, c.name, got)
		}
		_, rest, _ := strings.Cut(string(got), `"content":"begin"}`)
		between, _, _ := strings.Cut(rest, `,{"role":"user","content":"end"}`)
		if between = strings.TrimPrefix(between, ","); between != c.want {
			t.Errorf("%s, %s:\ngot  %s\nwant %s", c.protocol, c.name, between, c.want)
		}
	}
}

func side0(protocol string) model.Client {
	if protocol == "openai" {
		return model.OpenAI(model.Endpoint{})
	}
	return model.Anthropic(model.Endpoint{})
}

// TestIDsOfCallsDifferInAWholeConversation holds what Anthropic asks for; a provider's ids can begin anew in each answer.
func TestIDsOfCallsDifferInAWholeConversation(t *testing.T) {
	a := &model.Answer{Protocol: "anthropic", Message: []byte(`[{"type":"tool_use","id":"c","name":"a","input":{}}]`)}
	got, err := side0("anthropic").Encode(model.Request{Model: "m", Messages: []model.Message{
		{User: "x"}, {Answer: a}, {Results: []model.Result{{Call: "c", Text: "1"}}}, {Answer: a}, {Results: []model.Result{{Call: "c", Text: "2"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":"c"`, `"tool_use_id":"c","content":"1"`, `"id":"c_2"`, `"tool_use_id":"c_2","content":"2"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// TestWhatCannotBeSaidIsAnError holds the errors of Encode.
func TestWhatCannotBeSaidIsAnError(t *testing.T) {
	user := []model.Message{{User: "x"}}
	for name, r := range map[string]model.Request{
		"no model":           {Messages: user},
		"no messages":        {Model: "m"},
		"an empty message":   {Model: "m", Messages: []model.Message{{User: "x"}, {}}},
		"two in one":         {Model: "m", Messages: []model.Message{{User: "x", Results: []model.Result{{}}}}},
		"no user first":      {Model: "m", Messages: []model.Message{{Results: []model.Result{{}}}}},
		"an answer last":     {Model: "m", Messages: []model.Message{{User: "x"}, {Answer: &model.Answer{}}}},
		"results of nothing": {Model: "m", Messages: []model.Message{{User: "x"}, {Results: []model.Result{{}}}}},
		"an unreadable one":  {Model: "m", Messages: []model.Message{{User: "x"}, {Answer: &model.Answer{Message: []byte("{")}}, {User: "x"}}},
		"a tool's name":      {Model: "m", Messages: user, Tools: []model.Tool{{Name: "a b"}}},
		"two tools":          {Model: "m", Messages: user, Tools: []model.Tool{{Name: "a"}, {Name: "a"}}},
		"a schema":           {Model: "m", Messages: user, Tools: []model.Tool{{Name: "a", Input: json.RawMessage("{")}}},
		"a temperature":      {Model: "m", Messages: user, Temperature: "1,2"},
		"a word":             {Model: "m", Messages: user, Temperature: "null"},
		"a number of tokens": {Model: "m", Messages: user, MaxTokens: -1},
		"more than is sent":  {Model: "m", Messages: []model.Message{{User: strings.Repeat("x", model.MaxRequest)}}},
		"another call's":     {Model: "m", Messages: []model.Message{{User: "x"}, {Answer: &model.Answer{Message: []byte(`[]`)}}, {Results: []model.Result{{Call: "c"}}}}},
	} {
		for _, protocol := range []string{"openai", "anthropic"} {
			for i := range r.Messages {
				if a := r.Messages[i].Answer; a != nil {
					a.Protocol = protocol
				}
			}
			if got, err := side0(protocol).Encode(r); err == nil {
				t.Errorf("%s, %s: %.200s", protocol, name, got)
			}
		}
	}
	other := &model.Answer{Protocol: "openai", Message: []byte(`{"role":"assistant","content":[]}`)}
	if got, err := side0("anthropic").Encode(model.Request{Model: "m", Messages: []model.Message{{User: "x"}, {Answer: other}, {User: "y"}}}); err == nil {
		t.Errorf("an answer of another protocol: %s", got)
	}
}
