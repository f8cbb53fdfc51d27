package tooltoml

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

// schema reads a JSON Schema: as a string of JSON, which is kept without its white space, or as a table, whose keys are put
// in order. A table cannot say everything: TOML has no null, and a fraction loses the digits that it does not need.
func (r *reader) schema(to *toolabi.RawJSON) take {
	return func(path string, v any) {
		switch v := v.(type) {
		case string:
			var short bytes.Buffer
			if err := toolabi.StrictJSON([]byte(v)); err != nil {
				r.fail(path, "want a JSON Schema, as JSON in a string or as a table: %v", err)
			} else if err := json.Compact(&short, []byte(v)); err != nil {
				r.fail(path, "want a JSON Schema, as JSON in a string or as a table: %v", err)
			}
			*to = short.Bytes()
		case map[string]any, bool:
			if !r.plain(path, v) {
				return
			}
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v); err != nil {
				r.fail(path, "it cannot be written as JSON: %v", err)
			}
			*to = bytes.TrimSpace(b.Bytes())
		default:
			r.fail(path, "want a JSON Schema, as JSON in a string or as a table, not %s", describe(v))
		}
	}
}

// plain refuses what JSON does not have.
func (r *reader) plain(path string, v any) bool {
	ok := true
	switch v := v.(type) {
	case string, bool, int64:
	case float64:
		if ok = !math.IsNaN(v) && !math.IsInf(v, 0); !ok {
			r.fail(path, "JSON has no %v", v)
		}
	case []any:
		for i, e := range v {
			ok = r.plain(fmt.Sprintf("%s[%d]", path, i), e) && ok
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			ok = r.plain(join(path, k), v[k]) && ok
		}
	default:
		r.fail(path, "JSON has no dates; quote it to make it a string")
		ok = false
	}
	return ok
}
