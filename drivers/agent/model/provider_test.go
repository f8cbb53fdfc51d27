package model_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// heard is a request as it arrived.
type heard struct {
	line   string
	header http.Header
	body   string
}

// provider is a server on the loopback interface that speaks as the test tells it.
type provider struct {
	url   string
	serve func(c net.Conn, h heard)
	gone  chan struct{} // one for each connection that is done with

	mu       sync.Mutex // guards the rest
	requests []heard
	conns    int
	bytes    int64
	open     sync.WaitGroup
}

// startProvider serves each connection: it reads one request, and then serve has the connection, which is closed afterwards.
func startProvider(t *testing.T, serve func(c net.Conn, h heard)) *provider {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{url: "http://" + l.Addr().String(), serve: serve, gone: make(chan struct{}, 1<<16)}
	p.accept(t, l)
	return p
}

func (p *provider) accept(t *testing.T, l net.Listener) {
	conns := map[net.Conn]bool{}
	var mu sync.Mutex
	p.open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			p.open.Go(func() {
				p.handle(c)
				c.Close()
				p.gone <- struct{}{}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range conns {
			c.Close()
		}
		mu.Unlock()
		p.open.Wait()
	})
}

// counted counts what arrives.
type counted struct {
	io.Reader
	p *provider
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.bytes += int64(n)
	return n, err
}

func (p *provider) handle(c net.Conn) {
	p.mu.Lock()
	p.conns++
	p.mu.Unlock()
	r := bufio.NewReader(counted{c, p})
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	h := heard{req.Method + " " + req.RequestURI, req.Header, string(body)}
	p.mu.Lock()
	p.requests = append(p.requests, h)
	p.mu.Unlock()
	p.serve(c, h)
}

func (p *provider) arrived() ([]heard, int, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.conns, p.bytes
}

// says writes raw bytes.
func says(raw string) func(net.Conn, heard) {
	return func(c net.Conn, _ heard) { io.WriteString(c, raw) }
}

// reply is a whole HTTP answer with a length.
func reply(status int, body string, headers ...string) string {
	kind := "application/json"
	for _, h := range headers {
		if strings.HasPrefix(h, "Content-Type:") {
			kind = ""
		}
	}
	if kind != "" {
		headers = append(headers, "Content-Type: "+kind)
	}
	return fmt.Sprintf("HTTP/1.1 %d Status\r\n%s\r\nContent-Length: %d\r\n\r\n%s", status, strings.Join(headers, "\r\n"), len(body), body)
}

// streamed is a whole HTTP answer in chunks, one for each event.
func streamed(events ...string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
	for _, e := range events {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(e), e)
	}
	b.WriteString("0\r\n\r\n")
	return b.String()
}

const secret = "sk-test-0123456789"

func withKey(context.Context) (string, error) { return secret, nil }

// clients are both clients for a provider, with the answers that it could give.
type side struct {
	name   string
	client model.Client
	whole  string // an answer in one piece
	events []string
}

func sides(url string, stream bool) []side {
	e := model.Endpoint{BaseURL: url, Key: withKey, Stream: stream}
	return []side{
		{"openai", model.OpenAI(e), openAIWhole, openAIEvents},
		{"anthropic", model.Anthropic(e), anthropicWhole, anthropicEvents},
	}
}

const openAIWhole = `{"id":"chatcmpl-1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Grüße, ann","tool_calls":[{"id":"call_1","type":"function","function":{"name":"charge","arguments":"{\"n\":9007199254740993}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":20,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":5}}}`

var openAIEvents = []string{
	`data: {"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n",
	": a comment\n\n",
	`data: {"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"delta":{"content":"Grü"},"finish_reason":null}]}` + "\n\n",
	`data: {"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"delta":{"content":"ße, ann"},"finish_reason":null}]}` + "\n\n",
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"charge","arguments":""}}]}}]}` + "\n\n",
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":90071"}}]}}]}` + "\n\n",
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"99254740993}"}}]}}]}` + "\n\n",
	`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n",
	`data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":5}}}` + "\n\n",
	"data: [DONE]\n\n",
}

const anthropicWhole = `{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Grüße, ann"},{"type":"tool_use","id":"toolu_1","name":"charge","input":{"n":9007199254740993}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":15,"output_tokens":7,"cache_read_input_tokens":5,"cache_creation_input_tokens":3}}`

var anthropicEvents = []string{
	event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":15,"output_tokens":1,"cache_read_input_tokens":5,"cache_creation_input_tokens":3}}`),
	event("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`),
	event("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}`),
	event("content_block_delta", `"index":0,"delta":{"type":"signature_delta","signature":"c2ln"}`),
	event("content_block_stop", `"index":0`),
	"event: ping\ndata: {\"type\":\"ping\"}\n\n",
	event("content_block_start", `"index":1,"content_block":{"type":"text","text":""}`),
	event("content_block_delta", `"index":1,"delta":{"type":"text_delta","text":"Grü"}`),
	event("content_block_delta", `"index":1,"delta":{"type":"text_delta","text":"ße, ann"}`),
	event("content_block_stop", `"index":1`),
	event("content_block_start", `"index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"charge","input":{}}`),
	event("content_block_delta", `"index":2,"delta":{"type":"input_json_delta","partial_json":""}`),
	event("content_block_delta", `"index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\":90071"}`),
	event("content_block_delta", `"index":2,"delta":{"type":"input_json_delta","partial_json":"99254740993}"}`),
	event("content_block_stop", `"index":2`),
	event("message_delta", `"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":7}`),
	event("message_stop", ""),
}

func event(kind, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
}

// question is a request of one message.
func question(t *testing.T, c model.Client) []byte {
	t.Helper()
	b, err := c.Encode(model.Request{Model: "m-1", Messages: []model.Message{{User: "hello"}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// told returns the error that Send must give.
func told(t *testing.T, err error) *toolabi.Error {
	t.Helper()
	var e *toolabi.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %v, want a *toolabi.Error", err)
	}
	if strings.Contains(e.Error(), secret) {
		t.Errorf("the key stands in the error: %v", e)
	}
	return e
}

// patient is an attempt that no test waits for to end by itself.
func patient() model.Attempt { return model.Attempt{Key: "k-1", Timeout: time.Minute} }
