package toolabi_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// messages makes an empty message of each kind.
var messages = map[string]func() any{
	"Request":                func() any { return new(toolabi.Request) },
	"Reply":                  func() any { return new(toolabi.Reply) },
	"Error":                  func() any { return new(toolabi.Error) },
	"Manifest":               func() any { return new(toolabi.Manifest) },
	"Limits":                 func() any { return new(toolabi.Limits) },
	"LogRequest":             func() any { return new(toolabi.LogRequest) },
	"LogReply":               func() any { return new(toolabi.LogReply) },
	"ProgressRequest":        func() any { return new(toolabi.ProgressRequest) },
	"ProgressReply":          func() any { return new(toolabi.ProgressReply) },
	"ClockRequest":           func() any { return new(toolabi.ClockRequest) },
	"ClockReply":             func() any { return new(toolabi.ClockReply) },
	"RandomRequest":          func() any { return new(toolabi.RandomRequest) },
	"RandomReply":            func() any { return new(toolabi.RandomReply) },
	"HTTPRequest":            func() any { return new(toolabi.HTTPRequest) },
	"HTTPReply":              func() any { return new(toolabi.HTTPReply) },
	"ApproveRequest":         func() any { return new(toolabi.ApproveRequest) },
	"ApproveReply":           func() any { return new(toolabi.ApproveReply) },
	"SleepRequest":           func() any { return new(toolabi.SleepRequest) },
	"SleepReply":             func() any { return new(toolabi.SleepReply) },
	"ToolCallRequest":        func() any { return new(toolabi.ToolCallRequest) },
	"ToolCallReply":          func() any { return new(toolabi.ToolCallReply) },
	"SecretHasRequest":       func() any { return new(toolabi.SecretHasRequest) },
	"SecretHasReply":         func() any { return new(toolabi.SecretHasReply) },
	"ConfigGetRequest":       func() any { return new(toolabi.ConfigGetRequest) },
	"ConfigGetReply":         func() any { return new(toolabi.ConfigGetReply) },
	"KVGetRequest":           func() any { return new(toolabi.KVGetRequest) },
	"KVGetReply":             func() any { return new(toolabi.KVGetReply) },
	"KVPutRequest":           func() any { return new(toolabi.KVPutRequest) },
	"KVCASRequest":           func() any { return new(toolabi.KVCASRequest) },
	"KVPutReply":             func() any { return new(toolabi.KVPutReply) },
	"KVDeleteRequest":        func() any { return new(toolabi.KVDeleteRequest) },
	"KVDeleteReply":          func() any { return new(toolabi.KVDeleteReply) },
	"KVListRequest":          func() any { return new(toolabi.KVListRequest) },
	"KVListReply":            func() any { return new(toolabi.KVListReply) },
	"ArtifactPutRequest":     func() any { return new(toolabi.ArtifactPutRequest) },
	"ArtifactPutReply":       func() any { return new(toolabi.ArtifactPutReply) },
	"ArtifactGetRequest":     func() any { return new(toolabi.ArtifactGetRequest) },
	"ArtifactGetReply":       func() any { return new(toolabi.ArtifactGetReply) },
	"ArtifactStatRequest":    func() any { return new(toolabi.ArtifactStatRequest) },
	"ArtifactStatReply":      func() any { return new(toolabi.ArtifactStatReply) },
	"WorkspaceReadRequest":   func() any { return new(toolabi.WorkspaceReadRequest) },
	"WorkspaceReadReply":     func() any { return new(toolabi.WorkspaceReadReply) },
	"WorkspaceWriteRequest":  func() any { return new(toolabi.WorkspaceWriteRequest) },
	"WorkspaceWriteReply":    func() any { return new(toolabi.WorkspaceWriteReply) },
	"WorkspaceListRequest":   func() any { return new(toolabi.WorkspaceListRequest) },
	"WorkspaceListReply":     func() any { return new(toolabi.WorkspaceListReply) },
	"WorkspaceRemoveRequest": func() any { return new(toolabi.WorkspaceRemoveRequest) },
	"WorkspaceRemoveReply":   func() any { return new(toolabi.WorkspaceRemoveReply) },
	"MailSendRequest":        func() any { return new(toolabi.MailSendRequest) },
	"MailSendReply":          func() any { return new(toolabi.MailSendReply) },
}

// vector is one file of testdata/abi, as its README explains.
type vector struct {
	name    string
	Message string          `json:"message"`
	CBOR    string          `json:"cbor"`
	Value   json.RawMessage `json:"value"`
	Refused string          `json:"refused"`
}

// reasons are how Decode says what the README of the vectors calls by a word.
var reasons = map[string][]string{
	"truncated":         {"EOF"},
	"trailing":          {"extraneous data"},
	"duplicate_key":     {"duplicate map key"},
	"unknown_key":       {"unknown field"},
	"indefinite":        {"indefinite-length"},
	"tag":               {"tag isn't allowed"},
	"nesting":           {"max nested level"},
	"invalid_utf8":      {"invalid UTF-8"},
	"wrong_type":        {"cannot unmarshal"},
	"malformed":         {"is too large", `unexpected "break"`, "invalid additional information", "invalid simple value", "exceeded max number"},
	"not_deterministic": {"deterministic encoding"},
}

func TestVectorsDecodeToTheirValueAndEncodeToTheirBytes(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range vectors(t) {
		if v.Refused != "" {
			continue
		}
		seen[v.Message] = true
		t.Run(v.name, func(t *testing.T) {
			want := messages[v.Message]()
			if err := decodeJSON(v.Value, want); err != nil {
				t.Fatal(err)
			}
			got := messages[v.Message]()
			if err := toolabi.Decode(v.bytes(t), got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the bytes decode to %+v, want %+v", got, want)
			}
			b, err := toolabi.Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			if h := hex.EncodeToString(b); h != v.CBOR {
				t.Errorf("the value encodes to\n%s, want\n%s", h, v.CBOR)
			}
		})
	}
	for name := range messages {
		if !seen[name] {
			t.Errorf("testdata/abi has no vector of %s", name)
		}
	}
}

func TestVectorsThatAreNoMessageAreRefused(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Refused == "" {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			err := toolabi.Decode(v.bytes(t), messages[v.Message]())
			if err == nil {
				t.Fatal("decoded")
			}
			for _, reason := range reasons[v.Refused] {
				if strings.Contains(err.Error(), reason) {
					return
				}
			}
			t.Errorf("refused as %q, want a reason for %s", err, v.Refused)
		})
	}
}

func vectors(tb testing.TB) []vector {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "abi", "*.json"))
	if err != nil || len(files) < 20 {
		tb.Fatalf("%d vectors in testdata/abi: %v", len(files), err)
	}
	var all []vector
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		v := vector{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if err := decodeJSON(b, &v); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		if messages[v.Message] == nil || (v.Value == nil) == (v.Refused == "") {
			tb.Fatalf("%s: want a known message, and either a value or a reason", file)
		}
		all = append(all, v)
	}
	return all
}

// decodeJSON decodes b without its white space, so that a schema is the shortest form of itself.
func decodeJSON(b []byte, v any) error {
	var short bytes.Buffer
	if err := json.Compact(&short, b); err != nil {
		return err
	}
	d := json.NewDecoder(&short)
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (v vector) bytes(tb testing.TB) []byte {
	tb.Helper()
	b, err := hex.DecodeString(v.CBOR)
	if err != nil {
		tb.Fatalf("%s: %v", v.name, err)
	}
	return b
}
