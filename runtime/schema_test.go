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
		"formats": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`, `"today"`, `'today' is not valid date: it has another form`,
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

func TestANumberThatIsTooLargeIsRefusedAndNotComputedWith(t *testing.T) {
	const want = "a number has more than 1024 characters or an exponent over 1000, and cannot be held against a schema"
	for _, schema := range []string{`{"minimum":3}`, `{"type":"integer"}`, `{"multipleOf":0.1}`, `{"const":1}`, `{"items":{"enum":[1]},"additionalProperties":{"maximum":1}}`} {
		for _, number := range []string{"1e9999999", "1E+1001", "-1e-1001", "1e99999999999999999999", strings.Repeat("1", 1025)} {
			for _, doc := range []string{number, "[" + number + "]", `{"a":` + number + `}`} {
				if err := runtime.CheckJSON([]byte(schema), []byte(doc)); err == nil || err.Error() != want {
					t.Errorf("%s against %s: got %v", doc, schema, err)
				}
			}
		}
	}
	for _, doc := range []string{"1e1000", "1e-1000", "1e0001000", "9007199254740993", strings.Repeat("1", 1024), "1e400"} {
		if err := runtime.CheckJSON([]byte(`{"type":"number"}`), []byte(doc)); err != nil {
			t.Errorf("%s is refused: %v", doc, err)
		}
	}
	if err := runtime.CheckJSON(nil, []byte("1e9999999")); err != nil {
		t.Errorf("without a schema: %v", err)
	}
	for _, schema := range []string{`{"multipleOf":1e9999999}`, `{"minLength":1e9999999}`, `{"const":1e9999999}`} {
		if err := runtime.CheckSchema([]byte(schema)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v", schema, err)
		}
	}
}

// FuzzCheckJSON tries schemas and documents of others: whatever they are, they are judged, twice in the same words.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"minimum":3}`, `{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"propertyNames":{"pattern":"^a"}}`, `{"uniqueItems":true}`, `true`} {
		for _, d := range []string{`1e9999999`, `{"a":1,"b":2}`, `[1,1]`, `"x"`, ``} {
			f.Add([]byte(s), []byte(d))
		}
	}
	f.Fuzz(func(t *testing.T, schema, doc []byte) {
		one, two := runtime.CheckJSON(schema, doc), runtime.CheckJSON(schema, doc)
		if (one == nil) != (two == nil) || one != nil && one.Error() != two.Error() {
			t.Errorf("refused in other words:\n%v\n%v", one, two)
		}
	})
}
