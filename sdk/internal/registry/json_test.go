package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

type amount struct {
	Cents int64  `json:"cents"`
	Note  string `json:"note"`
}

func TestInputIsReadExactly(t *testing.T) {
	var in amount
	if err := registry.ReadInput([]byte(" {\"cents\": 9007199254740993, \"note\": \"\\u003c\"}\n"), &in); err != nil {
		t.Fatal(err)
	}
	if want := (amount{9007199254740993, "<"}); in != want {
		t.Errorf("read %+v, want %+v", in, want)
	}
}

func TestInputIsRefused(t *testing.T) {
	for _, input := range []string{
		``, `{`, `[]`, `"x"`, `{"cents":"1"}`, `{"cents":1.5}`, `{"cents":9223372036854775808}`, `{"cents":1e400}`,
		`{"cents":1,"more":2}`, `{"cents":1} {}`, `{"cents":1}x`, "\ufeff{}", `{"cents":1,}`,
		strings.Repeat(`{"cents":`, 100_000),
	} {
		var in amount
		err := registry.ReadInput([]byte(input), &in)
		if !errors.Is(err, toolabi.BadInput) {
			t.Errorf("%.40q: got %v, want bad_input", input, err)
		}
	}
}

func TestOutputIsWrittenWithoutEscapesAndExactly(t *testing.T) {
	got, err := registry.WriteOutput(amount{9007199254740993, "<a&b>\u2028"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"cents":9007199254740993,"note":"<a&b>\u2028"}`; string(got) != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
}

func TestOutputThatHasNoFormInJSONIsBadOutput(t *testing.T) {
	nan := 0.0
	if _, err := registry.WriteOutput(map[string]any{"x": nan / nan}); !errors.Is(err, toolabi.BadOutput) {
		t.Errorf("got %v, want bad_output", err)
	}
}
