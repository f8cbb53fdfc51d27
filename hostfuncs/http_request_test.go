package hostfuncs_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// noNetwork fails the test when something is dialled.
func noNetwork(t *testing.T) hostfuncs.Config {
	return hostfuncs.Config{Resolver: names{}, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("%s was dialled", address)
		return nil, net.ErrClosed
	}}
}

func TestRequestsThatAreNotInOrderNeverReachTheNetwork(t *testing.T) {
	const url = "http://127.0.0.1:9"
	header := func(name, value string) toolabi.HTTPRequest {
		return toolabi.HTTPRequest{Method: "POST", URL: url, Headers: []toolabi.Header{{Name: name, Value: value}}}
	}
	cases := map[string]struct {
		req  toolabi.HTTPRequest
		code toolabi.Code
	}{
		"too many headers":  {toolabi.HTTPRequest{Method: "POST", URL: url, Headers: make([]toolabi.Header, 65)}, toolabi.TooLarge},
		"headers too long":  {header("X", strings.Repeat("v", toolabi.MaxHTTPHeaderBytes)), toolabi.TooLarge},
		"body too long":     {toolabi.HTTPRequest{Method: "POST", URL: url, Body: make([]byte, toolabi.MaxHTTPBody+1)}, toolabi.TooLarge},
		"timeout too long":  {toolabi.HTTPRequest{Method: "POST", URL: url, TimeoutMS: toolabi.MaxHTTPTimeout + 1}, toolabi.Invalid},
		"url too long":      {toolabi.HTTPRequest{Method: "POST", URL: url + "/" + strings.Repeat("a", 8<<10)}, toolabi.Invalid},
		"line break":        {header("X", "secret\r\nY: 1"), toolabi.Invalid},
		"bare line feed":    {header("X", "secret\nY: 1"), toolabi.Invalid},
		"bare return":       {header("X", "secret\rY: 1"), toolabi.Invalid},
		"nul":               {header("X", "secret\x00"), toolabi.Invalid},
		"delete":            {header("X", "secret\x7f"), toolabi.Invalid},
		"leading blank":     {header("X", " secret"), toolabi.Invalid},
		"empty name":        {header("", "secret"), toolabi.Invalid},
		"name with blank":   {header("X Y", "secret"), toolabi.Invalid},
		"name with colon":   {header("X:", "secret"), toolabi.Invalid},
		"name with break":   {header("X\r\nY", "secret"), toolabi.Invalid},
		"name beyond ascii": {header("É", "secret"), toolabi.Invalid},
	}
	for _, name := range []string{
		"Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY", "Idempotency_Key", "Host", "Connection", "Keep-Alive", "TE", "Trailer", "Upgrade",
		"Transfer-Encoding", "transfer_encoding", "Content-Length", "Content_Length", "Proxy-Authorization", "Proxy-Connection", "Proxy_Anything", "Expect", "HTTP2-Settings",
	} {
		cases["header "+name] = struct {
			req  toolabi.HTTPRequest
			code toolabi.Code
		}{header(name, "secret"), toolabi.Invalid}
	}
	for _, method := range []string{"", "GET", "get", "HEAD", "CONNECT", "connect", "TRACE", "PRI", "PO ST", "POST\r\n", "POST /x HTTP/1.1\r\nX:", "É", strings.Repeat("P", 33)} {
		cases["method "+method] = struct {
			req  toolabi.HTTPRequest
			code toolabi.Code
		}{toolabi.HTTPRequest{Method: method, URL: url}, toolabi.Invalid}
	}
	for _, u := range []string{
		"", "/x", "//h/x", "http:///x", "http://", "ftp://127.0.0.1:9/", "file:///etc/passwd", "http://user:secret@127.0.0.1:9/", url + "/#secret", url + "#x",
		url + "/a b", url + "/\r\nX: 1", url + "/\x00", url + "/\x7f", url + "/é", url + "/%", url + "/%2", url + "/%zz", url + `/\evil`, url + `\@evil/`, url + "/<x>",
		url + "?a b HTTP/1.1", "http://127.0.0.1:9@evil.example/", "http://127.1:9/", "http://[::ffff:127.0.0.1]:9/", " " + url, "http://*/",
	} {
		cases["url "+u] = struct {
			req  toolabi.HTTPRequest
			code toolabi.Code
		}{toolabi.HTTPRequest{Method: "POST", URL: u}, toolabi.Invalid}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "too many") {
				for i := range tc.req.Headers {
					tc.req.Headers[i].Name = "X"
				}
			}
			_, err := send(t, noNetwork(t), granted(url), tc.req)
			if e := wantError(t, err, tc.code, toolabi.EffectNone); strings.Contains(e.Message, "secret") {
				t.Errorf("the message shows a value: %s", e.Message)
			}
		})
	}
}

