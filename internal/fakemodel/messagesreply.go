package fakemodel

import (
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/script"
)

func messagesStop(a answered) string {
	switch {
	case a.Stop != "":
		return a.Stop
	case a.Cut:
		return "max_tokens"
	case len(a.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// messagesMessage is the message without what comes later in a stream.
func messagesMessage(a answered) object {
	return object{
		"id": fmt.Sprintf("msg_%d", a.bill), "type": "message", "role": "assistant", "model": a.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": messagesUsage(a, 1),
	}
}

func messagesUsage(a answered, output int64) object {
	return object{
		"input_tokens": a.Usage.Input, "output_tokens": output,
		"cache_read_input_tokens": a.Usage.CacheRead, "cache_creation_input_tokens": a.Usage.CacheWrite,
	}
}

func (messages) whole(a answered) ([]byte, error) {
	blocks := []any{}
	if a.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": script.Bytes(a.Text)})
	}
	for _, c := range a.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": script.Bytes(c.ID), "name": script.Bytes(c.Tool), "input": inputOf(c.Input)})
	}
	m := messagesMessage(a)
	m["content"], m["stop_reason"], m["usage"] = blocks, messagesStop(a), messagesUsage(a, a.Usage.Output)
	return encode(m)
}

// inputOf is the input of a call where JSON has to stand: what is none becomes a string.
func inputOf(input []byte) any {
	if json.Valid(input) {
		return json.RawMessage(input)
	}
	return script.Bytes(input)
}

func (messages) pieces(a answered) ([][]byte, error) {
	var events eventList
	event := func(kind string, fields object) {
		fields["type"] = kind
		events.add(kind, fields)
	}
	index := 0
	block := func(start object, kind, field string, pieces []string) {
		event("content_block_start", object{"index": index, "content_block": start})
		for _, piece := range pieces {
			event("content_block_delta", object{"index": index, "delta": object{"type": kind, field: script.Bytes(piece)}})
		}
		event("content_block_stop", object{"index": index})
		index++
	}
	event("message_start", object{"message": messagesMessage(a)})
	event("ping", object{})
	if a.Text != "" {
		block(object{"type": "text", "text": ""}, "text_delta", "text", split(a.Text, 3))
	}
	for _, c := range a.Calls {
		start := object{"type": "tool_use", "id": script.Bytes(c.ID), "name": script.Bytes(c.Tool), "input": object{}}
		block(start, "input_json_delta", "partial_json", append([]string{""}, split(string(c.Input), 2)...))
	}
	event("message_delta", object{
		"delta": object{"stop_reason": messagesStop(a), "stop_sequence": nil}, "usage": object{"output_tokens": a.Usage.Output},
	})
	event("message_stop", object{})
	return events.list, events.err
}
