package model_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// TestAnAnswerIsReadByteForByte holds Read.
func TestAnAnswerIsReadByteForByte(t *testing.T) {
	call := func(id, tool, input string) []model.Call {
		return []model.Call{{ID: id, Tool: tool, Input: []byte(input)}}
	}
	for _, c := range []struct {
		protocol, message, stop string
		want                    model.Said
	}{
		{"openai", `{"role":"assistant","content":"a"}`, "stop", model.Said{Text: "a"}},
		{"openai", `{"content":null,"refusal":"I will not."}`, "stop", model.Said{Text: "I will not."}},
		{"openai", `{"content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}]}`, "length", model.Said{Text: "ab", Cut: true}},
		{"openai", `{"content":"a"}`, "content_filter", model.Said{Text: "a", Cut: true}},
		{"openai", "{\"content\":\"a\xffb\\ud800c\\u00e9\\n\\/\\u0000\"}", "max_tokens", model.Said{Text: "a\uFFFDb\uFFFDcé\n/\x00"}},
		{"openai", `{"content":"a","content":"b","Content":"c"}`, "", model.Said{Text: "b"}},
		{"openai", `{}`, "", model.Said{}},
		{"openai", `{"tool_calls":null}`, "", model.Said{}},
		{"openai", "{\"tool_calls\":[{\"id\":\"c\xff\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"n\\\":1e400,\xff\\ud800\"}}]}", "",
			model.Said{Calls: call("c\uFFFD", "t", "{\"n\":1e400,\xff\xed\xa0\x80")}},
		{"openai", `{"tool_calls":[{"id":"c","function":{"name":"t","arguments":{"n": 1.0}}}]}`, "", model.Said{Calls: call("c", "t", `{"n": 1.0}`)}},
		{"openai", `{"tool_calls":[7]}`, "", model.Said{Calls: []model.Call{{}}}},
		{"anthropic", `[{"type":"text","text":"a"},{"type":"thinking","thinking":"x"},{"type":"text","text":"b"}]`, "end_turn", model.Said{Text: "ab"}},
		{"anthropic", `[{"type":"text","text":"I cannot."}]`, "refusal", model.Said{Text: "I cannot."}},
		{"anthropic", `{"content":[{"type":"text","text":"a"}]}`, "max_tokens", model.Said{Text: "a", Cut: true}},
		{"anthropic", `[]`, "model_context_window_exceeded", model.Said{Cut: true}},
		{"anthropic", `[{"type":"tool_use","id":"c","name":"t","input":{"n": 1.0,"n":2}},{"type":"server_tool_use","id":"d"}]`, "length", model.Said{Calls: call("c", "t", `{"n": 1.0,"n":2}`)}},
		{"anthropic", "[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"t\",\"input\":{},\"partial_json\":\"{\\\"x\xff\"}]", "", model.Said{Calls: call("c", "t", "{\"x\xff")}},
		{"anthropic", `[{"type":"tool_use","id":"c","name":"t","input":"x"},3]`, "", model.Said{Calls: call("c", "t", `"x"`)}},
	} {
		got, err := side0(c.protocol).Read(model.Answer{Protocol: c.protocol, Message: []byte(c.message), Stop: c.stop})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %+v, %v\nwant %+v", c.protocol, c.message, got, err, c.want)
		}
	}
	many := func(one string, n int) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
	for _, c := range []struct{ protocol, message string }{
		{"openai", `{"tool_calls":` + many("{}", 4097) + "}"}, {"anthropic", many(`{"type":"tool_use"}`, 4097)},
		{"openai", ""}, {"openai", "{"}, {"openai", "[]"}, {"openai", `{"content":1}`}, {"openai", `{"tool_calls":{}}`},
		{"anthropic", ""}, {"anthropic", "{}"}, {"anthropic", `"x"`}, {"anthropic", `[`}, {"anthropic", `],"x":[`}, {"", "{}"},
	} {
		for _, protocol := range []string{"openai", "anthropic"} {
			if protocol != c.protocol && c.protocol != "" {
				continue
			}
			if got, err := side0(protocol).Read(model.Answer{Protocol: c.protocol, Message: []byte(c.message)}); err == nil {
				t.Errorf("%s reads %s: %+v", protocol, c.message, got)
			}
		}
	}
}
