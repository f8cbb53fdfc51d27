package fakemodel_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
)

const (
	chatHello = `{"model":"m","messages":[{"role":"user","content":"x"}]}`
	msgsHello = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`
)

func start(t *testing.T, cfg fakemodel.Config) *fakemodel.Server {
	t.Helper()
	s, err := fakemodel.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func replies(t testing.TB, text string) *script.Script {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answer is what came of one request.
type answer struct {
	status int
	body   string
	header http.Header
}

// ask sends one request on a connection of its own. The body is what came of it, also with an error.
func ask(ctx context.Context, method, url, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, strings.TrimSuffix(string(b), "\n"), res.Header}, err
}

func want(t *testing.T, status int, body, method, url, in string, header ...string) answer {
	t.Helper()
	got, err := ask(t.Context(), method, url, in, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	if got.status != status || !strings.Contains(got.body, body) {
		t.Errorf("%s %s = %d %s, want %d %s", method, url, got.status, got.body, status, body)
	}
	return got
}

func wantCount(t *testing.T, s *fakemodel.Server, requests, bills int) {
	t.Helper()
	if c := s.Count(); c.Requests != requests || c.Bills != bills {
		t.Errorf("count is %+v, want %d requests and %d bills", c, requests, bills)
	}
}

const wholeChat = `{"choices":[{"finish_reason":"stop","index":0,"logprobs":null,"message":{"content":"hello","refusal":null,"role":"assistant"}}],` +
	`"created":1700000001,"id":"chatcmpl-1","model":"m","object":"chat.completion",` +
	`"usage":{"completion_tokens":2,"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":12}}`

const wholeMessage = `{"content":[{"text":"hello","type":"text"}],"id":"msg_2","model":"m","role":"assistant","stop_reason":"end_turn","stop_sequence":null,"type":"message",` +
	`"usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":14,"output_tokens":2}}`

func TestBothProtocolsAreAnsweredAndBilled(t *testing.T) {
	s := start(t, fakemodel.Config{})
	if got := want(t, 200, "", "POST", s.URL()+"/v1/chat/completions", chatHello).body; got != wholeChat {
		t.Errorf("got\n%s\nwant\n%s", got, wholeChat)
	}
	if got := want(t, 200, "", "POST", s.URL()+"/v1/messages", msgsHello).body; got != wholeMessage {
		t.Errorf("got\n%s\nwant\n%s", got, wholeMessage)
	}
	want(t, 200, "hello", "POST", s.URL()+"/chat/completions", chatHello, "Idempotency-Key", "k")
	want(t, 200, `{"requests":3,"bills":3,"replayed":0,"keys":1,"tokens":40}`, "GET", s.URL()+"/count", "")
	bills := want(t, 200, "", "GET", s.URL()+"/bills", "").body
	var got []fakemodel.Bill
	if err := json.Unmarshal([]byte(bills), &got); err != nil {
		t.Fatal(err)
	}
	digest := func(body string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(body))) }
	if w := []fakemodel.Bill{
		{N: 1, Digest: digest(chatHello), Protocol: "chat", Tokens: 12}, {N: 2, Digest: digest(msgsHello), Protocol: "messages", Tokens: 16},
		{N: 3, Key: "k", Digest: digest(chatHello), Protocol: "chat", Tokens: 12},
	}; !reflect.DeepEqual(got, w) {
		t.Errorf("bills are %s", bills)
	}
}

func TestBadRequestsAreRefusedAndCostNothing(t *testing.T) {
	s := start(t, fakemodel.Config{Script: replies(t, "replies: [{when: .task == \"x\", say: a}]")})
	chat := func(messages, rest string) string { return `{"model":"m","messages":[` + messages + `]` + rest + `}` }
	msgs := func(messages, rest string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + messages + `]` + rest + `}`
	}
	const user, call = `{"role":"user","content":"x"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"i","type":"function","function":{"name":"t","arguments":"{"}}]}`
	const use = `{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"t","input":{}}]}`
	for _, c := range []struct{ name, path, body, want string }{
		{"no JSON", "/v1/chat/completions", `{`, "unexpected end"},
		{"not UTF-8", "/v1/chat/completions", chat(`{"role":"user","content":"`+"\xff"+`"}`, ""), "not UTF-8"},
		{"no model", "/v1/chat/completions", `{"messages":[` + user + `]}`, "model"},
		{"no messages", "/v1/chat/completions", chat("", ""), "there are none"},
		{"no reply", "/v1/chat/completions", chat(`{"role":"user","content":"y"}`, ""), "no reply of the script fits"},
		{"unknown role", "/v1/chat/completions", chat(`{"role":"friend","content":"y"}`, ""), "no role"},
		{"call without a result", "/v1/chat/completions", chat(user+","+call, ""), `the call \"i\" has no result`},
		{"call before the user", "/v1/chat/completions", chat(user+","+call+","+user, ""), `have no results`},
		{"result of another call", "/v1/chat/completions", chat(user+","+call+`,{"role":"tool","tool_call_id":"j","content":"1"}`, ""), `of no call`},
		{"result twice", "/v1/chat/completions", chat(user+","+call+`,{"role":"tool","tool_call_id":"i","content":"1"},{"role":"tool","tool_call_id":"i","content":"1"}`, ""), `of no call`},
		{"empty answer", "/v1/chat/completions", chat(user+`,{"role":"assistant"},`+user, ""), `needs content`},
		{"picture", "/v1/chat/completions", chat(`{"role":"user","content":[{"type":"image_url"}]}`, ""), `image_url`},
		{"name of a tool", "/v1/chat/completions", chat(user, `,"tools":[{"type":"function","function":{"name":"a.b"}}]`), `does not match`},
		{"tool twice", "/v1/chat/completions", chat(user, `,"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]`), `twice`},
		{"no max_tokens", "/v1/messages", `{"model":"m","messages":[` + user + `]}`, "max_tokens"},
		{"unknown role", "/v1/messages", msgs(`{"role":"system","content":"y"}`, ""), "no role"},
		{"empty text", "/v1/messages", msgs(`{"role":"user","content":""}`, ""), "non-empty"},
		{"empty answer", "/v1/messages", msgs(user+`,{"role":"assistant","content":[]},`+user, ""), "needs content"},
		{"empty message", "/v1/messages", msgs(`{"role":"user","content":[]}`, ""), "needs content"},
		{"call without a result", "/v1/messages", msgs(user+","+use+","+user, ""), `have no results`},
		{"result behind text", "/v1/messages", msgs(user+","+use+`,{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"i"}]}`, ""), `tool_result`},
		{"input that is no object", "/v1/messages", msgs(user+`,{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"t","input":"{"}]}`, ""), "has to be an object"},
		{"no schema", "/v1/messages", msgs(user, `,"tools":[{"name":"a"}]`), `input_schema`},
	} {
		t.Run(c.name, func(t *testing.T) { want(t, 400, c.want, "POST", s.URL()+c.path, c.body) })
	}
	want(t, 400, "anthropic-version", "POST", s.URL()+"/v1/messages", msgsHello, "Anthropic-Version", "")
	want(t, 400, "Idempotency-Key", "POST", s.URL()+"/v1/messages", msgsHello, "Idempotency-Key", strings.Repeat("k", 256))
	want(t, 413, "request_too_large", "POST", s.URL()+"/v1/messages", strings.Repeat(" ", 32<<20+1))
	if n := s.Count().Bills; n != 0 {
		t.Errorf("%d bills", n)
	}
}

