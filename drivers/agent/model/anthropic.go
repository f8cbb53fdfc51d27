package model

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// anthropic is the protocol of Anthropic's messages.
type anthropic struct{}

// anthropicVersion is the version of the protocol, and anthropicTokens bounds an answer when nothing else does: a number has to
// be said.
const (
	anthropicVersion = "2023-06-01"
	anthropicTokens  = 4096
)

func (anthropic) name() string { return "anthropic" }
func (anthropic) base() string { return "https://api.anthropic.com" }
func (anthropic) path() string { return "v1/messages" }

func (anthropic) streaming() string { return `,"stream":true` }

func (anthropic) authorise(h http.Header, key string) {
	h.Set("Anthropic-Version", anthropicVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (anthropic) assemble() assembler { return &anthropicStream{} }

func (anthropic) encode(r Request, _ bool) ([]byte, error) {
	if err := checkRequest(r); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, requestSize(r)), `{"model":`...)
	out = append(appendString(out, r.Model), `,"max_tokens":`...)
	tokens := r.MaxTokens
	if tokens == 0 {
		tokens = anthropicTokens
	}
	out = strconv.AppendInt(out, int64(tokens), 10)
	if r.Instructions != "" {
		out = appendString(append(out, `,"system":`...), r.Instructions)
	}
	out = append(out, `,"messages":[`...)
	out, err := appendMessages(out, r.Messages, &anthropicSpeaker{})
	if err != nil {
		return nil, err
	}
	out = append(out, ']')
	for i, t := range r.Tools {
		if i == 0 {
			out = append(out, `,"tools":[`...)
		}
		out = append(appendComma(out), `{"name":`...)
		out = appendString(out, t.Name)
		if t.Description != "" {
			out = appendString(append(out, `,"description":`...), t.Description)
		}
		out = append(appendSchema(append(out, `,"input_schema":`...), t.Input), '}')
	}
	if len(r.Tools) > 0 {
		out = append(out, ']')
	}
	if r.Temperature != "" {
		out = append(append(out, `,"temperature":`...), r.Temperature...)
	}
	return append(out, '}'), nil
}

// anthropicSpeaker writes the messages of a conversation. The ids of calls have to differ in all of it.
type anthropicSpeaker struct{ names callNames }

func (*anthropicSpeaker) user(out []byte, text string) []byte {
	out = append(appendComma(out), `{"role":"user","content":`...)
	return append(appendString(out, text), '}')
}

// results writes one message with a block for each call. An empty text is left out, and one of an error must not be empty.
func (*anthropicSpeaker) results(out []byte, calls []asked, results []*Result) []byte {
	out = append(appendComma(out), `{"role":"user","content":[`...)
	for i, c := range calls {
		r := results[i]
		if r == nil {
			r = &noResult
		}
		out = append(appendComma(out), `{"type":"tool_result","tool_use_id":`...)
		out = appendString(out, c.sent)
		switch {
		case r.Text != "":
			out = appendString(append(out, `,"content":`...), r.Text)
		case r.Failed:
			out = append(out, `,"content":"It failed."`...)
		}
		if r.Failed {
			out = append(out, `,"is_error":true`...)
		}
		out = append(out, '}')
	}
	return append(out, `]}`...)
}

// answer writes the content of a message block by block, each as it came, with mendText. What a provider would refuse is left out
// or written anew: a text without a letter is left out, a call whose id is another's or does not fit gets another id, one whose
// tool has no name that fits gets one, and an input that is no object becomes {}; its result says what was wrong with it. A
// message of which nothing remains is left out itself, because an empty one is refused.
func (s *anthropicSpeaker) answer(out []byte, a Answer) ([]byte, []asked, error) {
	if a.Protocol != (anthropic{}).name() {
		return nil, nil, fmt.Errorf("an answer of the protocol %.40q", a.Protocol)
	}
	content, err := anthropicContent(a.Message)
	if err != nil {
		return nil, nil, err
	}
	begin := len(out)
	out = append(appendComma(out), `{"role":"assistant","content":[`...)
	empty := len(out)
	var calls []asked
	elements(content, func(v []byte) {
		b := readBlock(v)
		switch {
		case b.isCall() && len(calls) == maxCalls:
			err = errCalls
		case b.isCall():
			c := asked{id: b.callID()}
			c.sent = s.names.name(c.id, isName[string])
			calls = append(calls, c)
			out = appendCall(appendComma(out), v, b, c)
		case b.is("text") && len(bytes.TrimSpace(unquote(b.text))) == 0, !isObject(v):
		default:
			out = append(appendComma(out), mendText(v)...)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if len(out) == empty {
		return out[:begin], nil, nil
	}
	return append(out, `]}`...), calls, nil
}

// appendCall appends a block that asks for a call.
func appendCall(out, v []byte, b block, c asked) []byte {
	tool := b.tool()
	name := cleanName(tool, "tool", maxToolName)
	fits := c.id == c.sent && name == tool && isString(b.id) && isObject(b.input) && b.partial == nil
	if fits {
		return append(out, mendText(v)...)
	}
	out = append(out, `{"type":"tool_use","id":`...)
	out = append(appendString(out, c.sent), `,"name":`...)
	out = append(appendString(out, name), `,"input":`...)
	if isObject(b.input) && b.partial == nil {
		out = append(out, mendText(b.input)...)
	} else {
		out = append(out, '{', '}')
	}
	return append(out, '}')
}
