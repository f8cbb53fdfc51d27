package hostfuncs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/toolabi"
)

const okReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestSendReturnsTheReplyAsItIs(t *testing.T) {
	s := replies(t, "HTTP/1.1 402 Payment Required\r\nX-B: 2\r\nx-a: caf\xe9\r\nX-B: 1\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x00\xffok")
	reply, err := send(t, hostfuncs.Config{}, granted(s.url), post(s.url))
	if err != nil {
		t.Fatal(err)
	}
	want := []toolabi.Header{{Name: "Content-Encoding", Value: "gzip"}, {Name: "Content-Length", Value: "4"},
		{Name: "X-A", Value: "café"}, {Name: "X-B", Value: "2"}, {Name: "X-B", Value: "1"}}
	if reply.Status != 402 || string(reply.Body) != "\x00\xffok" || len(reply.Headers) != len(want) {
		t.Fatalf("got %+v", reply)
	}
	for i := range want {
		if reply.Headers[i] != want[i] {
			t.Errorf("header %d is %+v, want %+v", i, reply.Headers[i], want[i])
		}
	}
}

func TestSendWritesExactlyWhatItShould(t *testing.T) {
	var got []byte
	done := make(chan struct{})
	s := serveRaw(t, func(_ *rawServer, c net.Conn) {
		defer close(done)
		io.WriteString(c, okReply)
		got, _ = io.ReadAll(c)
	})
	c := granted(s.url)
	c.Key = "wrun-key-1"
	var sent int64
	c.Sent = func(n int64) { sent = n }
	req := toolabi.HTTPRequest{Method: "PATCH", URL: s.url + "/a%2fb/../c?q=1&r[]=%20", Body: []byte("\x00body"),
		Headers: []toolabi.Header{{Name: "X-Z", Value: "1"}, {Name: "x-a", Value: "é"}, {Name: "X-Z", Value: ""}}}
	if _, err := send(t, hostfuncs.Config{}, c, req); err != nil {
		t.Fatal(err)
	}
	<-done
	host := strings.TrimPrefix(s.url, "http://")
	want := "PATCH /a%2fb/../c?q=1&r[]=%20 HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nContent-Length: 5\r\n" +
		"Idempotency-Key: wrun-key-1\r\nX-Z: 1\r\nx-a: é\r\nX-Z: \r\nUser-Agent: wrun\r\n\r\n\x00body"
	if string(got) != want {
		t.Errorf("wrote %q\nwant  %q", got, want)
	}
	if sent != int64(len(want)) {
		t.Errorf("told of %d bytes, want %d", sent, len(want))
	}
}

func TestADroppedReplyOnAWarmServerIsOneRequestAndUnknown(t *testing.T) {
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		for s.readRequest(c) { // keeps the connection for as long as the client does
			s.mu.Lock()
			method := s.requests[len(s.requests)-1].Method
			s.mu.Unlock()
			if method == "POST" {
				return // acted, and gone without a reply
			}
			io.WriteString(c, okReply)
		}
	})
	c := granted(s.url)
	c.Key = "k"
	funcs := hostfuncs.Standard(hostfuncs.Config{})
	warm, err := toolabi.Encode(toolabi.HTTPRequest{Method: "GET", URL: s.url})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := funcs[4].Call(t.Context(), c, warm); err != nil {
			t.Fatal(err)
		}
	}
	charge, err := toolabi.Encode(post(s.url))
	if err != nil {
		t.Fatal(err)
	}
	_, err = funcs[5].Call(t.Context(), c, charge)
	e := wantError(t, err, toolabi.Unavailable, toolabi.EffectUnknown)
	if e.Retry != toolabi.RetryNever || s.count() != 4 {
		t.Errorf("got %+v after %d requests, want no retry and 4 requests", e, s.count())
	}
}

