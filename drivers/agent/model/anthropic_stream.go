package model

import (
	"cmp"
	"errors"
	"slices"
)

// errOrder is returned for an event that belongs to nothing before it.
var errOrder = errors.New("an event of the stream belongs to nothing before it")

// anthropicStream puts the pieces of a message together.
type anthropicStream struct {
	a      Answer
	begun  bool
	ended  bool
	size   int
	blocks []*streamedBlock
	at     map[string]*streamedBlock // by index, as it is spelled
}

// streamedBlock is a block as it gets longer.
type streamedBlock struct {
	index  int64
	fields []field
	input  []byte // what came of the input in pieces: the body of a string
}

func (s *anthropicStream) add(data []byte) (string, bool, error) {
	var text []byte
	var err error
	switch string(unquote(member(data, "type"))) {
	case "message_start":
		s.start(member(data, "message"))
	case "content_block_start":
		err = s.open(data)
	case "content_block_delta":
		text, err = s.grow(data)
	case "message_delta":
		if stop := member(member(data, "delta"), "stop_reason"); isString(stop) {
			s.a.Stop = asName(stop)
		}
		anthropicUsage(&s.a.Usage, member(data, "usage"))
	case "message_stop":
		s.ended = true
	}
	if s.size > MaxAnswer {
		err = errLong
	}
	return asText(text), s.ended, err
}

// start takes the message as it begins, which has no content yet.
func (s *anthropicStream) start(message []byte) {
	s.begun = isObject(message)
	s.a.ID, s.a.Model = asName(member(message, "id")), asName(member(message, "model"))
	anthropicUsage(&s.a.Usage, member(message, "usage"))
}

// open takes the begin of a block.
func (s *anthropicStream) open(data []byte) error {
	index := member(data, "index")
	v := member(data, "content_block")
	if !isObject(v) || s.at[string(index)] != nil {
		return errOrder
	}
	b := &streamedBlock{index: count(index)}
	members(v, func(name, value []byte) {
		s.size += len(value)
		b.fields = grow(b.fields, name, value, &s.size)
	})
	if s.at == nil {
		s.at = map[string]*streamedBlock{}
	}
	s.at[string(index)] = b
	s.blocks = append(s.blocks, b)
	s.size += pieceCost + len(index)
	return nil
}

// grow takes a piece of a block: each string in it is put behind the one of that name, a citation becomes one of the citations,
// and what is of the input is kept apart until it is whole. It returns the text that is new.
func (s *anthropicStream) grow(data []byte) (text []byte, err error) {
	b := s.at[string(member(data, "index"))]
	delta := member(data, "delta")
	if b == nil || !isObject(delta) {
		return nil, errOrder
	}
	kind := string(unquote(member(delta, "type")))
	members(delta, func(name, value []byte) {
		s.size += len(value)
		switch n := string(name); {
		case n == "type":
		case n == partialInput:
			b.input = append(b.input, stringBody(value)...)
		case n == "citation":
			one := append(append([]byte{'['}, value...), ']')
			b.fields = grow(b.fields, []byte("citations"), one, &s.size)
		default:
			b.fields = grow(b.fields, name, value, &s.size)
			if kind == "text_delta" && n == "text" {
				text = append(text, unquote(value)...)
			}
		}
	})
	return text, nil
}

// answer makes the content that the same answer has in one piece.
func (s *anthropicStream) answer() (Answer, error) {
	switch {
	case !s.ended:
		return Answer{}, errCut
	case !s.begun:
		return Answer{}, errNoAnswer
	}
	slices.SortStableFunc(s.blocks, func(a, b *streamedBlock) int { return cmp.Compare(a.index, b.index) })
	out := []byte{'['}
	for _, b := range s.blocks {
		out = b.append(appendComma(out))
	}
	s.a.Protocol, s.a.Message = anthropic{}.name(), append(out, ']')
	return s.a, nil
}

// append appends the block. The input that came in pieces takes the place of the empty one that the block began with; where it is
// no JSON, which happens when the answer was cut short, it stands beside it.
func (b *streamedBlock) append(out []byte) []byte {
	input := unescape(b.input)
	fits := valid(input)
	seen := false
	out = append(out, '{')
	for i, f := range b.fields {
		if i > 0 {
			out = append(out, ',')
		}
		if f.name == "input" && fits {
			f, seen = field{name: f.name, value: input}, true
		}
		out = f.append(out)
	}
	if len(input) == 0 || seen {
		return append(out, '}')
	}
	if len(b.fields) > 0 {
		out = append(out, ',')
	}
	if fits {
		return append(append(append(out, `"input":`...), input...), '}')
	}
	return append(append(append(out, `"`+partialInput+`":"`...), b.input...), `"}`...)
}
