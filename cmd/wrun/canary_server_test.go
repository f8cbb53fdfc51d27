package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// echo is a server that repeats the secret which it was sent, in the way that the path of the request says. To whom sends none
// it repeats another text.
type echo struct {
	*httptest.Server

	mu        sync.Mutex
	otherwise string   // guarded by mu
	got       []string // guarded by mu: the secrets that it was sent
	keys      []string // guarded by mu: the idempotency keys that it was sent
	held      chan struct{}
	once      sync.Once
}

func newEcho(t *testing.T, otherwise string) *echo {
	e := &echo{otherwise: otherwise, held: make(chan struct{})}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

func (e *echo) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	value, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	e.mu.Lock()
	e.got = append(e.got, value, string(body), r.URL.String())
	e.keys = append(e.keys, r.Header.Get("Idempotency-Key"))
	if !sent {
		value = e.otherwise
	}
	e.mu.Unlock()
	kind := strings.TrimPrefix(r.URL.Path, "/")
	switch kind {
	case "hold":
		<-r.Context().Done()
		return
	case "hold-once":
		first := false
		e.once.Do(func() { first = true })
		if first {
			close(e.held)
			<-r.Context().Done()
			return
		}
		kind = "json"
	}
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok && kind == "reset" {
		tcp.SetLinger(0)
		return
	}
	io.WriteString(conn, says(kind, value))
}

// say sets what is repeated to whom sends no secret.
func (e *echo) say(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.otherwise = text
}

// sent says whether the server was sent a value.
func (e *echo) sent(value string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, got := range e.got {
		if strings.Contains(got, value) {
			return true
		}
	}
	return false
}

// under returns the idempotency keys that the server was sent, each once.
func (e *echo) under() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(e.keys)))
}

// bodies are the kinds of replies that differ in their body.
var bodies = map[string]func(value string) string{
	"body":    func(v string) string { return "you said " + v + "." },
	"twice":   func(v string) string { return v + v },
	"basic":   func(v string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+v)) },
	"base64":  func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"urlsafe": func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte("it is " + v + "!")) },
	"hex":     func(v string) string { return hex.EncodeToString([]byte(v)) },
	"query":   func(v string) string { return "q=" + url.QueryEscape(v) },
	"json": func(v string) string {
		b, _ := json.Marshal(map[string]any{"headers": map[string]string{"Authorization": v}})
		return string(b)
	},
	"nested": func(v string) string { b, _ := json.Marshal(v); b, _ = json.Marshal(string(b)); return string(b) },
	"html":   func(v string) string { return "<p>" + html.EscapeString(v) + "</p>" },
	"large": func(v string) string {
		return strings.Repeat("0123456789", 20_000) + v + strings.Repeat("9876543210", 20_000)
	},
}

// says returns the bytes of a reply.
func says(kind, value string) string {
	plain := func(status, headers, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body)
	}
	if body, ok := bodies[kind]; ok {
		return plain("200 OK", "", body(value))
	}
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
	half := len(value) / 2
	switch kind {
	case "header":
		return plain("200 OK", "X-Echo: "+value+"\r\nSet-Cookie: session="+url.QueryEscape(value)+"\r\n", "ok")
	case "reason":
		return plain("200 "+value, "", "ok")
	case "error":
		return plain("500 Internal Server Error", "", "Traceback: bad token "+value)
	case "location":
		return plain("302 Found", "Location: /body?token="+url.QueryEscape(value)+"\r\n", "<a href=\"/?"+html.EscapeString(value)+"\">moved</a>")
	case "gzip":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, "you said "+value)
		z.Close()
		return plain("200 OK", "Content-Encoding: gzip\r\n", b.String())
	case "chunks":
		return chunked + fmt.Sprintf("\r\n%x;said=%q\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", half, value, value[:half], len(value)-half, value[half:])
	case "trailer":
		return chunked + "Trailer: X-Echo\r\n\r\n2\r\nok\r\n0\r\nX-Echo: " + value + "\r\n\r\n"
	case "cut":
		return "HTTP/1.1 200 OK\r\nX-Echo: " + value + "\r\nContent-Length: 1000\r\n\r\n" + value
	case "malformed":
		return "HTTP/1.1 200 OK\r\n" + value + "\r\n\r\n"
	case "babble":
		return value + "\r\n\r\n"
	}
	return plain("404 Not Found", "", "there is no "+kind)
}