func TestAKeyIsAskedForInTheWordsOfEachProtocol(t *testing.T) {
	s := start(t, fakemodel.Config{Key: "secret"})
	want(t, 401, `{"error":{"code":"invalid_api_key","message":"the API key is not the right one","param":null,"type":"invalid_request_error"}}`,
		"POST", s.URL()+"/v1/chat/completions", chatHello)
	want(t, 401, `{"error":{"message":"the API key is not the right one","type":"authentication_error"},"type":"error"}`,
		"POST", s.URL()+"/v1/messages", msgsHello, "X-Api-Key", "other")
	want(t, 200, "hello", "POST", s.URL()+"/v1/chat/completions", chatHello, "Authorization", "Bearer secret")
	want(t, 200, "hello", "POST", s.URL()+"/v1/messages", msgsHello, "X-Api-Key", "secret")
	wantCount(t, s, 4, 2)
}

// conversation is what a script sees of a request, whole.
const conversation = `replies: [{say: "${ {instructions, task, turn, results, tools, messages} }"}]`

const seenConversation = `{"instructions":"be kind","messages":[{"user":"x"},{"answer":{"calls":[{"arguments":"{\"n\":1}","id":"i","input":{"n":1},"tool":"t"}],"text":"a"}},` +
	`{"results":[{"call":"i","failed":false,"output":[1],"text":"[1]","tool":"t"}]}],"results":[{"call":"i","failed":false,"output":[1],"text":"[1]","tool":"t"}],` +
	`"task":"x","tools":["t"],"turn":1}`

