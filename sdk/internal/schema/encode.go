package schema

import (
	"bytes"
	"encoding/json"

	"github.com/wrun-dev/wrun/toolabi"
)

// number is a JSON number with the digits it was written with; "" is none.
type number string

// MarshalJSON returns the digits.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// property is one member of an object.
type property struct {
	name string
	node *node
}

// members are the properties of an object in the order of their fields.
type members []property

// MarshalJSON writes an object that keeps the order.
func (m members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range m {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := encode(p.name)
		if err != nil {
			return nil, err
		}
		schema, err := encode(p.node)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), schema...)
	}
	return append(b, '}'), nil
}

// additional is what members beside the properties must be: values, or nothing at all.
type additional struct{ values *node }

// MarshalJSON writes the schema, or false.
func (a additional) MarshalJSON() ([]byte, error) {
	if a.values == nil {
		return []byte("false"), nil
	}
	return encode(a.values)
}

func encode(v any) (toolabi.RawJSON, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
