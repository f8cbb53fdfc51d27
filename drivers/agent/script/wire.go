package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// Protocol is what the answers of a script have as their protocol.
const Protocol = "scripted"

// wireRequest is a request as Encode writes it.
type wireRequest struct {
	Model        string        `json:"model"`
	Instructions string        `json:"instructions,omitempty"`
	Messages     []wireMessage `json:"messages"`
	Tools        []wireTool    `json:"tools,omitempty"`
	MaxTokens    int           `json:"max_tokens,omitempty"`
	Temperature  json.Number   `json:"temperature,omitempty"`
}

// wireMessage has exactly one of its fields.
type wireMessage struct {
	User    *string         `json:"user,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	Results []wireResult    `json:"results,omitzero"`
}

type wireResult struct {
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
}

// wireAnswer is the message of an answer.
type wireAnswer struct {
	Text  Bytes      `json:"text"`
	Calls []wireCall `json:"calls,omitempty"`
}

type wireCall struct {
	ID    Bytes `json:"id"`
	Tool  Bytes `json:"tool"`
	Input Bytes `json:"input"`
}

// Message returns what a model said as the message of an answer of this protocol, from which Read has it again.
func Message(text string, calls []model.Call) ([]byte, error) {
	a := wireAnswer{Text: Bytes(text)}
	for _, c := range calls {
		a.Calls = append(a.Calls, wireCall{Bytes(c.ID), Bytes(c.Tool), Bytes(c.Input)})
	}
	return marshal(a)
}

func readMessage(message []byte) (wireAnswer, error) {
	var a wireAnswer
	if !bytes.HasPrefix(bytes.TrimSpace(message), []byte("{")) {
		return a, errors.New("read the message of a scripted answer: it is no object")
	}
	if err := json.Unmarshal(message, &a); err != nil {
		return a, fmt.Errorf("read the message of a scripted answer: %w", err)
	}
	return a, nil
}

// marshal is the one JSON text of a request or an answer.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func encodeRequest(req model.Request) ([]byte, error) {
	w := wireRequest{
		Model: req.Model, Instructions: req.Instructions, Messages: []wireMessage{},
		MaxTokens: req.MaxTokens, Temperature: req.Temperature,
	}
	for i, m := range req.Messages {
		switch {
		case m.Answer != nil && m.Answer.Protocol != Protocol:
			return nil, fmt.Errorf("message %d is an answer of the protocol %.40q, and a script reads only its own", i+1, m.Answer.Protocol)
		case m.Answer != nil:
			w.Messages = append(w.Messages, wireMessage{Answer: m.Answer.Message})
		case m.Results != nil:
			var results []wireResult
			for _, r := range m.Results {
				results = append(results, wireResult(r))
			}
			w.Messages = append(w.Messages, wireMessage{Results: results})
		default:
			w.Messages = append(w.Messages, wireMessage{User: &m.User})
		}
	}
	for _, t := range req.Tools {
		w.Tools = append(w.Tools, wireTool(t))
	}
	b, err := marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode a request to a script: %w", err)
	}
	return b, nil
}

func decodeRequest(b []byte) (model.Request, error) {
	var w wireRequest
	if err := json.Unmarshal(b, &w); err != nil {
		return model.Request{}, fmt.Errorf("read a request to a script: %w", err)
	}
	req := model.Request{Model: w.Model, Instructions: w.Instructions, MaxTokens: w.MaxTokens, Temperature: w.Temperature}
	for _, m := range w.Messages {
		switch {
		case m.Answer != nil:
			req.Messages = append(req.Messages, model.Message{Answer: &model.Answer{Protocol: Protocol, Message: m.Answer}})
		case m.Results != nil:
			var results []model.Result
			for _, r := range m.Results {
				results = append(results, model.Result(r))
			}
			req.Messages = append(req.Messages, model.Message{Results: results})
		case m.User != nil:
			req.Messages = append(req.Messages, model.Message{User: *m.User})
		}
	}
	for _, t := range w.Tools {
		req.Tools = append(req.Tools, model.Tool(t))
	}
	return req, nil
}
