package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// look says that everything happened, with the request as the reply, unless it has no key.
func look(_ context.Context, in sdk.LookupInput) (sdk.LookupOutput, error) {
	if in.Key == "" {
		return sdk.LookupOutput{Verdict: toolabi.VerdictUnknown, Note: in.Announced}, nil
	}
	return sdk.LookupOutput{Verdict: toolabi.VerdictHappened, Reply: in.Request}, nil
}

type undone struct {
	Effects int             `json:"effects"`
	Output  json.RawMessage `json:"output"`
}

func undo(_ context.Context, in sdk.CompensateInput) (undone, error) {
	return undone{Effects: len(in.Effects), Output: json.RawMessage(in.Output)}, nil
}

func TestLookupIsATool(t *testing.T) {
	in := sdk.LookupInput{Tool: "do", Input: toolabi.RawJSON(`[1]`), Function: "http_send", Request: toolabi.RawJSON(`{"body":{"n":9007199254740993}}`),
		Announced: "2030-01-01T00:00:00Z"}
	for key, want := range map[string]toolabi.LookupOutput{
		"wrun-1": {Verdict: toolabi.VerdictHappened, Reply: in.Request}, "": {Verdict: toolabi.VerdictUnknown, Note: in.Announced},
	} {
		in.Key = key
		out, err := sdktest.Call(t, nil, "look", toJSON(t, in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := toolabi.ParseLookupOutput([]byte(out))
		if err != nil || got.Verdict != want.Verdict || string(got.Reply) != string(want.Reply) || got.Note != want.Note {
			t.Errorf("with key %q: %s is %+v, %v, want %+v", key, out, got, err, want)
		}
	}
	if _, err := sdktest.Call(t, nil, "look", `{"tool":"do"}`); !errors.Is(err, toolabi.BadInput) {
		t.Errorf("got %v, want bad_input", err)
	}
}

func TestCompensationIsATool(t *testing.T) {
	in := sdk.CompensateInput{Run: "r", Step: "s", Tool: "do", Input: toolabi.RawJSON(`{}`)}
	for effects, want := range []string{`{"effects":0,"output":null}`, `{"effects":1,"output":null}`} {
		in.Effects = make([]toolabi.CompensateEffect, effects)
		if out, err := sdktest.Call(t, nil, "undo", toJSON(t, in)); err != nil || out != want {
			t.Errorf("%d effects: got %s, %v, want %s", effects, out, err, want)
		}
	}
	in.Effects, in.Output = nil, toolabi.RawJSON(`{"id":1}`)
	if out, err := sdktest.Call(t, nil, "undo", toJSON(t, in)); err != nil || out != `{"effects":0,"output":{"id":1}}` {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestEnvelopesAreDescribed(t *testing.T) {
	m := sdktest.Manifest(t)
	look, _ := m.Tool("look")
	const out = `{"type":"object","properties":{"verdict":{"type":"string","enum":["happened","did_not_happen","unknown"]},` +
		`"reply":{"description":"with happened: what the function would have answered"},"note":{"type":"string","description":"for people"}},` +
		`"required":["verdict"],"additionalProperties":false}`
	if string(look.Output) != out {
		t.Errorf("look returns %s, want %s", look.Output, out)
	}
	undo, _ := m.Tool("undo")
	for tool, schema := range map[string]toolabi.RawJSON{"look": look.Input, "undo": undo.Input} {
		var s struct {
			Properties map[string]struct{ Type any }
			Required   []string
		}
		if err := json.Unmarshal(schema, &s); err != nil || len(s.Required) != 6 || s.Properties["input"].Type != nil || s.Properties["tool"].Type != "string" {
			t.Errorf("%s takes %s, %v", tool, schema, err)
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
