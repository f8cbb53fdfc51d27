package model

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// openAIMessage is an assistant's message, in the bytes that it came in.
type openAIMessage struct {
	role, content, refusal []byte
	calls                  []openAICall
}

type openAICall struct{ id, name, arguments []byte }

var (
	errNoMessage = errors.New("it is no message")
	errNoAnswer  = errors.New("it is no answer of a model")
	errCalls     = fmt.Errorf("it asks for more than %d calls", maxCalls)
)

// maxCalls is how many calls an answer may ask for: three bytes of an answer can be one.
const maxCalls = 4096

// readOpenAI reads a message. Content can also be an array of parts, and arguments a JSON value, as some send them.
func readOpenAI(message []byte) (openAIMessage, error) {
	v := object(message)
	if v == nil {
		return openAIMessage{}, errNoMessage
	}
	var m openAIMessage
	var calls []byte
	members(v, func(name, value []byte) {
		switch string(name) {
		case "role":
			m.role = value
		case "content":
			m.content = value
		case "refusal":
			m.refusal = value
		case "tool_calls":
			calls = value
		}
	})
	if !isNothing(m.content) && !isString(m.content) && !isArray(m.content) {
		return openAIMessage{}, errNoMessage
	}
	n := 0
	isList := elements(calls, func(c []byte) {
		if n++; n <= maxCalls {
			m.calls = append(m.calls, readOpenAICall(c))
		}
	})
	switch {
	case !isList && !isNothing(calls):
		return openAIMessage{}, errNoMessage
	case n > maxCalls:
		return openAIMessage{}, errCalls
	}
	return m, nil
}

func readOpenAICall(v []byte) openAICall {
	var c openAICall
	var function []byte
	members(v, func(name, value []byte) {
		switch string(name) {
		case "id":
			c.id = value
		case "function":
			function = value
		}
	})
	members(function, func(name, value []byte) {
		switch string(name) {
		case "name":
			c.name = value
		case "arguments":
			c.arguments = value
		}
	})
	return c
}

// text returns what the model wrote: the content, and what it says when it refuses.
func (m *openAIMessage) text() string {
	if isString(m.content) && isNothing(m.refusal) {
		return asText(unquote(m.content))
	}
	text := append([]byte(nil), unquote(m.content)...)
	elements(m.content, func(part []byte) {
		for _, name := range []string{"text", "refusal"} {
			text = append(text, unquote(member(part, name))...)
		}
	})
	return asText(append(text, unquote(m.refusal)...))
}

func (c openAICall) callID() string { return asText(unquote(c.id)) }

func (c openAICall) tool() string { return asText(unquote(c.name)) }

// input returns the arguments, byte for byte.
func (c openAICall) input() []byte {
	if isString(c.arguments) {
		return unquote(c.arguments)
	}
	return c.arguments
}

// asText returns b as UTF-8.
func asText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

func (openAI) read(message []byte) (Said, error) {
	m, err := readOpenAI(message)
	if err != nil {
		return Said{}, err
	}
	said := Said{Text: m.text()}
	for _, c := range m.calls {
		said.Calls = append(said.Calls, Call{ID: c.callID(), Tool: c.tool(), Input: bytes.Clone(c.input())})
	}
	return said, nil
}

// whole reads an answer that came in one piece.
func (p openAI) whole(body []byte) (Answer, error) {
	a := Answer{Protocol: p.name()}
	var choices []byte
	members(body, func(name, value []byte) {
		switch string(name) {
		case "id":
			a.ID = asName(value)
		case "model":
			a.Model = asName(value)
		case "choices":
			choices = value
		case "usage":
			a.Usage = openAIUsage(value)
		}
	})
	first := true
	elements(choices, func(choice []byte) {
		if !first {
			return
		}
		first = false
		members(choice, func(name, value []byte) {
			switch string(name) {
			case "message":
				a.Message = value
			case "finish_reason":
				a.Stop = asName(value)
			}
		})
	})
	if !isObject(a.Message) {
		return Answer{}, errNoAnswer
	}
	a.Message = bytes.Clone(a.Message)
	return a, nil
}

// maxName is how much of a name that a provider gives is kept, in bytes.
const maxName = 256

// asName returns the string v as a name; "" when it is none.
func asName(v []byte) string {
	b := unquote(v)
	return asText(b[:min(len(b), maxName)])
}

// openAIUsage reads what was counted. Tokens out of the cache are among those of the prompt there.
func openAIUsage(v []byte) Usage {
	var u Usage
	members(v, func(name, value []byte) {
		switch string(name) {
		case "prompt_tokens":
			u.Input = count(value)
		case "completion_tokens":
			u.Output = count(value)
		case "prompt_tokens_details":
			u.CacheRead = count(member(value, "cached_tokens"))
		}
	})
	if u.CacheRead > u.Input {
		u.CacheRead = 0
	}
	u.Input -= u.CacheRead
	return u
}
