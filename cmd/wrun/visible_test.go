package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestVisibleIsTheSameJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,"ü 漢字"]}`:         `{"a":[1,"ü 漢字"]}`,
		"{\n\t\"a\": 1\r\n}":       "{\n\t\"a\": 1 \n}",
		"\"\u009b31m\u009c\"":      `"\u009b31m\u009c"`,
		"\"\u202eevil\u2066\"":     `"\u202eevil\u2066"`,
		"\"\ufeff\u200b\x7f\"":     `"\ufeff\u200b\u007f"`,
		"\"\U000e0041\U0010fffd\"": `"\udb40\udc41\udbff\udffd"`,
		"\"\u2028\"":               `"\u2028"`,
		"\"\x9b\"":                 `"\ufffd"`,
	} {
		got := visible([]byte(in))
		if string(got) != want {
			t.Errorf("visible(%q) = %s, want %s", in, got, want)
		}
		var a, b any
		if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("visible(%q) is %s, which is something else", in, got)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "\"\u202e\u009b\x9b\U000e0041\"", "[\n\"\u2028\"\t]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			return
		}
		got := visible(doc)
		if clean := toolabi.CleanText(string(got), len(got)); clean != string(got) {
			t.Errorf("visible(%q) = %q, of which cleaning leaves %q", doc, got, clean)
		}
		var a, b any
		if err := json.Unmarshal(doc, &a); err != nil {
			return // a number that no float64 holds
		}
		if err := json.Unmarshal(got, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("visible(%q) = %q, which is something else (%v)", doc, got, err)
		}
	})
}
