package world

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/internal/jq"
)

// maxNumber is how long a number of JSON may be, in digits.
const maxNumber = 400

// maxValue is how long a value may be as JSON, in bytes.
const maxValue = 16 << 20

// Body is bytes, or a value that is compared, and written, as JSON.
type Body struct {
	// IsJSON says that it is the value JSON; Bytes is empty then.
	IsJSON bool
	JSON   any
	Bytes  []byte
	// Base64 says that Bytes was written as such, File where it was read from.
	Base64 bool
	File   string
}

// Text is a body of bytes.
func Text(s string) *Body { return &Body{Bytes: []byte(s)} }

// Raw returns its bytes: JSON without spaces, its keys sorted.
func (b *Body) Raw() []byte {
	switch {
	case b == nil:
		return nil
	case !b.IsJSON:
		return b.Bytes
	}
	text, err := jq.Encode(b.JSON, maxValue)
	if err != nil {
		return nil // what was read from YAML can be written
	}
	return text
}

// Is says whether raw is this body.
func (b *Body) Is(raw []byte) bool {
	if !b.IsJSON {
		return string(b.Bytes) == string(raw)
	}
	v, err := jq.Decode(raw, maxNumber)
	return err == nil && jq.Equal(b.JSON, v)
}

// BodyOf returns the body that reads best and is the same bytes to whoever compares: JSON where raw is an object or a list, text,
// or base64.
func BodyOf(raw []byte) *Body {
	switch v, err := jq.Decode(raw, maxNumber); {
	case len(raw) == 0:
		return nil
	case err != nil:
	default:
		switch v.(type) {
		case map[string]any, []any:
			return &Body{IsJSON: true, JSON: v}
		}
	}
	return &Body{Bytes: raw, Base64: !utf8.Valid(raw)}
}

// show returns bytes as people read them.
func show(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return "base64:" + base64.StdEncoding.EncodeToString(raw)
}
