package script

import (
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/internal/jq"
)

// contextFields are the fields of what expressions see.
var contextFields = []string{"model", "instructions", "task", "turn", "messages", "results", "tools"}

// contextOf makes the context of a request, as far as the script looks at it.
func (s *Script) contextOf(req model.Request) (map[string]any, error) {
	root := map[string]any{
		"model": clean(req.Model), "instructions": clean(req.Instructions), "task": "", "turn": turn(req), "results": []any{},
	}
	for _, m := range req.Messages {
		if m.Answer == nil && m.Results == nil {
			root["task"] = clean(m.User)
			break
		}
	}
	if n := len(req.Messages); n > 0 && s.seen.has("results") {
		root["results"] = results(req.Messages[n-1].Results)
	}
	if s.seen.has("tools") {
		names := make([]any, len(req.Tools))
		for i, t := range req.Tools {
			names[i] = clean(t.Name)
		}
		root["tools"] = names
	}
	if s.seen.has("messages") {
		messages := make([]any, len(req.Messages))
		for i, m := range req.Messages {
			var err error
			if messages[i], err = message(m); err != nil {
				return nil, err
			}
		}
		root["messages"] = messages
	}
	return root, nil
}

// turn is how many answers there were so far.
func turn(req model.Request) int {
	n := 0
	for _, m := range req.Messages {
		if m.Answer != nil {
			n++
		}
	}
	return n
}

// message is a message as expressions see it.
func message(m model.Message) (map[string]any, error) {
	switch {
	case m.Results != nil:
		return map[string]any{"results": results(m.Results)}, nil
	case m.Answer == nil:
		return map[string]any{"user": clean(m.User)}, nil
	}
	a, err := readMessage(m.Answer.Message)
	if err != nil {
		return nil, err
	}
	calls := make([]any, len(a.Calls))
	for i, c := range a.Calls {
		calls[i] = map[string]any{
			"id": clean(string(c.ID)), "tool": clean(string(c.Tool)), "arguments": clean(string(c.Input)), "input": parsed(string(c.Input)),
		}
	}
	return map[string]any{"answer": map[string]any{"text": clean(string(a.Text)), "calls": calls}}, nil
}

func results(from []model.Result) []any {
	list := make([]any, len(from))
	for i, r := range from {
		list[i] = map[string]any{
			"call": clean(r.Call), "tool": clean(r.Tool), "text": clean(r.Text), "output": parsed(r.Text), "failed": r.Failed,
		}
	}
	return list
}

// parsed is the value of a text that is JSON, and null of any other.
func parsed(text string) any {
	v, err := jq.Decode([]byte(text), MaxNumber)
	if err != nil {
		return nil
	}
	return v
}

// clean is text as jq can have it.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
