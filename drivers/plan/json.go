package plan

import "github.com/wrun-dev/wrun/internal/jq"

// decode reads one JSON value; numbers keep their digits.
func decode(text []byte) (any, error) { return jq.Decode(text, len(text)) }

// encode returns the one JSON text of a value, within what a plan may pass on.
func encode(v any) ([]byte, error) { return jq.Encode(v, MaxValue) }
