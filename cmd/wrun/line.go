package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// line writes one JSON object to standard output.
func (a *app) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.document(visible(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
}

// write writes data to standard output, and says so when it cannot: a result that did not arrive is not a success.
func (a *app) write(b []byte) error {
	var err error
	a.live().without(func() { _, err = a.out.Write(b) })
	if err != nil {
		return &codedError{codeOutput, fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

// printf writes text for people to standard output.
func (a *app) printf(format string, args ...any) error {
	return a.write(fmt.Appendf(nil, format, args...))
}

// shown is bytes as JSON can hold them: the JSON that they are, a text, or base64.
func shown(b []byte) any {
	switch {
	case len(b) == 0:
		return nil
	case json.Valid(b):
		return json.RawMessage(b)
	case utf8.Valid(b):
		return string(b)
	}
	return map[string]string{"base64": base64.StdEncoding.EncodeToString(b)}
}
