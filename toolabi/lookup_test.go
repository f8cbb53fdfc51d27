package toolabi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestLookupSaysWhatBecameOfACall(t *testing.T) {
	for text, want := range map[string]toolabi.LookupOutput{
		`{"verdict":"happened","reply":{"status":201,"body":{"id":9007199254740993}},"note":"found it"}`: {
			Verdict: toolabi.VerdictHappened, Reply: toolabi.RawJSON(`{"status":201,"body":{"id":9007199254740993}}`), Note: "found it"},
		` {"verdict":"happened", "reply": [1] } `:                          {Verdict: toolabi.VerdictHappened, Reply: toolabi.RawJSON(`[1]`)},
		`{"verdict":"did_not_happen"}`:                                     {Verdict: toolabi.VerdictDidNotHappen},
		`{"verdict":"unknown","reply":null,"note":"down"}`:                 {Verdict: toolabi.VerdictUnknown, Note: "down"},
		`{"verdict":"unknown","note":"` + strings.Repeat("é", 4000) + `"}`: {Verdict: toolabi.VerdictUnknown, Note: strings.Repeat("é", 2048)},
	} {
		got, err := toolabi.ParseLookupOutput([]byte(text))
		if err != nil || got.Verdict != want.Verdict || string(got.Reply) != string(want.Reply) || got.Note != want.Note {
			t.Errorf("%.80s became %+v, %v", text, got, err)
		}
	}
}

func TestLookupThatCouldBeMeantOtherwiseIsRefused(t *testing.T) {
	for text, why := range map[string]string{
		``:                                    "empty",
		`null`:                                "no JSON object",
		`[]`:                                  "no JSON object",
		`"happened"`:                          "no JSON object",
		`{}`:                                  `verdict ""`,
		`{"verdict":null}`:                    `verdict ""`,
		`{"verdict":"Happened"}`:              `verdict "Happened"`,
		`{"verdict":true}`:                    "cannot unmarshal",
		`{"verdict":"happened"}`:              "there is no reply",
		`{"Verdict":"unknown"}`:               `unknown field "Verdict"`,
		`{"verdict":"unknown"} {}`:            "more behind",
		`{"verdict":"happened","reply":null}`: "there is no reply",
		`{"verdict":"unknown","reply":{}}`:    "there is a reply",
		`{"verdict":"did_not_happen","reply":""}`:           "there is a reply",
		`{"verdict":"happened","reply":{},"more":1}`:        `unknown field "more"`,
		`{"verdict":"did_not_happen","verdict":"unknown"}`:  "twice",
		`{"verdict":"happened","reply":{"a":1,"a":2}}`:      "twice",
		`{"verdict":"unknown","note":1}`:                    "cannot unmarshal",
		"{\"verdict\":\"unknown\",\"note\":\"\xff\"}":       "not UTF-8",
		`{"verdict":"did_not_happen","verdıct":"happened"}`: "unknown field",
	} {
		got, err := toolabi.ParseLookupOutput([]byte(text))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s became %+v, %v; want it refused with %q", text, got, err, why)
		}
	}
}

// What was accepted is one of three verdicts, has a reply exactly when it happened, and reads the same when it is written.
func FuzzParseLookupOutput(f *testing.F) {
	for _, seed := range []string{`{"verdict":"happened","reply":{"status":200}}`, `{"verdict":"unknown","note":"\u0000"}`, `{"verdict":"did_not_happen"}`, `{"verdict":"happened","reply":"x","reply":1}`, "null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := toolabi.ParseLookupOutput(text)
		if err != nil {
			return
		}
		if (out.Verdict == toolabi.VerdictHappened) != (len(out.Reply) > 0) || len(out.Note) > toolabi.MaxText {
			t.Fatalf("%q became %+v", text, out)
		}
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		if again, err := toolabi.ParseLookupOutput(b); err != nil || again.Verdict != out.Verdict || again.Note != out.Note {
			t.Fatalf("%q was written as %s and became %+v, %v", text, b, again, err)
		}
	})
}
