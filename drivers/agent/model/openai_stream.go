package model

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
)

// errLong is returned for an answer that gets longer than MaxAnswer as it is put together.
var errLong = errors.New("the answer is too long")

// errCut is returned for a stream that ended before its proper end.
var errCut = errors.New("the stream ended before the answer did")

// pieceCost is what a part of an answer counts beside its bytes, for the memory that it takes.
const pieceCost = 256

// openAIStream puts the pieces of a chat completion together.
type openAIStream struct {
	a      Answer
	begun  bool // a piece of a message came
	ended  bool
	size   int
	fields []field // the members of the message but for its calls
	calls  []*streamedCall
	at     map[int]*streamedCall // the latest call of each index
}

// field is a member of an object as it gets longer: the name and the value as JSON, a string without its quotes.
type field struct {
	name   string
	value  []byte
	quoted bool
}

type streamedCall struct {
	index           int
	id, name, input []byte // bodies of strings
}

func (s *openAIStream) add(data []byte) (string, bool, error) {
	if string(bytes.TrimSpace(data)) == streamEnd {
		s.ended = true
		return "", true, nil
	}
	var choices []byte
	counted, last := false, true // what was counted comes in a piece of its own behind the others
	members(data, func(name, value []byte) {
		switch string(name) {
		case "id":
			s.a.ID = orElse(asName(value), s.a.ID)
		case "model":
			s.a.Model = orElse(asName(value), s.a.Model)
		case "choices":
			choices = value
		case "usage":
			if isObject(value) {
				s.a.Usage, counted = openAIUsage(value), true
			}
		}
	})
	var text []byte
	elements(choices, func(c []byte) {
		last = false
		if i := member(c, "index"); isNothing(i) || count(i) == 0 {
			text = s.addChoice(text, c)
		}
	})
	if s.size > MaxAnswer {
		return "", false, errLong
	}
	return asText(text), s.ended && counted && last, nil
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// addChoice takes a piece of the message, and appends the text in it.
func (s *openAIStream) addChoice(text, choice []byte) []byte {
	members(choice, func(name, value []byte) {
		switch string(name) {
		case "delta":
			s.begun = s.begun || isObject(value)
			members(value, func(name, value []byte) {
				switch string(name) {
				case "role":
				case "tool_calls":
					elements(value, s.addCall)
				case "content", "refusal":
					text = append(text, unquote(value)...)
					fallthrough
				default:
					s.size += len(value)
					s.fields = grow(s.fields, name, value, &s.size)
				}
			})
		case "finish_reason":
			if isString(value) {
				s.a.Stop, s.ended, s.begun = asName(value), true, true
			}
		}
	})
	return text
}

// grow lets a member get longer by value: strings and arrays are put behind what is there, else the latest value counts that is
// not null.
func grow(fields []field, name, value []byte, size *int) []field {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == string(name) })
	if i < 0 {
		*size += pieceCost + len(name)
		if len(fields) > maxFields {
			*size = MaxAnswer + 1
			return fields
		}
		f := field{name: string(name), quoted: isString(value)}
		f.set(value)
		return append(fields, f)
	}
	f := &fields[i]
	switch {
	case isNothing(value):
	case isString(value) && f.quoted:
		f.value = append(f.value, stringBody(value)...)
	case isArray(value) && !f.quoted && isArray(f.value):
		f.value = joinArrays(f.value, value)
	default:
		f.quoted = isString(value)
		f.set(value)
	}
	return fields
}

// maxFields is how many members an object may get.
const maxFields = 256

func (f *field) set(value []byte) {
	if f.quoted {
		value = stringBody(value)
	}
	f.value = append(f.value[:0], value...)
}

// joinArrays appends the elements of b to a.
func joinArrays(a, b []byte) []byte {
	a = a[:len(a)-1]
	elements(b, func(v []byte) { a = append(appendComma(bytes.TrimRight(a, blanks)), v...) })
	return append(a, ']')
}

// addCall takes a piece of a call. Some servers leave out the index, and some give every call the same one.
func (s *openAIStream) addCall(v []byte) {
	c := readOpenAICall(v)
	s.size += len(c.id) + len(c.name) + len(c.arguments)
	id, name := stringBody(c.id), stringBody(c.name)
	index, err := strconv.Atoi(string(member(v, "index")))
	if err != nil || index < 0 {
		index = -1
	}
	call := s.at[index]
	other := call != nil && len(id) > 0 && len(call.id) > 0 && !bytes.Equal(id, call.id) && len(name) > 0
	if call == nil || other {
		call = &streamedCall{index: index}
		if s.at == nil {
			s.at = map[int]*streamedCall{}
		}
		s.at[index] = call
		s.calls = append(s.calls, call)
		s.size += pieceCost
	}
	if len(call.id) == 0 {
		call.id = bytes.Clone(id)
	}
	if !bytes.Equal(call.name, name) { // some say it again with each piece
		call.name = append(call.name, name...)
	}
	switch {
	case isString(c.arguments):
		call.input = append(call.input, stringBody(c.arguments)...)
	case isObject(c.arguments): // whole, as some send it
		call.input = appendQuoted(call.input, c.arguments)
	}
}

// answer makes the message that the same answer has in one piece.
func (s *openAIStream) answer() (Answer, error) {
	switch {
	case !s.ended:
		return Answer{}, errCut
	case !s.begun:
		return Answer{}, errNoAnswer
	}
	out := []byte(`{"role":"assistant"`)
	if !slices.ContainsFunc(s.fields, func(f field) bool { return f.name == "content" }) {
		out = append(out, `,"content":null`...)
	}
	for _, f := range s.fields {
		out = f.append(append(out, ','))
	}
	slices.SortStableFunc(s.calls, func(a, b *streamedCall) int { return cmp.Compare(a.index, b.index) })
	for i, c := range s.calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		}
		out = append(append(appendComma(out), `{"id":"`...), c.id...)
		out = append(append(out, `","type":"function","function":{"name":"`...), c.name...)
		out = append(append(out, `","arguments":"`...), c.input...)
		out = append(out, `"}}`...)
	}
	if len(s.calls) > 0 {
		out = append(out, ']')
	}
	s.a.Protocol, s.a.Message = openAI{}.name(), append(out, '}')
	return s.a, nil
}

// append appends the member.
func (f *field) append(out []byte) []byte {
	out = append(appendString(out, f.name), ':')
	if !f.quoted {
		return append(out, f.value...)
	}
	return append(append(append(out, '"'), f.value...), '"')
}
