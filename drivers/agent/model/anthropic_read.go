package model

import "bytes"

// block is a part of the content of a message, in the bytes that it came in.
type block struct {
	kind, text, id, name, input, partial []byte
}

func readBlock(v []byte) block {
	var b block
	members(v, func(name, value []byte) {
		switch string(name) {
		case "type":
			b.kind = value
		case "text":
			b.text = value
		case "id":
			b.id = value
		case "name":
			b.name = value
		case "input":
			b.input = value
		case partialInput:
			b.partial = value
		}
	})
	return b
}

// partialInput is the member of a block in which an input stands that came in pieces and is no JSON in the end, as a string. A
// message in one piece cannot hold such an input, and has no member of that name.
const partialInput = "partial_json"

func (b block) is(kind string) bool { return string(unquote(b.kind)) == kind }

func (b block) isCall() bool { return b.is("tool_use") }

func (b block) callID() string { return asText(unquote(b.id)) }

func (b block) tool() string { return asText(unquote(b.name)) }

// callInput returns the input, byte for byte.
func (b block) callInput() []byte {
	if isString(b.partial) {
		return unquote(b.partial)
	}
	return b.input
}

// anthropicContent returns the array of blocks that a message is. The object around it, as it comes over the wire, is taken too.
func anthropicContent(message []byte) ([]byte, error) {
	v := bytes.Trim(message, blanks)
	if !valid(v) {
		return nil, errNoMessage
	}
	if isObject(v) {
		v = member(v, "content")
	}
	if !isArray(v) {
		return nil, errNoMessage
	}
	return v, nil
}

func (anthropic) read(message []byte) (Said, error) {
	content, err := anthropicContent(message)
	if err != nil {
		return Said{}, err
	}
	var said Said
	var text []byte
	n := 0
	elements(content, func(v []byte) {
		switch b := readBlock(v); {
		case b.is("text"):
			text = append(text, unquote(b.text)...)
		case b.isCall():
			if n++; n > maxCalls {
				return
			}
			said.Calls = append(said.Calls, Call{ID: b.callID(), Tool: b.tool(), Input: bytes.Clone(b.callInput())})
		}
	})
	if n > maxCalls {
		return Said{}, errCalls
	}
	said.Text = asText(text)
	return said, nil
}

// whole reads an answer that came in one piece.
func (p anthropic) whole(body []byte) (Answer, error) {
	a := Answer{Protocol: p.name()}
	members(body, func(name, value []byte) {
		switch string(name) {
		case "id":
			a.ID = asName(value)
		case "model":
			a.Model = asName(value)
		case "content":
			a.Message = value
		case "stop_reason":
			a.Stop = asName(value)
		case "usage":
			anthropicUsage(&a.Usage, value)
		}
	})
	if !isArray(a.Message) {
		return Answer{}, errNoAnswer
	}
	a.Message = bytes.Clone(a.Message)
	return a, nil
}

// anthropicUsage reads what was counted over what is in u: a stream says some of it again at its end.
func anthropicUsage(u *Usage, v []byte) {
	members(v, func(name, value []byte) {
		if isNothing(value) {
			return
		}
		switch string(name) {
		case "input_tokens":
			u.Input = count(value)
		case "output_tokens":
			u.Output = count(value)
		case "cache_read_input_tokens":
			u.CacheRead = count(value)
		case "cache_creation_input_tokens":
			u.CacheWrite = count(value)
		}
	})
}
