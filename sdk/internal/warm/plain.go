package warm

import (
	"encoding"
	"encoding/json"
	"iter"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxSize is the largest value that is made, in bytes, and maxArray the longest array in it.
const (
	maxSize  = 4 << 10
	maxArray = 64
)

// known are types with methods that are not the author's.
var known = []reflect.Type{
	reflect.TypeFor[time.Time](), reflect.TypeFor[big.Int](), reflect.TypeFor[json.Number](), reflect.TypeFor[json.RawMessage](),
	reflect.TypeFor[toolabi.RawJSON](),
}

// called are the methods that encoding/json calls of a type that has them.
var called = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	reflect.TypeFor[interface{ IsZero() bool }](),
}

// plain says whether a value of type t can be made, and be read and written without a call of an author's method. inside are
// the types that it is a part of.
func plain(t reflect.Type, inside []reflect.Type) bool {
	if slices.Contains(known, t) || slices.Contains(inside, t) {
		return true
	}
	pointer := reflect.PointerTo(t)
	has := func(m reflect.Type) bool { return t.Implements(m) || pointer.Implements(m) }
	if t.Kind() != reflect.Pointer && slices.ContainsFunc(called, has) || t.Size() > maxSize {
		return false
	}
	switch t.Kind() {
	case reflect.Map:
		if k := t.Key().Kind(); k != reflect.String && (k < reflect.Int || k > reflect.Uint64) {
			return false
		}
		if !plain(t.Key(), inside) {
			return false
		}
	case reflect.Array:
		if t.Len() > maxArray {
			return false
		}
	case reflect.Interface:
		return t.NumMethod() == 0
	}
	inside = append(inside, t)
	for part := range parts(t) {
		if !plain(part, inside) {
			return false
		}
	}
	return true
}

// parts yields the types that a value of type t is made of, as far as encoding/json looks at them. One with an encoding of its
// own may be looked into in vain.
func parts(t reflect.Type) iter.Seq[reflect.Type] {
	return func(yield func(reflect.Type) bool) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			yield(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				if f := t.Field(i); seen(f) && !yield(f.Type) {
					return
				}
			}
		}
	}
}

// seen says whether encoding/json sees a field.
func seen(f reflect.StructField) bool {
	return (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-"
}
