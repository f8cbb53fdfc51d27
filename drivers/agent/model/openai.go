package model

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// openAI is the protocol of chat completions.
type openAI struct{}

func (openAI) name() string { return "openai" }
func (openAI) base() string { return "https://api.openai.com/v1" }
func (openAI) path() string { return "chat/completions" }

func (openAI) streaming() string { return `,"stream":true,"stream_options":{"include_usage":true}` }

func (openAI) authorise(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func (openAI) assemble() assembler { return &openAIStream{} }

// encode writes a request. The bound on the answer has two names: OpenAI's newer models refuse the old one, and most of the
// others know no other.
func (openAI) encode(r Request, native bool) ([]byte, error) {
	if err := checkRequest(r); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, requestSize(r)), `{"model":`...)
	out = append(appendString(out, r.Model), `,"messages":[`...)
	if r.Instructions != "" {
		out = append(appendString(append(out, `{"role":"system","content":`...), r.Instructions), '}')
	}
	out, err := appendMessages(out, r.Messages, openAISpeaker{})
	if err != nil {
		return nil, err
	}
	out = append(out, ']')
	for i, t := range r.Tools {
		if i == 0 {
			out = append(out, `,"tools":[`...)
		}
		out = append(appendComma(out), `{"type":"function","function":{"name":`...)
		out = appendString(out, t.Name)
		if t.Description != "" {
			out = appendString(append(out, `,"description":`...), t.Description)
		}
		out = append(appendSchema(append(out, `,"parameters":`...), t.Input), `}}`...)
	}
	if len(r.Tools) > 0 {
		out = append(out, ']')
	}
	if r.MaxTokens > 0 {
		name := `,"max_tokens":`
		if native {
			name = `,"max_completion_tokens":`
		}
		out = strconv.AppendInt(append(out, name...), int64(r.MaxTokens), 10)
	}
	if r.Temperature != "" {
		out = append(append(out, `,"temperature":`...), r.Temperature...)
	}
	return append(out, '}'), nil
}

// requestSize guesses how long a request gets, in bytes.
func requestSize(r Request) int {
	n := 256 + len(r.Instructions)
	for _, m := range r.Messages {
		n += 64 + len(m.User)
		if m.Answer != nil {
			n += len(m.Answer.Message)
		}
		for _, x := range m.Results {
			n += 128 + len(x.Text)
		}
	}
	for _, t := range r.Tools {
		n += 128 + len(t.Description) + len(t.Input)
	}
	return min(n+n/4, MaxRequest) // for what is escaped
}

// openAISpeaker writes the messages of a conversation.
type openAISpeaker struct{}

func (openAISpeaker) user(out []byte, text string) []byte {
	out = append(appendComma(out), `{"role":"user","content":`...)
	return append(appendString(out, text), '}')
}

// results writes one message for each call. The protocol has no word for a call that failed, so the text says it.
func (openAISpeaker) results(out []byte, calls []asked, results []*Result) []byte {
	for i, c := range calls {
		r := results[i]
		if r == nil {
			r = &noResult
		}
		out = append(appendComma(out), `{"role":"tool","tool_call_id":`...)
		out = append(appendString(out, c.sent), `,"content":`...)
		text := r.Text
		if r.Failed {
			text = "Error: " + text
		}
		out = append(appendString(out, text), '}')
	}
	return out
}

// answer writes an assistant's message as it came, with mendText. It is written anew, from what Read says, where a provider would
// refuse it: when its role is another, when it says nothing, or when a call in it has no name that fits, or the id of another.
// Arguments that are no JSON go back as they came: they are text in this protocol.
func (openAISpeaker) answer(out []byte, a Answer) ([]byte, []asked, error) {
	if a.Protocol != (openAI{}).name() {
		return nil, nil, fmt.Errorf("an answer of the protocol %.40q", a.Protocol)
	}
	m, err := readOpenAI(a.Message)
	if err != nil {
		return nil, nil, err
	}
	out = appendComma(out)
	calls, fits := m.names()
	if fits {
		return append(out, mendText(bytes.Trim(a.Message, blanks))...), calls, nil
	}
	out = append(out, `{"role":"assistant","content":`...)
	if text := m.text(); text == "" && len(calls) > 0 {
		out = append(out, "null"...)
	} else {
		out = appendString(out, text)
	}
	for i, c := range calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		}
		out = append(appendComma(out), `{"id":`...)
		out = append(appendString(out, c.sent), `,"type":"function","function":{"name":`...)
		out = append(appendString(out, cleanName(m.calls[i].tool(), "tool", maxToolName)), `,"arguments":`...)
		out = append(appendString(out, string(m.calls[i].input())), `}}`...)
	}
	if len(calls) > 0 {
		out = append(out, ']')
	}
	return append(out, '}'), calls, nil
}

// names gives the calls of a message their names in a request, and says whether the message can go back as it came.
func (m *openAIMessage) names() ([]asked, bool) {
	fits := string(unquote(m.role)) == "assistant" && (len(m.calls) > 0 || isString(m.content) || m.text() != "")
	if len(m.calls) == 0 {
		return nil, fits
	}
	var names callNames
	calls := make([]asked, len(m.calls))
	for i, c := range m.calls {
		id := c.callID()
		sent := names.name(id, func(string) bool { return true })
		tool := unquote(c.name)
		fits = fits && sent == id && isString(c.id) && isString(c.arguments)
		fits = fits && len(tool) > 0 && len(tool) <= maxToolName && isName(tool)
		calls[i] = asked{id: id, sent: sent}
	}
	return calls, fits
}
