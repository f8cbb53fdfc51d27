package runtime_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/runtime"
)

// What is told of a document is told again on a replay, and held against the log.
func TestTheSameDocumentIsRefusedInTheSameWords(t *testing.T) {
	for name, tt := range map[string]struct{ schema, doc, want string }{
		"properties": {
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"required":["d"],"additionalProperties":false}`,
			`{"a":1,"b":2,"c":3,"x":1,"y":2}`,
			`additional properties 'x', 'y' not allowed; at '/a': got number, want string; at '/b': got number, want string; at '/c': got number, want string; missing property 'd'`,
		},
		"names": {
			`{"additionalProperties":{"propertyNames":{"maxLength":1}}}`, `{"a":{"long":1},"b":{"longer":1}}`,
			`invalid propertyName 'long'; maxLength: got 4, want 1; invalid propertyName 'longer'; maxLength: got 6, want 1`,
		},
		"references": {
			`{"$defs":{"s":{"type":"string"}},"additionalProperties":{"$ref":"#/$defs/s"}}`, `{"b":1,"a":1,"c":1}`,
			`at '/a': got number, want string; at '/b': got number, want string; at '/c': got number, want string`,
		},
		"alternatives": {
			`{"anyOf":[{"properties":{"a":{"const":1},"b":{"const":2}}},{"type":"array"}]}`, `{"b":0,"a":0}`,
			`'anyOf' failed; at '/a': value must be 1; at '/b': value must be 2; got object, want array`,
		},
		"too many": {
			`{"items":{"type":"string"}}`, "[" + strings.Repeat("1,", 5000) + "1]",
			`5001 mistakes, which are too many to name`,
		},
	} {
		for range 50 {
			if err := runtime.CheckJSON([]byte(tt.schema), []byte(tt.doc)); err == nil || err.Error() != tt.want {
				t.Errorf("%s: got\n%v\nwant\n%s", name, err, tt.want)
				break
			}
		}
	}
}
