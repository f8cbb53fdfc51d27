package toolabi_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/abivectors"
	"github.com/wrun-dev/wrun/toolabi"
)

// messages makes an empty message of each kind.
var messages = abivectors.Messages

func vectors(tb testing.TB) []abivectors.Vector { return abivectors.Read(tb, "../testdata/abi") }

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
		t.Run(v.Name, func(t *testing.T) {
			want := v.Of(t)
			got := messages[v.Message]()
			if err := toolabi.Decode(v.Bytes(t), got); err != nil {
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
		t.Run(v.Name, func(t *testing.T) {
			err := toolabi.Decode(v.Bytes(t), messages[v.Message]())
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