func TestTheLedgerCountsWhatWasSent(t *testing.T) {
	l, err := ledger.Start(ledger.Config{Behaviour: ledger.Behaviour{Drop: 1, HonourKeys: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := granted(l.URL())
	c.Key, c.Repeatable = "key-1", true
	req := toolabi.HTTPRequest{Method: "POST", URL: l.URL() + "/charges", Body: []byte(`{"account":"a","amount_cents":5,"reference":"r"}`)}
	_, err = send(t, hostfuncs.Config{}, c, req)
	if e := wantError(t, err, toolabi.Unavailable, toolabi.EffectUnknown); e.Retry != toolabi.RetrySafe {
		t.Errorf("retry = %d, want safe for what is repeatable", e.Retry)
	}
	reply, err := send(t, hostfuncs.Config{}, c, req)
	if err != nil || reply.Status != 201 || reply.Header("Idempotent-Replayed") != "true" {
		t.Errorf("got %+v, %v, want the first reply again", reply, err)
	}
	if got, want := l.Count(), (ledger.Count{Charges: 1, Replayed: 1}); got != want || l.Charges()[0].Key != "key-1" {
		t.Errorf("count = %+v, charges = %+v, want %+v under key-1", got, l.Charges(), want)
	}
}

func TestARefusedConnectionLeavesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	c := granted(url)
	c.BeforeSend = func() error { t.Error("asked for leave to send"); return nil }
	c.Sent = func(int64) { t.Error("told of bytes sent") }
	_, err = send(t, hostfuncs.Config{}, c, post(url))
	if e := wantError(t, err, toolabi.Unavailable, toolabi.EffectNone); e.Retry != toolabi.RetrySafe || e.Detail != "connect" {
		t.Errorf("got %+v, want a safe retry of connect", e)
	}
}

func TestBeforeSendDecidesWhetherAnythingLeaves(t *testing.T) {
	arrived := make(chan int64, 1)
	s := serveRaw(t, func(_ *rawServer, c net.Conn) {
		n, _ := io.Copy(io.Discard, c)
		arrived <- n
	})
	fenced := errors.New("the claim is gone")
	c := granted(s.url)
	asked := 0
	c.BeforeSend = func() error { asked++; return fenced }
	c.Sent = func(int64) { t.Error("told of bytes sent") }
	_, err := send(t, hostfuncs.Config{}, c, post(s.url))
	if err != fenced {
		t.Errorf("got %v, want the very error of BeforeSend", err)
	}
	if n := <-arrived; n != 0 || asked != 1 {
		t.Errorf("%d bytes arrived after %d questions, want none after one", n, asked)
	}
}

func TestBeforeSendIsAskedOnceAndBeforeTheFirstByte(t *testing.T) {
	ready := make(chan struct{})
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		one := make([]byte, 1)
		n, _ := c.Read(one)
		select {
		case <-ready:
		default:
			t.Errorf("%d bytes arrived before BeforeSend had answered", n)
		}
		if s.readRequest(&putBack{c, one}) {
			io.WriteString(c, okReply)
		}
	})
	c := granted(s.url)
	c.BeforeSend = func() error { close(ready); return nil } // a second close would panic
	req := post(s.url)
	req.Body = bytes.Repeat([]byte("x"), toolabi.MaxHTTPBody)
	if _, err := send(t, hostfuncs.Config{}, c, req); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bodies) != 1 || s.bodies[0] != string(req.Body) {
		t.Errorf("%d bodies arrived, want the one of %d bytes", len(s.bodies), len(req.Body))
	}
}

// putBack reads first what was taken from a connection before.
type putBack struct {
	net.Conn
	taken []byte
}

func (p *putBack) Read(b []byte) (int, error) {
	if len(p.taken) > 0 {
		n := copy(b, p.taken)
		p.taken = p.taken[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}

func TestAReplyBeforeTheWholeRequestWasReadIsAReply(t *testing.T) {
	s := serveRaw(t, func(_ *rawServer, c net.Conn) {
		io.ReadFull(c, make([]byte, 10))
		io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		untilGone(c)
	})
	req := post(s.url)
	req.Body = bytes.Repeat([]byte("x"), toolabi.MaxHTTPBody)
	reply, err := send(t, hostfuncs.Config{}, granted(s.url), req)
	if err != nil || reply.Status != 413 {
		t.Errorf("got %d, %v, want 413", reply.Status, err)
	}
}

func TestRedirectsAreReplies(t *testing.T) {
	var visits int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	reply, err := send(t, hostfuncs.Config{}, granted(srv.URL), post(srv.URL))
	if err != nil || reply.Status != 307 || reply.Header("Location") != "/elsewhere" || visits != 1 {
		t.Errorf("send: %+v, %v after %d visits", reply, err, visits)
	}
	reply, err = fetch(t, hostfuncs.Config{}, granted(srv.URL), toolabi.HTTPRequest{Method: "GET", URL: srv.URL})
	if err != nil || reply.Status != 307 || visits != 2 {
		t.Errorf("fetch: %+v, %v after %d visits", reply, err, visits)
	}
}

func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	proxy := serveRaw(t, func(_ *rawServer, c net.Conn) { t.Error("the proxy was asked"); untilGone(c) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.url)
	}
	s := replies(t, okReply)
	cfg := hostfuncs.Config{Resolver: names{"shop.example": {"1.1.1.1"}}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "1.1.1.1:80" {
			t.Errorf("dialled %s", address)
		}
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(s.url, "http://"))
	}}
	if _, err := send(t, cfg, granted("http://shop.example"), post("http://shop.example")); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsGrantedUnlessItIsNamed(t *testing.T) {
	s := replies(t, okReply)
	for name, tc := range map[string]struct {
		call hostfuncs.Call
		url  string
		flag string
	}{
		"no grants":               {hostfuncs.Call{}, s.url, "--allow-http " + s.url},
		"another port":            {granted(s.url + "1"), s.url, "--allow-http " + s.url},
		"another scheme":          {granted(strings.Replace(s.url, "http:", "https:", 1)), s.url, "--allow-http " + s.url},
		"a name that begins so":   {granted("https://api.example.com"), "https://api.example.com.evil.example", "--allow-http https://api.example.com.evil.example"},
		"outside the manifest":    {hostfuncs.Call{Grants: hostfuncs.Grants{HTTP: []string{s.url}}, Targets: []string{"https://api.example.com"}}, s.url, "manifest"},
		"a manifest alone":        {hostfuncs.Call{Targets: []string{s.url}}, s.url, "--allow-http"},
		"a manifest of nonsense":  {hostfuncs.Call{Grants: hostfuncs.Grants{HTTP: []string{s.url}}, Targets: []string{"*"}}, s.url, "manifest"},
		"an empty name in grants": {granted(""), s.url, "--allow-http"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ask := range []func() error{
				func() error {
					_, err := send(t, hostfuncs.Config{Resolver: names{}}, tc.call, post(tc.url))
					return err
				},
				func() error {
					_, err := fetch(t, hostfuncs.Config{Resolver: names{}}, tc.call, toolabi.HTTPRequest{Method: "GET", URL: tc.url})
					return err
				},
			} {
				if e := wantError(t, ask(), toolabi.Denied, toolabi.EffectNone); !strings.Contains(e.Message, tc.flag) {
					t.Errorf("message %q does not say %q", e.Message, tc.flag)
				}
			}
		})
	}
	c := granted(s.url)
	c.Targets = []string{"https://api.example.com", strings.ToUpper(s.url[:4]) + s.url[4:]}
	if _, err := send(t, hostfuncs.Config{}, c, post(s.url)); err != nil {
		t.Errorf("granted and named: %v", err)
	}
	if s.count() != 1 {
		t.Errorf("%d requests arrived, want the one that was granted", s.count())
	}
}

