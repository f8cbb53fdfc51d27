// Package schema makes the JSON Schema (draft 2020-12) of a Go type as encoding/json reads and writes it.
//
// It is no validator for foreign schemas: the host judges inputs and outputs, and Judge stands in for it in tests. What Go's encoding cannot carry, or a schema cannot say, is an
// error here rather than a schema that is nearly right.
package schema

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// Input returns the schema of what a tool reads into a value of type t. Fields are required unless they are pointers or
// may be omitted, and no others are allowed.
func Input(t reflect.Type) (toolabi.RawJSON, error) { return build(t, false) }

// Output returns the schema of what a tool writes of a value of type t. Nil pointers, slices and maps may be null.
func Output(t reflect.Type) (toolabi.RawJSON, error) { return build(t, true) }

// node is a schema, its keywords in the order in which they are written. The zero node accepts anything.
type node struct {
	Type        any         `json:"type,omitempty"` // a word, or a list of two with "null"
	Description string      `json:"description,omitempty"`
	Format      string      `json:"format,omitempty"`
	Encoding    string      `json:"contentEncoding,omitempty"`
	Minimum     number      `json:"minimum,omitempty"`
	Maximum     number      `json:"maximum,omitempty"`
	MinLength   *uint64     `json:"minLength,omitempty"`
	MaxLength   *uint64     `json:"maxLength,omitempty"`
	Pattern     string      `json:"pattern,omitempty"`
	Enum        []any       `json:"enum,omitempty"`
	Items       *node       `json:"items,omitempty"`
	MinItems    *int        `json:"minItems,omitempty"`
	MaxItems    *int        `json:"maxItems,omitempty"`
	Properties  members     `json:"properties,omitempty"`
	Required    []string    `json:"required,omitempty"`
	Additional  *additional `json:"additionalProperties,omitempty"`
}

// maker carries what is the same throughout one schema.
type maker struct {
	output bool
	inside []reflect.Type // the types that are being described, outermost first
}

func build(t reflect.Type, output bool) (toolabi.RawJSON, error) {
	m := maker{output: output}
	n, err := m.of(t)
	if err != nil {
		return nil, err
	}
	b, err := encode(n)
	if err != nil {
		return nil, fmt.Errorf("write the schema of %s: %w", t, err)
	}
	return b, nil
}

// of returns the schema of t.
func (m *maker) of(t reflect.Type) (*node, error) {
	if n := known(t, m.output); n != nil {
		return n, nil
	}
	for _, outer := range m.inside {
		if outer == t {
			return nil, fmt.Errorf("type %s contains itself (%s): a tool's schema cannot be recursive", t, m.path(t))
		}
	}
	m.inside = append(m.inside, t)
	defer func() { m.inside = m.inside[:len(m.inside)-1] }()
	switch t.Kind() {
	case reflect.Pointer:
		n, err := m.of(t.Elem())
		return m.nullable(n), err
	case reflect.Slice, reflect.Array:
		return m.list(t)
	case reflect.Map:
		return m.dictionary(t)
	case reflect.Struct:
		return m.object(t)
	}
	return scalar(t)
}

func (m *maker) path(t reflect.Type) string {
	var names []string
	for _, outer := range append(m.inside, t) {
		names = append(names, outer.String())
	}
	return strings.Join(names, " → ")
}

func (m *maker) list(t reflect.Type) (*node, error) {
	items, err := m.of(t.Elem())
	if err != nil {
		return nil, err
	}
	n := &node{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		size := t.Len()
		n.MinItems, n.MaxItems = &size, &size
		return n, nil
	}
	return m.nullable(n), nil
}

func (m *maker) dictionary(t reflect.Type) (*node, error) {
	if t.Key().Kind() != reflect.String || t.Key().Implements(textMarshaler) || reflect.PointerTo(t.Key()).Implements(textUnmarshaler) {
		return nil, fmt.Errorf("type %s: the keys of a map must be strings", t)
	}
	values, err := m.of(t.Elem())
	if err != nil {
		return nil, err
	}
	return m.nullable(&node{Type: "object", Additional: &additional{values: values}}), nil
}

// nullable lets n be null too where a nil is written that way. What accepts anything accepts null already.
func (m *maker) nullable(n *node) *node {
	if n == nil || !m.output {
		return n
	}
	if word, ok := n.Type.(string); ok {
		n.Type = []string{word, "null"}
	}
	return n
}

// definite undoes nullable, for a field that is left out when it is nil.
func definite(n *node) *node {
	if words, ok := n.Type.([]string); ok {
		n.Type = words[0]
	}
	return n
}
