package jq_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/jq"
)

var here = jq.Place{Name: "a letter", Hints: map[string]string{"now": "write the date", "halt": ""}}

func TestWhatIsRefusedSaysWhereAndWhatInstead(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "there is nothing between ${ and }",
		".a | now":                 "now is not available in a letter: write the date",
		"env.HOME":                 "env is not available in a letter",
		"$ENV.HOME":                "$ENV is not available in a letter",
		"{$ENV}":                   "$ENV is not available in a letter",
		"[inputs]":                 "inputs is not available in a letter: the input is .input",
		"halt":                     "halt is not available in a letter",
		`strptime("%Z")`:           "strptime is only available with a constant format without %Z and %+: names of zones depend on the machine",
		"_modify(.a; .b)":          "_modify is internal to the interpreter",
		`import "a" as a; .`:       "modules are not available in a letter",
		".a +":                     "unexpected EOF at byte 4",
		"nope":                     "function not defined: nope/0",
		strings.Repeat("1+", 9000): "the expression has 18000 bytes, at most 16384 are allowed",
		".a # \x00":                "there is a zero byte in the expression",
		"def f: now; 1":            "now is not available in a letter: write the date",
		`"\(now)"`:                 "now is not available in a letter: write the date",
		"try now catch 1":          "now is not available in a letter: write the date",
		". as {(now): $x} | 1":     "now is not available in a letter: write the date",
	} {
		if _, _, err := jq.Compile(text, here); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

func TestAnExpressionGivesOneValue(t *testing.T) {
	root := map[string]any{"n": 7, "list": []any{1, 2}}
	for text, want := range map[string]string{
		".n + 1":                             "8<nil>",
		".list":                              "[1,2]<nil>",
		".none":                              "null<nil>",
		"empty":                              "it gives no value; where that can happen, write first(…, null)",
		".list[]":                            "it gives more than one value; put it in [ ] to make a list of them",
		`1, error("x")`:                      "error: x",
		`error("x")`:                         "error: x",
		"error([nan])":                       "it stops with an error that cannot be told: it gives NaN, which JSON does not have",
		"nan":                                "it gives NaN, which JSON does not have",
		`"x" * 2000000`:                      "as JSON it has more than 1048576 bytes",
		"reduce range(15000) as $i (0; [.])": "it is nested deeper than 10000 levels",
		"last(repeat(1))":                    "it takes more than 4000000 instructions",
	} {
		e, _, err := jq.Compile(text, here)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := outcome(t, e, root); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestExpressionsShareTheirWork(t *testing.T) {
	e, _, err := jq.Compile("reduce range(1000) as $i (0; . + $i)", here)
	if err != nil {
		t.Fatal(err)
	}
	work, done := jq.NewWork(100_000), 0
	for done < 100 {
		if _, err = e.Value(t.Context(), nil, work, maxSize); err != nil {
			break
		}
		done++
	}
	stopped := (*jq.WorkError)(nil)
	if !errors.As(err, &stopped) || stopped.Limit != 100_000 || done == 0 {
		t.Errorf("%d done, then %v; want some, then an end of the work", done, err)
	}
	if _, err := e.Value(t.Context(), nil, work, maxSize); !errors.As(err, &stopped) {
		t.Errorf("afterwards %v, want no more work", err)
	}
}

func TestAnEndedContextStopsAnExpression(t *testing.T) {
	e, _, err := jq.Compile("last(repeat(1))", here)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Value(ctx, nil, jq.NewWork(maxWork), maxSize); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context was cancelled", err)
	}
}

func TestANumberIsOnlySoLong(t *testing.T) {
	for text, long := range map[string]bool{
		"1234": false, "12345": true, "-123": false, "-1234": true, "1e-3": false, "1.2e3": true,
		`["12345", "\\", 1234]`: false, `["\"", 12345]`: true, `{"12345": [1234,5678]}`: false, `"\\12345"`: false,
		"true": false, "[1234, 5678]": false,
	} {
		_, err := jq.Decode([]byte(text), 4)
		if want := "it has a number of more than 4 bytes"; long != (err != nil) || long && err.Error() != want {
			t.Errorf("%s: got %v, long: %v", text, err, long)
		}
	}
}

// What can be read can be written, and that reads as the same again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"null", `{"a":[1,0.10,18446744073709551616,1e999]}`, `"\ud83d\ude00"`, `"\ud800"`, `"\u0000"`, "1 2", "\xff", "", "[[[]]]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := jq.Decode(text, len(text))
		if err != nil {
			return
		}
		once, err := jq.Encode(v, maxSize)
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", text, err)
		}
		again, err := jq.Decode(once, len(once))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		if twice, err := jq.Encode(again, maxSize); err != nil || string(twice) != string(once) {
			t.Fatalf("%q became %q, and that %q, %v", text, once, twice, err)
		}
	})
}
