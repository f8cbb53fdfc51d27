package scaffold_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/scaffold"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// testCase is of a case what those of a new tool use.
type testCase struct {
	Name, Tool string
	Input      map[string]any
	World      struct {
		KV map[string]map[string]string `yaml:"kv"`
	}
	Expect struct {
		Output map[string]any
		Error  *struct{ Code, Message string }
		KV     map[string]map[string]string `yaml:"kv"`
		Logs   []string
	}
}

// A new tool is the same bytes wherever it is built, and does what its cases say, in whatever language it is.
func TestANewToolDoesWhatItsCasesSay(t *testing.T) {
	for _, lang := range scaffold.Langs {
		t.Run(string(lang), func(t *testing.T) {
			if lang == scaffold.C {
				needClang(t)
			}
			offline(t)
			list, err := scaffold.Files(lang, "numbers-2")
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "new")
			if err := scaffold.Write(dir, list); err != nil {
				t.Fatal(err)
			}
			wasm := build(t, dir)
			m, err := sandbox.Inspect(wasm)
			if err != nil {
				t.Fatal(err)
			}
			if m.Manifest.Name != "numbers-2" || !slices.Equal(m.Functions, []string{"log", "kv_get", "kv_cas"}) {
				t.Errorf("it is %s and imports %q", m.Manifest.Name, m.Functions)
			}
			elsewhere := filepath.Join(t.TempDir(), "some", "where", "else")
			if err := os.CopyFS(elsewhere, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if again := build(t, elsewhere); !bytes.Equal(wasm, again) {
				t.Error("in another directory it has other bytes")
			}
			g := load(t, wasm)
			for _, c := range cases(t, files(t, lang, "numbers-2")["cases/take.yaml"]) {
				t.Run(c.Name, func(t *testing.T) { g.holds(t, c) })
			}
		})
	}
}

func cases(t *testing.T, text string) []testCase {
	t.Helper()
	var doc struct {
		Format int `yaml:"wrun_test"`
		Cases  []testCase
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&doc); err != nil || doc.Format != 1 || len(doc.Cases) < 3 {
		t.Fatalf("%d cases of format %d, %v", len(doc.Cases), doc.Format, err)
	}
	return doc.Cases
}

// holds calls the tool of a case and holds it to what is expected.
func (g guest) holds(t *testing.T, c testCase) {
	input, err := json.Marshal(c.Input)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{keys: maps.Clone(c.World.KV["numbers-2"])}
	outcome, err := g.box.Invoke(t.Context(), toolabi.Invocation{Module: g.digest, Tool: c.Tool, Input: input}, w.answer)
	if err != nil {
		t.Fatal(err)
	}
	if want := c.Expect.Error; want != nil {
		if outcome.Err == nil || outcome.Err.Code.String() != want.Code || !strings.Contains(outcome.Err.Message, want.Message) {
			t.Errorf("it failed with %v, want %s: %s", outcome.Err, want.Code, want.Message)
		}
	} else if got := same(t, outcome.Output, c.Expect.Output); outcome.Err != nil || !got {
		t.Errorf("it returned %s, %v, want %v", outcome.Output, outcome.Err, c.Expect.Output)
	}
	if want := c.Expect.KV["numbers-2"]; !maps.Equal(w.keys, want) {
		t.Errorf("the store has %v, want %v", w.keys, want)
	}
	for _, want := range c.Expect.Logs {
		if !slices.ContainsFunc(w.logs, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("it logged %q, want %q", w.logs, want)
		}
	}
}

func same(t *testing.T, got []byte, want map[string]any) bool {
	t.Helper()
	var a, b any
	text, err := json.Marshal(want)
	if err != nil || json.Unmarshal(text, &b) != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(got, &a) != nil {
		return false
	}
	one, _ := json.Marshal(a)
	two, _ := json.Marshal(b)
	return string(one) == string(two)
}

// world has one store, and a log.
type world struct {
	keys map[string]string
	logs []string
}

func (w *world) answer(_ context.Context, function string, request []byte) (toolabi.Answer, error) {
	switch function {
	case toolabi.FuncLog:
		return reply(request, func(req toolabi.LogRequest) (toolabi.LogReply, *toolabi.Error) {
			w.logs = append(w.logs, req.Message)
			return toolabi.LogReply{}, nil
		})
	case toolabi.FuncKVGet:
		return reply(request, func(req toolabi.KVGetRequest) (toolabi.KVGetReply, *toolabi.Error) {
			value, found := w.keys[req.Key]
			if !found {
				return toolabi.KVGetReply{}, nil
			}
			return toolabi.KVGetReply{Found: true, Value: []byte(value), Version: 1}, nil
		})
	case toolabi.FuncKVCAS:
		return reply(request, func(req toolabi.KVCASRequest) (toolabi.KVPutReply, *toolabi.Error) {
			if _, found := w.keys[req.Key]; found != (req.Expect == 1) {
				return toolabi.KVPutReply{}, toolabi.NewError(toolabi.Conflict, "it has another version")
			}
			if w.keys == nil {
				w.keys = map[string]string{}
			}
			w.keys[req.Key] = string(req.Value)
			return toolabi.KVPutReply{Version: 2}, nil
		})
	}
	return toolabi.Answer{Err: toolabi.NewError(toolabi.Unsupported, function)}, nil
}

func reply[Req, Reply any](request []byte, answer func(Req) (Reply, *toolabi.Error)) (toolabi.Answer, error) {
	var req Req
	if err := toolabi.Decode(request, &req); err != nil {
		return toolabi.Answer{}, err
	}
	r, failed := answer(req)
	if failed != nil {
		return toolabi.Answer{Err: failed}, nil
	}
	b, err := toolabi.Encode(r)
	return toolabi.Answer{Reply: b}, err
}
