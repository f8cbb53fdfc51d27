package fakemodel

import (
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
)

type object = map[string]any

// epoch is when the first answer was made, in seconds since 1970: answers depend on no clock.
const epoch = 1_700_000_000

func chatID(a answered) string { return fmt.Sprintf("chatcmpl-%d", a.bill) }

func chatStop(a answered) string {
	switch {
	case a.Stop != "":
		return a.Stop
	case a.Cut:
		return "length"
	case len(a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(u model.Usage) object {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead},
	}
}

func (chat) whole(a answered) ([]byte, error) {
	message := object{"role": "assistant", "content": script.Bytes(a.Text), "refusal": nil}
	if len(a.Calls) > 0 {
		if a.Text == "" {
			message["content"] = nil
		}
		calls := make([]any, len(a.Calls))
		for i, c := range a.Calls {
			calls[i] = object{"id": script.Bytes(c.ID), "type": "function", "function": object{
				"name": script.Bytes(c.Tool), "arguments": script.Bytes(c.Input),
			}}
		}
		message["tool_calls"] = calls
	}
	return encode(object{
		"id": chatID(a), "object": "chat.completion", "created": epoch + a.bill, "model": a.Model, "usage": chatUsage(a.Usage),
		"choices": []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": chatStop(a)}},
	})
}

func (chat) pieces(a answered) ([][]byte, error) {
	var events eventList
	chunk := func(choices []any, usage any) {
		c := object{"id": chatID(a), "object": "chat.completion.chunk", "created": epoch + a.bill, "model": a.Model, "choices": choices}
		if a.usage {
			c["usage"] = usage
		}
		events.add("", c)
	}
	delta := func(d object, finish any) {
		chunk([]any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	for _, piece := range split(a.Text, 3) {
		delta(object{"content": script.Bytes(piece)}, nil)
	}
	for i, c := range a.Calls {
		call := func(fields object) {
			fields["index"] = i
			delta(object{"tool_calls": []any{fields}}, nil)
		}
		call(object{"id": script.Bytes(c.ID), "type": "function", "function": object{"name": script.Bytes(c.Tool), "arguments": ""}})
		for _, piece := range split(string(c.Input), 2) {
			call(object{"function": object{"arguments": script.Bytes(piece)}})
		}
	}
	delta(object{}, chatStop(a))
	if a.usage {
		chunk([]any{}, chatUsage(a.Usage))
	}
	events.raw("data: [DONE]\n\n")
	return events.list, events.err
}