func TestAScriptSeesTheSameInEitherProtocol(t *testing.T) {
	s := start(t, fakemodel.Config{Script: replies(t, conversation)})
	chat := want(t, 200, "", "POST", s.URL()+"/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"be kind"},
		{"role":"user","content":[{"type":"text","text":"x"}]},
		{"role":"assistant","content":"a","tool_calls":[{"id":"i","type":"function","function":{"name":"t","arguments":"{\"n\":1}"}}]},
		{"role":"tool","tool_call_id":"i","content":"[1]"}],"tools":[{"type":"function","function":{"name":"t"}}]}`)
	var c struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.Unmarshal([]byte(chat.body), &c); err != nil || c.Choices[0].Message.Content != seenConversation {
		t.Errorf("got\n%s\nwant\n%s, %v", c.Choices[0].Message.Content, seenConversation, err)
	}
	msgs := want(t, 200, "", "POST", s.URL()+"/v1/messages", `{"model":"m","max_tokens":9,"system":"be kind","messages":[{"role":"user","content":"x"},
		{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"i","name":"t","input":{"n":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":"[1]"}]}],"tools":[{"name":"t","input_schema":{}}]}`)
	var m struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(msgs.body), &m); err != nil || m.Content[0].Text != seenConversation {
		t.Errorf("got\n%s\nwant\n%s, %v", m.Content[0].Text, seenConversation, err)
	}
}

func TestCallsOfTheSameIdGetTheirResultsInOrder(t *testing.T) {
	s := start(t, fakemodel.Config{Script: replies(t, `replies: [{say: "${ [.results[] | .tool, .failed] }"}]`)})
	want(t, 200, `[\"a\",false,\"b\",true]`, "POST", s.URL()+"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},
		{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"a","input":{}},{"type":"tool_use","id":"i","name":"b","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":"1"},{"type":"tool_result","tool_use_id":"i","is_error":true}]}]}`)
}

func TestBillsOutliveTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bills")
	first := start(t, fakemodel.Config{File: file})
	want(t, 200, "", "POST", first.URL()+"/v1/messages", msgsHello, "Idempotency-Key", "k")
	bills := first.Bills()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"n":2,"dig`) // the process was killed here
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s := start(t, fakemodel.Config{File: file, Behaviour: fakemodel.Behaviour{HonourKeys: true}})
	if got := s.Bills(); !reflect.DeepEqual(got, bills) {
		t.Fatalf("bills are %+v, want %+v", got, bills)
	}
	a := want(t, 200, `"id":"msg_1"`, "POST", s.URL()+"/v1/messages", msgsHello, "Idempotency-Key", "k")
	if a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("headers %v", a.header)
	}
	want(t, 200, `"id":"msg_2"`, "POST", s.URL()+"/v1/messages", msgsHello)
	if got := len(s.Bills()); got != 2 {
		t.Errorf("%d bills, want 2", got)
	}
}

func TestABrokenFileIsRefused(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "x\n", "another number": `{"n":2,"digest":"` + strings.Repeat("0", 64) + `","protocol":"chat","tokens":1}` + "\n"} {
		file := filepath.Join(t.TempDir(), "bills")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fakemodel.New(fakemodel.Config{File: file}); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyLoopbackIsListenedOnUnlessTold(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:0"} {
		if s, err := fakemodel.Start(fakemodel.Config{Addr: addr}); err == nil {
			s.Close()
			t.Errorf("%s was listened on", addr)
		} else if !errors.Is(err, fakemodel.ErrConfig) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	start(t, fakemodel.Config{Addr: "0.0.0.0:0", Anywhere: true})
	start(t, fakemodel.Config{Addr: "localhost:0"})
}
