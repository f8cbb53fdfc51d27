package fakemodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// chat is the protocol of chat completions.
type chat struct{}

func (chat) name() string    { return "chat" }
func (chat) overloaded() int { return http.StatusServiceUnavailable }

// chatRequest is what is understood of a request; everything else in it is ignored.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	Tools               []chatTool    `json:"tools"`
	MaxTokens           int           `json:"max_tokens"`
	MaxCompletionTokens int           `json:"max_completion_tokens"`
	Temperature         json.Number   `json:"temperature"`
	Stream              bool          `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    content    `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type chatCall struct {
	ID       script.Bytes `json:"id"`
	Type     string       `json:"type"`
	Function struct {
		Name      script.Bytes `json:"name"`
		Arguments script.Bytes `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (chat) read(_ headers, body []byte) (asked, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return asked{}, err
	}
	if in.Model == "" {
		return asked{}, errors.New("you must provide a model parameter")
	}
	a := asked{stream: in.Stream, usage: in.StreamOptions.IncludeUsage, Request: model.Request{
		Model: in.Model, MaxTokens: max(in.MaxTokens, in.MaxCompletionTokens), Temperature: in.Temperature,
	}}
	for _, t := range in.Tools {
		if t.Type != "function" {
			return a, fmt.Errorf("tools: there is no type %.40q", t.Type)
		}
		a.Tools = append(a.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Input: t.Function.Parameters})
	}
	c := chatReader{to: &a.Request}
	for _, m := range in.Messages {
		if err := c.message(m); err != nil {
			return a, err
		}
	}
	return a, checkConversation(a.Messages, c.calls)
}

// chatReader builds a conversation from messages.
type chatReader struct {
	to    *model.Request
	calls [][]model.Call // of each message in to
}

func (c *chatReader) add(m model.Message, calls []model.Call) {
	c.to.Messages, c.calls = append(c.to.Messages, m), append(c.calls, calls)
}

func (c *chatReader) message(m chatMessage) error {
	text, err := m.Content.text()
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		if c.to.Instructions != "" {
			text = c.to.Instructions + "\n" + text
		}
		c.to.Instructions = text
	case "user":
		c.add(model.Message{User: text}, nil)
	case "assistant":
		if m.Content == nil && len(m.ToolCalls) == 0 {
			return errors.New("messages: an assistant's message needs content or tool_calls")
		}
		var calls []model.Call
		for _, t := range m.ToolCalls {
			calls = append(calls, model.Call{ID: string(t.ID), Tool: string(t.Function.Name), Input: []byte(t.Function.Arguments)})
		}
		answer, err := answerOf(text, calls)
		if err != nil {
			return err
		}
		c.add(answer, calls)
	case "tool":
		result := model.Result{Call: m.ToolCallID, Text: text}
		if n := len(c.to.Messages); n > 0 && c.to.Messages[n-1].Results != nil {
			last := &c.to.Messages[n-1]
			last.Results = append(last.Results, result)
			return nil
		}
		c.add(model.Message{Results: []model.Result{result}}, nil)
	default:
		return fmt.Errorf("messages: there is no role %.40q", m.Role)
	}
	return nil
}

func (chat) problem(status int, message string) any {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status >= 500:
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
}