func TestFetchRefusesOtherMethodsAndBodies(t *testing.T) {
	const url = "http://127.0.0.1:9"
	for _, req := range []toolabi.HTTPRequest{
		{Method: "POST", URL: url}, {Method: "get", URL: url}, {Method: "", URL: url}, {Method: "GET\r\n", URL: url}, {Method: "GET", URL: url, Body: []byte("x")},
	} {
		_, err := fetch(t, noNetwork(t), granted(url), req)
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
}

func TestAKeyThatIsNoHeaderValueIsAFaultOfTheHost(t *testing.T) {
	c := granted("http://127.0.0.1:9")
	c.Key = "a\r\nX: 1"
	_, err := send(t, noNetwork(t), c, post("http://127.0.0.1:9"))
	if e := hostfuncs.AsError(err); err == nil || e.Code != toolabi.Internal {
		t.Errorf("got %v, want an internal error", err)
	}
}

// pipeTo is a configuration whose connections lead to serve.
func pipeTo(serve func(net.Conn)) hostfuncs.Config {
	return hostfuncs.Config{Resolver: names{"h.example": {"1.1.1.1"}}, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			serve(there)
		}()
		return here, nil
	}}
}

// FuzzRequestOnTheWire holds that whatever a tool asks for, what arrives is one request, with the method, the target and
// the header that it gave and with no other header than the host's own.
func FuzzRequestOnTheWire(f *testing.F) {
	f.Add("POST", "/charges?a=b", "X-Test", "value", []byte("body"))
	f.Add("PUT", "", "x", "a\r\nHost: evil", []byte(nil))
	f.Add("M-SEARCH", "?q", "Content-Length", "0", []byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add("POST", "/ HTTP/1.1\r\nX: y", "Transfer-Encoding", "chunked", []byte("0\r\n\r\n"))
	f.Add("POST ", "/é", "user-agent", "\tx", []byte("x"))
	f.Add("DELETE", "//evil.example/../%2e", "X", "\xc3\xa9", []byte{0})
	f.Fuzz(func(t *testing.T, method, target, name, value string, body []byte) {
		arrived := make(chan []byte, 1)
		cfg := pipeTo(func(c net.Conn) {
			var got bytes.Buffer
			req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &got)))
			if err == nil {
				io.Copy(io.Discard, req.Body)
			}
			arrived <- got.Bytes()
			io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		})
		_, err := send(t, cfg, granted("http://h.example"), toolabi.HTTPRequest{
			Method: method, URL: "http://h.example" + target, Headers: []toolabi.Header{{Name: name, Value: value}}, Body: body, TimeoutMS: 10_000})
		if err != nil {
			if e := hostfuncs.AsError(err); e.Effect != toolabi.EffectNone {
				t.Fatalf("sent, and failed with %v", err)
			}
			return
		}
		checkOneRequest(t, <-arrived, method, target, name, value, body)
	})
}

func checkOneRequest(t *testing.T, raw []byte, method, target, name, value string, body []byte) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(raw))
	req, err := http.ReadRequest(r)
	if err != nil {
		t.Fatalf("%q cannot be read: %v", raw, err)
	}
	got, err := io.ReadAll(req.Body)
	if err != nil || !bytes.Equal(got, body) {
		t.Fatalf("the body of %q is %q, %v, want %q", raw, got, err, body)
	}
	if rest, _ := io.ReadAll(r); len(rest) != 0 {
		t.Fatalf("%q follows the request in %q", rest, raw)
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	if req.Method != method || req.RequestURI != target || req.Host != "h.example" {
		t.Fatalf("%q is %s %s of %s", raw, req.Method, req.RequestURI, req.Host)
	}
	if got := req.Header.Get(name); got != value || len(req.Header) > 4 {
		t.Fatalf("header %s is %q in %q, want %q", name, got, raw, value)
	}
}
