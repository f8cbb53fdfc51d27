package plan

import "github.com/wrun-dev/wrun/internal/jq"

// maxNumber is how long a number may be that an expression sees, in bytes. The interpreter counts instructions, and one on a
// number takes a time that grows with the square of its length.
const maxNumber = 4096

// decode reads one JSON value; numbers keep their digits.
func decode(text []byte) (any, error) { return jq.Decode(text, maxNumber) }

// encode returns the one JSON text of a value, within what a plan may pass on.
func encode(v any) ([]byte, error) { return jq.Encode(v, MaxValue) }
