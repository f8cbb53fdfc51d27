package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"time"
)

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// known returns the schema of a type that has an encoding of its own, nil for all others.
func known(t reflect.Type, output bool) *node {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &node{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.Number]():
		return &node{Type: "number"}
	case reflect.TypeFor[big.Int]():
		return &node{Type: "integer"}
	}
	if t.Kind() == reflect.Pointer {
		return nil // what it points to is asked
	}
	if base64Bytes(t) {
		n := &node{Type: "string", Encoding: "base64"}
		return (&maker{output: output}).nullable(n)
	}
	pointer := reflect.PointerTo(t)
	ownJSON, ownText := jsonUnmarshaler, textUnmarshaler
	if output {
		ownJSON, ownText = jsonMarshaler, textMarshaler
	}
	switch {
	case t.Implements(ownJSON), pointer.Implements(ownJSON):
		return &node{}
	case t.Implements(ownText), pointer.Implements(ownText):
		return &node{Type: "string"}
	}
	return nil
}

// base64Bytes says whether encoding/json writes t as base64.
func base64Bytes(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	own := reflect.PointerTo(t)
	element := reflect.PointerTo(t.Elem())
	return !own.Implements(jsonMarshaler) && !own.Implements(textMarshaler) &&
		!element.Implements(jsonMarshaler) && !element.Implements(textMarshaler)
}

// scalar returns the schema of a type without parts. Integers that are narrower than 64 bits, or have no sign, carry
// their bounds, so that the host refuses what does not fit.
func scalar(t reflect.Type) (*node, error) {
	switch k := t.Kind(); k {
	case reflect.Bool:
		return &node{Type: "boolean"}, nil
	case reflect.String:
		return &node{Type: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return &node{Type: "number"}, nil
	case reflect.Int, reflect.Int64:
		return &node{Type: "integer"}, nil
	case reflect.Int8, reflect.Int16, reflect.Int32:
		top := int64(1)<<(t.Bits()-1) - 1
		return &node{Type: "integer", Minimum: number(strconv.FormatInt(-top-1, 10)), Maximum: number(strconv.FormatInt(top, 10))}, nil
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return &node{Type: "integer", Minimum: "0"}, nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return &node{Type: "integer", Minimum: "0", Maximum: number(strconv.FormatUint(1<<t.Bits()-1, 10))}, nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &node{}, nil
		}
	}
	return nil, fmt.Errorf("type %s has no form in JSON", t)
}
