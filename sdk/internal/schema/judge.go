package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Judge holds a JSON value against the schema of an output, or of an input, of type t, as the host would, for tests
// that run without one. It knows the keywords that this package writes; date-time and base64 are left to the decoder.
func Judge(t reflect.Type, output bool, raw []byte) error {
	m := maker{output: output}
	n, err := m.of(t)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more follows after the value")
	}
	return n.judge("", v)
}

// judge holds v, which is at path, against n.
func (n *node) judge(path string, v any) error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("at %q: %s", path, fmt.Sprintf(format, a...))
	}
	kind := kindOf(v)
	if !n.takes(kind) {
		return bad("want %v, got %s", n.Type, kind)
	}
	if n.Enum != nil && !slices.ContainsFunc(n.Enum, func(e any) bool { return same(e, v) }) {
		return bad("%v is none of %v", v, n.Enum)
	}
	switch v := v.(type) {
	case json.Number:
		if n.Minimum != "" && exact(string(v)).Cmp(exact(string(n.Minimum))) < 0 || n.Maximum != "" && exact(string(v)).Cmp(exact(string(n.Maximum))) > 0 {
			return bad("%s is out of bounds", v)
		}
	case string:
		if size := uint64(utf8.RuneCountInString(v)); n.MinLength != nil && size < *n.MinLength || n.MaxLength != nil && size > *n.MaxLength {
			return bad("a text of %d characters is too short or too long", size)
		}
		if ok, err := regexp.MatchString(n.Pattern, v); err != nil || !ok {
			return bad("%q does not match %s", v, n.Pattern)
		}
	case []any:
		return n.judgeItems(path, v, bad)
	case map[string]any:
		return n.judgeMembers(path, v, bad)
	}
	return nil
}

func (n *node) judgeItems(path string, v []any, bad func(string, ...any) error) error {
	if n.MinItems != nil && len(v) < *n.MinItems || n.MaxItems != nil && len(v) > *n.MaxItems {
		return bad("%d elements are too few or too many", len(v))
	}
	if n.Items == nil {
		return nil
	}
	for i, item := range v {
		if err := n.Items.judge(fmt.Sprintf("%s/%d", path, i), item); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) judgeMembers(path string, v map[string]any, bad func(string, ...any) error) error {
	for _, name := range n.Required {
		if _, ok := v[name]; !ok {
			return bad("%s is missing", name)
		}
	}
	for name, value := range v {
		member := n.member(name)
		if member == nil {
			return bad("%s is not allowed", name)
		}
		if err := member.judge(path+"/"+name, value); err != nil {
			return err
		}
	}
	return nil
}

// member returns the schema of a member, nil when it is not allowed.
func (n *node) member(name string) *node {
	for _, p := range n.Properties {
		if p.name == name {
			return p.node
		}
	}
	if n.Additional == nil {
		return new(node)
	}
	return n.Additional.values
}

func (n *node) takes(kind string) bool {
	ok := func(word string) bool { return word == kind || word == "number" && kind == "integer" }
	switch t := n.Type.(type) {
	case string:
		return ok(t)
	case []string:
		return slices.ContainsFunc(t, ok)
	}
	return true
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if exact(string(v)).IsInt() {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func same(enum, v any) bool {
	want, ok1 := enum.(number)
	got, ok2 := v.(json.Number)
	if ok1 && ok2 {
		return exact(string(want)).Cmp(exact(string(got))) == 0
	}
	return enum == v
}

// exact returns a number with 256 bits of precision, which holds every 64-bit integer exactly; infinity for what is too
// large even so.
func exact(s string) *big.Float {
	f, _, err := big.ParseFloat(s, 10, 256, big.ToNearestEven)
	if err != nil {
		return new(big.Float).SetInf(false)
	}
	return f
}
