package hostfuncs_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// use asks a standard host function of the given configuration.
func use[Req, Reply any](ctx context.Context, cfg hostfuncs.Config, name string, c hostfuncs.Call, req Req) (reply Reply, err error) {
	for _, f := range hostfuncs.Standard(cfg) {
		if f.Name != name {
			continue
		}
		raw, err := toolabi.Encode(req)
		if err != nil {
			return reply, err
		}
		out, err := f.Call(ctx, c, raw)
		if err != nil {
			return reply, err
		}
		return reply, toolabi.Decode(out, &reply)
	}
	return reply, errors.New("no such function")
}

// function returns a standard host function by its name.
func function(t testing.TB, name string) hostfuncs.Func {
	t.Helper()
	for _, f := range hostfuncs.Standard(hostfuncs.Config{Now: func() time.Time { return time.Unix(1000, 0) }}) {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no function %s", name)
	return hostfuncs.Func{}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := toolabi.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fetch(t *testing.T, cfg hostfuncs.Config, c hostfuncs.Call, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	t.Helper()
	return use[toolabi.HTTPRequest, toolabi.HTTPReply](t.Context(), cfg, toolabi.FuncHTTPFetch, c, req)
}

func send(t *testing.T, cfg hostfuncs.Config, c hostfuncs.Call, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	t.Helper()
	return use[toolabi.HTTPRequest, toolabi.HTTPReply](t.Context(), cfg, toolabi.FuncHTTPSend, c, req)
}

// granted is a call that may reach the origins.
func granted(origins ...string) hostfuncs.Call {
	return hostfuncs.Call{Grants: hostfuncs.Grants{HTTP: origins}}
}

func post(url string) toolabi.HTTPRequest {
	return toolabi.HTTPRequest{Method: "POST", URL: url + "/charges", Body: []byte(`{"amount":1}`)}
}

// wantError checks the code and the effect of an error that a tool can see.
func wantError(t *testing.T, err error, code toolabi.Code, effect toolabi.EffectState) *toolabi.Error {
	t.Helper()
	var e *toolabi.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a *toolabi.Error with %s", err, code)
	}
	if e.Code != code || e.Effect != effect {
		t.Fatalf("got %q with effect %s, want %s with effect %s", e.Error(), e.Effect, code, effect)
	}
	if e.Retry == 0 || len(e.Message) > toolabi.MaxText || len(e.Detail) > 64 {
		t.Errorf("error is not well formed: %+v", e)
	}
	return e
}

// rawServer is a TCP server that remembers the requests it read with readRequest.
type rawServer struct {
	url      string
	stop     func()     // closes everything and waits
	mu       sync.Mutex // guards the rest
	requests []*http.Request
	bodies   []string
}

// serveRaw serves each connection with fn and closes it afterwards. The test's end closes all of them and waits for fn.
func serveRaw(t testing.TB, fn func(s *rawServer, c net.Conn)) *rawServer {
	t.Helper()
	s := serveRawUntil(t, fn)
	t.Cleanup(s.stop)
	return s
}

// serveRawUntil is serveRaw until stop is called.
func serveRawUntil(t testing.TB, fn func(s *rawServer, c net.Conn)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + l.Addr().String()}
	var open sync.WaitGroup
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	open.Add(1)
	go func() {
		defer open.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			open.Add(1)
			go func() {
				defer open.Done()
				defer c.Close()
				fn(s, c)
			}()
		}
	}()
	s.stop = func() {
		l.Close()
		mu.Lock()
		for c := range conns {
			c.Close()
		}
		mu.Unlock()
		open.Wait()
	}
	return s
}

// readRequest reads one whole request and remembers it.
func (s *rawServer) readRequest(c net.Conn) bool {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return false
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.bodies = append(s.requests, req), append(s.bodies, string(body))
	return true
}

func (s *rawServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// replies serves every request with the same bytes and then closes.
func replies(t testing.TB, raw string) *rawServer {
	return serveRaw(t, func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			io.WriteString(c, raw)
		}
	})
}

// untilGone blocks until the other side of a connection is closed.
func untilGone(c net.Conn) { io.Copy(io.Discard, c) }

// leadingTo is a configuration that finds names in list, and whose every connection leads to the server at url.
func leadingTo(url string, list names) hostfuncs.Config {
	return hostfuncs.Config{Resolver: list, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		_, address, _ := strings.Cut(url, "://")
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}
