package warm

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxDepth is how many values lie in each other at most, and maxValues how many are in one sample.
const (
	maxDepth  = 12
	maxValues = 200
)

// sample returns a pointer to a value of type t in which as much as possible is not zero, so that reading and writing it comes
// by everything once.
func (w *Work) sample(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	s := sampler{left: min(maxValues, w.Values)}
	w.Values -= s.left
	s.fill(v.Elem(), 0)
	w.Values += s.left
	return v
}

// sampler fills values until none are left.
type sampler struct{ left int }

func (s *sampler) fill(v reflect.Value, depth int) {
	if s.left <= 0 || depth > maxDepth || !v.CanSet() && v.Kind() != reflect.Struct {
		return
	}
	s.left--
	switch t := v.Type(); {
	case t == reflect.TypeFor[json.Number]():
		v.SetString("1")
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[toolabi.RawJSON]():
		v.SetBytes([]byte("{}"))
	case slices.Contains(known, t): // which are of use as they are
	default:
		s.fillKind(v, depth)
	}
}

func (s *sampler) fillKind(v reflect.Value, depth int) {
	t := v.Type()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"x": []any{1.5, "x", true, nil}}))
	default:
		s.fillParts(v, depth)
	}
}

func (s *sampler) fillParts(v reflect.Value, depth int) {
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		s.fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		s.fill(v.Index(0), depth+1)
	case reflect.Array:
		if t.Len() > 0 {
			s.fill(v.Index(0), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		s.fill(key, depth+1)
		s.fill(value, depth+1)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range t.NumField() {
			if seen(t.Field(i)) {
				s.fill(v.Field(i), depth+1)
			}
		}
	}
}
