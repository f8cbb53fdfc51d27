package fakemodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// messages is the protocol of messages.
type messages struct{}

func (messages) name() string    { return "messages" }
func (messages) overloaded() int { return 529 }

// messagesRequest is what is understood of a request; everything else in it is ignored.
type messagesRequest struct {
	Model       string      `json:"model"`
	MaxTokens   int         `json:"max_tokens"`
	System      content     `json:"system"`
	Temperature json.Number `json:"temperature"`
	Stream      bool        `json:"stream"`
	Messages    []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
}

func (messages) read(header headers, body []byte) (asked, error) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return asked{}, err
	}
	switch {
	case header.Get("anthropic-version") == "":
		return asked{}, errors.New("anthropic-version: header is required")
	case in.Model == "":
		return asked{}, errors.New("model: field required")
	case in.MaxTokens < 1:
		return asked{}, errors.New("max_tokens: want at least 1")
	}
	instructions, err := in.System.text()
	if err != nil {
		return asked{}, fmt.Errorf("system: %w", err)
	}
	a := asked{stream: in.Stream, usage: true, Request: model.Request{
		Model: in.Model, Instructions: instructions, MaxTokens: in.MaxTokens, Temperature: in.Temperature,
	}}
	for _, t := range in.Tools {
		if t.InputSchema == nil {
			return a, errors.New("tools: input_schema: field required")
		}
		a.Tools = append(a.Tools, model.Tool{Name: t.Name, Description: t.Description, Input: t.InputSchema})
	}
	var calls [][]model.Call
	for _, m := range in.Messages {
		var more []model.Message
		var asks []model.Call
		switch m.Role {
		case "user":
			more, err = userMessages(m.Content)
		case "assistant":
			more, asks, err = assistantMessage(m.Content)
		default:
			err = fmt.Errorf("there is no role %.40q", m.Role)
		}
		if err != nil {
			return a, fmt.Errorf("messages: %w", err)
		}
		for range more {
			calls = append(calls, asks)
		}
		a.Messages = append(a.Messages, more...)
	}
	return a, checkConversation(a.Messages, calls)
}

// userMessages are the results that a user's message begins with, and its text.
func userMessages(c content) ([]model.Message, error) {
	var results []model.Result
	for len(c) > 0 && c[0].Type == "tool_result" {
		text, err := c[0].Content.text()
		if err != nil {
			return nil, err
		}
		results = append(results, model.Result{Call: c[0].ToolUseID, Text: text, Failed: c[0].IsError})
		c = c[1:]
	}
	text, err := c.text()
	if err == nil {
		err = checkTexts(c)
	}
	if err == nil && len(c) == 0 && results == nil {
		err = errNoContent
	}
	if err != nil {
		return nil, err
	}
	var list []model.Message
	if results != nil {
		list = append(list, model.Message{Results: results})
	}
	if len(c) > 0 {
		list = append(list, model.Message{User: text})
	}
	return list, nil
}

var errNoContent = errors.New("a message needs content")

// checkTexts refuses texts that say nothing.
func checkTexts(c content) error {
	for _, b := range c {
		if b.Type == "text" && b.Text == "" {
			return errors.New("text content blocks must be non-empty")
		}
	}
	return nil
}

func assistantMessage(c content) ([]model.Message, []model.Call, error) {
	if len(c) == 0 {
		return nil, nil, errNoContent
	}
	if err := checkTexts(c); err != nil {
		return nil, nil, err
	}
	var texts []string
	var calls []model.Call
	for _, b := range c {
		switch b.Type {
		case "text":
			texts = append(texts, string(b.Text))
		case "tool_use":
			if !bytes.HasPrefix(b.Input, []byte{'{'}) {
				return nil, nil, errors.New("tool_use: input has to be an object")
			}
			calls = append(calls, model.Call{ID: b.ID, Tool: b.Name, Input: b.Input})
		default:
			return nil, nil, fmt.Errorf("content: a block of the type %.40q cannot stand here", b.Type)
		}
	}
	answer, err := answerOf(joinTexts(texts), calls)
	return []model.Message{answer}, calls, err
}

func (messages) problem(status int, message string) any {
	kind := "invalid_request_error"
	switch {
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status == 529:
		kind = "overloaded_error"
	case status >= 500:
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}
