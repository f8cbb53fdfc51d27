package toolabi_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

var (
	hexBlock   = regexp.MustCompile("(?ms)^```hex (\\w+) (\\d+)\n(.*?)^```$")
	hexComment = regexp.MustCompile(`;.*|\s`)
)

func TestDocsGiveBytesThatAreMessages(t *testing.T) {
	doc := allDocs(t)
	blocks := hexBlock.FindAllStringSubmatch(doc, -1)
	seen := map[string]bool{}
	for _, m := range blocks {
		name, length := m[1], m[2]
		b, err := hex.DecodeString(hexComment.ReplaceAllString(m[3], ""))
		if err != nil || strconv.Itoa(len(b)) != length {
			t.Errorf("%s: %d bytes, want %s (%v)", name, len(b), length, err)
			continue
		}
		if messages[name] == nil {
			t.Errorf("%s is no message", name)
			continue
		}
		if err := toolabi.Decode(b, messages[name]()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "Manifest" {
			if _, err := toolabi.ParseManifest(b); err != nil {
				t.Error(err)
			}
		}
		seen[name+" "+length] = true
	}
	// The lengths that the text around the bytes speaks of.
	for want, text := range map[string]string{
		"Request 56": "`wrun_invoke(56)`", "HTTPRequest 115": "`http_send(ptr, 115)`", "HTTPReply 54": "It returns 54,",
		"Error 98": "it would have returned -98,", "Reply 16": "`output_write(ptr, 16) = 0`",
	} {
		if !seen[want] || !strings.Contains(doc, text) {
			t.Errorf("the example lacks %s or %q", want, text)
		}
	}
}

// What the documentation declares in C is what a guest declares that was compiled; http_send is declared as all its like.
func TestTheCOfTheDocumentationIsThatOfAGuest(t *testing.T) {
	guest, err := os.ReadFile("../internal/wasmtest/guests/keeper_c/keeper.c")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(abiDoc(t), "```c\n")
	block, _, _ = strings.Cut(block, "```")
	like := strings.NewReplacer(`"http_send"`, `"log"`, " http_send(", " wrun_log(", "req_ptr", "ptr", "req_len", "len")
	compiled := strings.Join(strings.Fields(string(guest)), " ")
	lines := 0
	for line := range strings.Lines(block) {
		declared := strings.TrimSuffix(strings.Join(strings.Fields(like.Replace(line)), " "), ";")
		if declared == "" {
			continue
		}
		if lines++; !strings.Contains(compiled, declared) {
			t.Errorf("the guest does not have %s", declared)
		}
	}
	if lines < 8 {
		t.Errorf("found %d lines", lines)
	}
}

// What the documentation says of how numbers and lengths are written.
func TestDocsGiveExamplesOfHeads(t *testing.T) {
	for v, said := range map[any]string{500: "500 is `%x`", -500: "-500 is `%x`", strings.Repeat("a", 24): "24 bytes begins with `%x`"} {
		b, err := toolabi.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		b = b[:len(b)-strings.Count(string(b), "a")] // a text without what is in it
		if want := strings.Replace(said, "%x", fmt.Sprintf("% x", b), 1); !strings.Contains(abiDoc(t), want) {
			t.Errorf("it does not say %s", want)
		}
	}
}

// The JSON of look-up and compensation is what the host writes and reads, with every field.
func TestDocsGiveTheEnvelopes(t *testing.T) {
	_, section, _ := strings.Cut(abiDoc(t), "\n### Look-up\n")
	blocks := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllStringSubmatch(section, -1)
	envelopes := []any{new(toolabi.LookupInput), new(toolabi.LookupOutput), new(toolabi.CompensateInput)}
	if len(blocks) != len(envelopes) {
		t.Fatalf("found %d blocks, want %d", len(blocks), len(envelopes))
	}
	for i, v := range envelopes {
		var short bytes.Buffer
		if err := json.Compact(&short, []byte(blocks[i][1])); err != nil {
			t.Fatal(err)
		}
		err := json.Unmarshal(short.Bytes(), v)
		if again, _ := json.Marshal(v); err != nil || string(again) != short.String() {
			t.Errorf("%s is read as %+v, %v", blocks[i][1], v, err)
		}
	}
	if _, err := toolabi.ParseLookupOutput([]byte(blocks[1][1])); err != nil {
		t.Error(err)
	}
}