func TestTimeoutAndDescription(t *testing.T) {
	for _, tc := range []struct {
		req     toolabi.HTTPRequest
		timeout time.Duration
		says    string
	}{
		{toolabi.HTTPRequest{Method: "POST", URL: "https://API.example.com:443/charges?token=s#x"}, 30 * time.Second, "POST"},
		{toolabi.HTTPRequest{Method: "POST", URL: "https://API.example.com:443/charges?token=s"}, 30 * time.Second, "POST api.example.com/charges"},
		{toolabi.HTTPRequest{Method: "GET", URL: "http://[::1]:8080", TimeoutMS: 5}, 5 * time.Millisecond, "GET [::1]:8080/"},
		{toolabi.HTTPRequest{Method: "GET", URL: "https://u:secret@h/", TimeoutMS: 1 << 31}, 5 * time.Minute, "GET"},
		{toolabi.HTTPRequest{Method: "\x1b[31mPUT\n", URL: "http://h/" + strings.Repeat("a", 500)}, 30 * time.Second, "PUT  h/" + strings.Repeat("a", 193)},
	} {
		raw, err := toolabi.Encode(tc.req)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range hostfuncs.Standard(hostfuncs.Config{})[4:6] {
			if got := f.Timeout(raw); got != tc.timeout {
				t.Errorf("%s %.60s may take %s, want %s", f.Name, tc.req.URL, got, tc.timeout)
			}
			if got := f.Describe(raw); got != tc.says {
				t.Errorf("%s %.60s is described as %q, want %q", f.Name, tc.req.URL, got, tc.says)
			}
		}
	}
}

func TestFetchReads(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "" || r.Header.Get("Accept-Encoding") != "" || r.ContentLength != 0 {
			t.Errorf("a %s came with headers %v and %d bytes", r.Method, r.Header, r.ContentLength)
		}
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "hello")
	}))
	defer srv.Close()
	c := granted(srv.URL)
	c.Key = "unused"
	for method, body := range map[string]string{"GET": "hello", "HEAD": ""} {
		reply, err := fetch(t, hostfuncs.Config{}, c, toolabi.HTTPRequest{Method: method, URL: srv.URL})
		if err != nil || reply.Status != 200 || string(reply.Body) != body || reply.Header("Content-Length") != "5" {
			t.Errorf("%s = %+v, %v, want the body %q", method, reply, err, body)
		}
	}
}

func TestAFetchWithoutAReplyMayBeAskedAgain(t *testing.T) {
	s := replies(t, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
	_, err := fetch(t, hostfuncs.Config{}, granted(s.url), toolabi.HTTPRequest{Method: "GET", URL: s.url + "/x?token=hidden"})
	e := wantError(t, err, toolabi.Unavailable, toolabi.EffectUnknown)
	if e.Retry != toolabi.RetrySafe || strings.Contains(e.Message, "hidden") || s.count() != 1 {
		t.Errorf("got %+v after %d requests, want a safe retry, no query and one request", e, s.count())
	}
}
