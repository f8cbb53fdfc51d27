package toolabi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// Inputs that two readers could read differently are refused before anything is written.
func TestAmbiguousJSONIsRefused(t *testing.T) {
	for doc, ok := range map[string]bool{
		`{"a":1,"b":{"a":1}}`: true, `[{"a":1},{"a":2}]`: true, `{"a":[{"b":1}],"c":1}`: true, `"\ud83d\ude00"`: true, `"\\ud800"`: true,
		`9007199254740993`: true, `1e400`: true, `null`: true, `{"a":"a","b":"a"}`: true, `{}`: true, `[[],{},[{}]]`: true,
		`{"a":1,"a":2}`: false, `{"a":{"b":1,"b":1}}`: false, `[{"x":1,"\u0078":2}]`: false, `"\ud800"`: false, `"\udc00"`: false,
		`"\ud800\ud800"`: false, `"\uD83Dx"`: false, "\"\xff\"": false, `{} {}`: false, `{"a":1`: false, ``: false, " ": false, strings.Repeat("[", 2000) + strings.Repeat("]", 2000): false,
	} {
		if err := toolabi.StrictJSON([]byte(doc)); (err == nil) != ok {
			t.Errorf("%q: %v", doc, err)
		}
	}
}

// Whatever is accepted is JSON, and nothing of it makes the check fail in another way than with an error.
func FuzzStrictJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\ud83d\ude00"}]}`, `{"a":1,"a":2}`, `"\ud800"`, strings.Repeat("[", 50)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if toolabi.StrictJSON(doc) == nil && !json.Valid(doc) {
			t.Errorf("%q is accepted", doc)
		}
	})
}
