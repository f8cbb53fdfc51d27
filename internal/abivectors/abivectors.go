// Package abivectors reads the vectors of testdata/abi for the tests that hold an implementation of the ABI against them: the SDK's
// messages in Go, and the header for C.
package abivectors

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Vector is one file of testdata/abi, as its README explains.
type Vector struct {
	// Name is the file's, without its extension.
	Name    string          `json:"-"`
	Message string          `json:"message"` // a key of Messages
	CBOR    string          `json:"cbor"`
	Value   json.RawMessage `json:"value"`   // of a message
	Refused string          `json:"refused"` // a word for why it is no message; "" for one
}

// Read returns the vectors in a directory, by name.
func Read(tb testing.TB, dir string) []Vector {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 20 {
		tb.Fatalf("%d vectors in %s: %v", len(files), dir, err)
	}
	var all []Vector
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		v := Vector{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if err := decode(b, &v); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		if Messages[v.Message] == nil || (v.Value == nil) == (v.Refused == "") {
			tb.Fatalf("%s: want a known message, and either a value or a reason", file)
		}
		all = append(all, v)
	}
	return all
}

// Of returns the message that the vector is of, with its value in it.
func (v Vector) Of(tb testing.TB) any {
	tb.Helper()
	m := Messages[v.Message]()
	if err := decode(v.Value, m); err != nil {
		tb.Fatalf("%s: %v", v.Name, err)
	}
	return m
}

// Bytes returns the encoded message.
func (v Vector) Bytes(tb testing.TB) []byte {
	tb.Helper()
	b, err := hex.DecodeString(v.CBOR)
	if err != nil {
		tb.Fatalf("%s: %v", v.Name, err)
	}
	return b
}

// decode reads JSON without its white space, so that a schema is the shortest form of itself.
func decode(b []byte, v any) error {
	var short bytes.Buffer
	if err := json.Compact(&short, b); err != nil {
		return err
	}
	d := json.NewDecoder(&short)
	d.DisallowUnknownFields()
	return d.Decode(v)
}
