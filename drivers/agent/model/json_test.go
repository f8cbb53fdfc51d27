package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

func FuzzValid(f *testing.F) {
	for _, s := range []string{openAIWhole, anthropicWhole, `[]`, ` {"a":[1,-0.5e+9,true,false,null,"\u00e9\n"],"b":{}} `, `[1,]`, `01`, `-`, `1.`, `"\x"`, "\"\xff\"", `{"a"}`, `[[]`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := model.Valid(b), json.Valid(b); got != want {
			t.Fatalf("%q is valid: %t, want %t", b, got, want)
		}
	})
}

// TestDepthIsBounded holds maxDepth against encoding/json.
func TestDepthIsBounded(t *testing.T) {
	for _, n := range []int{9999, 10000, 10001} {
		b := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
		if got, want := model.Valid(b), json.Valid(b); got != want {
			t.Errorf("%d deep is valid: %t, want %t", n, got, want)
		}
	}
}
