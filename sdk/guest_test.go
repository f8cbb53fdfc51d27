//go:build !wasip1

package sdk_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// guestCall is one call for testdata/host.js, which says what the fields mean.
type guestCall struct {
	Request string        `json:"request"`
	Answers []guestAnswer `json:"answers"`
}

type guestAnswer struct {
	Reply string `json:"reply,omitempty"`
	Error string `json:"error,omitempty"`
}

type guestOutcome struct {
	Code   int32  `json:"code"`
	Output string `json:"output"`
	Trap   string `json:"trap"`
	Asked  []struct {
		Name    string `json:"name"`
		Request string `json:"request"`
	} `json:"asked"`
}

func TestGuestAnswersThroughItsExports(t *testing.T) {
	reply := toolabi.HTTPReply{Status: 200, Body: []byte("a body of more than seven bytes")}
	denied := toolabi.NewError(toolabi.Denied, "not granted, and more than seven bytes")
	var many []guestAnswer
	for i := range 20 {
		many = append(many, guestAnswer{Reply: message(t, toolabi.RandomReply{Bytes: make([]byte, i+1)})})
	}
	cases := []struct {
		tool, input string
		answers     []guestAnswer
		want        toolabi.Reply
		asked       string // the functions used, joined with spaces
	}{
		{"clock", `{"n":0}`, answers(message(t, toolabi.ClockReply{UnixNano: -1})), output("1969-12-31T23:59:59.999999999Z"), "clock"},
		{"random", `{"n":9}`, answers(message(t, toolabi.RandomReply{Bytes: bytes.Repeat([]byte{0xab}, 9)})), output("ababababababababab"), "random"},
		{"http_fetch", `{"n":0}`, answers(message(t, reply)), output("a body of more than seven bytes"), "http_fetch"},
		{"http_send", `{"n":0}`, answers(message(t, reply)), output("a body of more than seven bytes"), "http_send"},
		{"http_send", `{"n":0}`, []guestAnswer{{Error: message(t, denied)}}, toolabi.Reply{Err: denied}, "http_send"},
		{"approve", `{"n":5}`, answers(message(t, toolabi.ApproveReply{By: "mia"})), output("mia"), "approve"},
		{"approve", `{"n":0}`, []guestAnswer{{Error: message(t, denied)}}, toolabi.Reply{Err: denied}, "approve"},
		{"sleep", `{"n":1}`, answers(message(t, toolabi.SleepReply{})), output(""), "sleep"},
		{"sleep", `{"n":0}`, nil, output(""), ""},
		{"sleep_until", `{"n":1900000000}`, answers(message(t, toolabi.SleepReply{})), output(""), "sleep"},
		{"tool_call", `{"n":4}`, answers(message(t, toolabi.ToolCallReply{Output: []byte(`{"text":"from another","more":1}`)})), output("from another"), "tool_call"},
		{"log", `{"n":0}`, nil, output(""), "log"},
		{"progress", `{"n":7}`, nil, output(""), "progress"},
		{"big", `{"n":3000}`, nil, output(strings.Repeat("x", 3000)), ""},
		{"crowded", `{"n":20}`, many, output("done"), strings.TrimSpace(strings.Repeat("random ", 20))},
		{"fail", `{"n":0}`, nil, toolabi.Reply{Err: toolabi.NewError(toolabi.Failed, "no \uFFFD luck")}, ""},
		{"big", `{"n":5000}`, nil, toolabi.Reply{Err: toolabi.NewError(toolabi.LimitOutput, "a reply of 5016 bytes is more than the call may write")}, ""},
		{"nothing", `{}`, nil, toolabi.Reply{Err: toolabi.NewError(toolabi.NotFound, `module has no tool "nothing"`)}, ""},
	}
	var calls []guestCall
	for _, c := range cases {
		calls = append(calls, guestCall{message(t, toolabi.Request{ABI: 1, Tool: c.tool, Input: []byte(c.input)}), c.answers})
	}
	for i, got := range enter(t, build(t, "./testdata/everything"), calls) {
		c := cases[i]
		if want := message(t, c.want); got.Code != 0 || got.Output != want || got.Trap != "" {
			t.Errorf("%s %s: got code %d, %s %s, want\n%s", c.tool, c.input, got.Code, got.Output, got.Trap, want)
		}
		var asked []string
		for _, a := range got.Asked {
			asked = append(asked, a.Name)
		}
		if names := strings.Join(asked, " "); c.tool != "crowded" && names != c.asked || len(asked) != len(strings.Fields(c.asked)) {
			t.Errorf("%s asked for %q, want %q", c.tool, names, c.asked)
		}
	}
}

func TestGuestRefusesWhatIsNoRequestAndDoesNotCatchPanics(t *testing.T) {
	crash := message(t, toolabi.Request{ABI: 1, Tool: "crash", Input: []byte(`{"n":0}`)})
	got := enter(t, build(t, "./testdata/everything"), []guestCall{{Request: "a0"}, {Request: crash}})
	if got[0].Code == 0 || got[0].Output != "" || got[0].Trap != "" {
		t.Errorf("a broken request gave code %d, output %q, trap %q", got[0].Code, got[0].Output, got[0].Trap)
	}
	if got[1].Output != "" || !strings.Contains(got[1].Trap, "unreachable") {
		t.Errorf("a panic gave code %d, output %q, trap %q, want a trap", got[1].Code, got[1].Output, got[1].Trap)
	}
}

func TestGuestDescribesItself(t *testing.T) {
	got := enter(t, build(t, "./testdata/everything"), []guestCall{{}})[0]
	b, err := hex.DecodeString(got.Output)
	if err != nil || got.Code != 0 {
		t.Fatalf("describe: code %d, %v", got.Code, err)
	}
	m, err := toolabi.ParseManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Tools) != 14 || len(m.Capabilities) != 3 || len(got.Asked) != 0 {
		t.Errorf("described %d tools and %d capabilities, asking for %v", len(m.Tools), len(m.Capabilities), got.Asked)
	}
}

func answers(reply string) []guestAnswer { return []guestAnswer{{Reply: reply}} }

func output(text string) toolabi.Reply {
	return toolabi.Reply{Output: []byte(`{"text":"` + text + `"}`)}
}

func message(t *testing.T, v any) string {
	t.Helper()
	b, err := toolabi.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

// enter makes each call in an instance of its own.
func enter(t *testing.T, module string, calls []guestCall) []guestOutcome {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("THE EXPORTS OF A GUEST WERE NOT TRIED: there is no node here to run it with")
	}
	for i := range calls {
		calls[i].Answers = append([]guestAnswer{}, calls[i].Answers...)
	}
	b, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "calls.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	run := exec.CommandContext(t.Context(), node, "--no-warnings", filepath.Join("testdata", "host.js"), module, file)
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("run the guest: %v\n%s", err, stderr.Bytes())
	}
	var outcomes []guestOutcome
	if err := json.Unmarshal(out, &outcomes); err != nil || len(outcomes) != len(calls) {
		t.Fatalf("%d outcomes of %d calls: %v", len(outcomes), len(calls), err)
	}
	return outcomes
}
