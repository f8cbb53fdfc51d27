package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// decodeStrict reads exactly one JSON object into the struct that v points to. Unknown names, names in another case,
// names given twice, null, invalid UTF-8 and anything after the object are refused.
func decodeStrict(b []byte, v any) error {
	if !utf8.Valid(b) {
		return errors.New("not UTF-8")
	}
	if err := checkNames(b, v); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

// checkNames looks at the names of the outer object, which encoding/json reads too kindly.
func checkNames(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("want a JSON object")
	}
	known, seen := names(v), map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if !known[name] || seen[name] {
			return fmt.Errorf("field %q is unknown or given twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if string(value) == "null" {
			return fmt.Errorf("field %q is null", name)
		}
	}
	return nil
}

// names returns the JSON names of the fields of the struct that v points to.
func names(v any) map[string]bool {
	out, t := map[string]bool{}, reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out[name] = true
	}
	return out
}
