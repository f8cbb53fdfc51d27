package schema

import (
	"fmt"
	"reflect"
	"strings"
)

// field is a member of an object as encoding/json sees it.
type field struct {
	name     string
	depth    int  // how many embedded structs it was promoted through
	optional bool // may be missing
	quoted   bool // json:",string"
	skipped  bool // left out when it is empty, so that nil is never written
	reflect.StructField
}

func (m *maker) object(t reflect.Type) (*node, error) {
	fields, err := m.fields(t, 0, false)
	if err != nil {
		return nil, err
	}
	n := &node{Type: "object", Additional: &additional{}}
	for _, f := range fields {
		member, err := m.member(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		n.Properties = append(n.Properties, property{f.name, member})
		if !f.optional {
			n.Required = append(n.Required, f.name)
		}
	}
	return n, nil
}

func (m *maker) member(f field) (*node, error) {
	n, err := m.of(f.Type)
	if err != nil {
		return nil, err
	}
	if f.quoted {
		n = &node{Type: "string"}
		if f.Type.Kind() == reflect.Pointer {
			n = m.nullable(n)
		}
	}
	if f.skipped {
		n = definite(n)
	}
	return n, constrain(n, f.Tag)
}

// fields returns the members that a struct has, those of embedded structs included, in the order of declaration.
func (m *maker) fields(t reflect.Type, depth int, optional bool) ([]field, error) {
	if depth > 8 {
		return nil, fmt.Errorf("type %s: structs are embedded more than 8 deep, or in themselves", t)
	}
	var all []field
	for i := range t.NumField() {
		more, err := m.expand(t.Field(i), depth, optional)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			if all, err = place(all, f, t); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// expand returns what one field of a struct stands for: nothing, itself, or the fields of the struct it embeds.
func (m *maker) expand(sf reflect.StructField, depth int, optional bool) ([]field, error) {
	tag := sf.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	if tag == "-" {
		return nil, nil
	}
	inner, pointer := sf.Type, false
	if inner.Kind() == reflect.Pointer {
		inner, pointer = inner.Elem(), true
	}
	if sf.Anonymous && name == "" && inner.Kind() == reflect.Struct && known(sf.Type, m.output) == nil {
		if pointer && !sf.IsExported() {
			return nil, fmt.Errorf("an embedded pointer to %s cannot be decoded, because it is not exported", inner)
		}
		return m.fields(inner, depth+1, optional || pointer)
	}
	if !sf.IsExported() {
		return nil, nil
	}
	f := field{name: name, depth: depth, StructField: sf}
	if name == "" {
		f.name = sf.Name
	}
	f.skipped = has(options, "omitempty") && sf.Type.Kind() != reflect.Struct || has(options, "omitzero")
	f.optional = optional || f.skipped || has(options, "omitempty") || pointer && !m.output
	f.quoted = has(options, "string") && quotable(inner.Kind())
	return []field{f}, nil
}

// place adds f to all by the rule of encoding/json, which is Go's for promoted fields: the shallower one of a name wins.
// Two of the same depth it would drop both; that is refused here.
func place(all []field, f field, t reflect.Type) ([]field, error) {
	for i, other := range all {
		if other.name != f.name {
			continue
		}
		switch {
		case f.depth < other.depth:
			all[i] = f
		case f.depth == other.depth:
			return nil, fmt.Errorf("type %s has two fields that are both %q in JSON", t, f.name)
		}
		return all, nil
	}
	return append(all, f), nil
}

func has(options, word string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == word {
			return true
		}
	}
	return false
}

func quotable(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}
