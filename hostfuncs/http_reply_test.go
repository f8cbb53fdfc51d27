package hostfuncs_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestRepliesThatAreInOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		raw    string
		status uint16
		body   string
	}{
		"length":                    {okReply, 200, "ok"},
		"chunked":                   {"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1;x=y\r\n!\r\n0\r\nX-T: 1\r\n\r\n", 201, "ok!"},
		"until the end":             {"HTTP/1.0 200 OK\r\n\r\nall of it", 200, "all of it"},
		"no reason":                 {"HTTP/1.1 204\r\n\r\n", 204, ""},
		"bare line feeds":           {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok"},
		"after interim ones":        {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 16) + okReply, 200, "ok"},
		"sent twice":                {okReply + okReply, 200, "ok"},
		"status 599":                {"HTTP/1.1 599 x\r\nContent-Length: 0\r\n\r\n", 599, ""},
		"304 with a length":         {"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", 304, ""},
		"binary":                    {"HTTP/1.1 500 \x1b[31m\r\nContent-Length: 3\r\n\r\n\x00\xff\xfe", 500, "\x00\xff\xfe"},
		"length twice alike":        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", 200, "ok"},
		"as many headers as may be": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("Set-Cookie: a\r\n", toolabi.MaxHTTPHeaders) + "\r\n", 200, ""},
		"as large as may be":        {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", toolabi.MaxHTTPBody) + strings.Repeat("x", toolabi.MaxHTTPBody), 200, strings.Repeat("x", toolabi.MaxHTTPBody)},
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, tc.raw)
			reply, err := send(t, hostfuncs.Config{}, granted(s.url), post(s.url))
			if err != nil || reply.Status != tc.status || string(reply.Body) != tc.body {
				t.Errorf("got %d %.40q (%d bytes), %v, want %d %.40q", reply.Status, reply.Body, len(reply.Body), err, tc.status, tc.body)
			}
			if s.count() != 1 {
				t.Errorf("%d requests, want 1", s.count())
			}
		})
	}
}

func TestRepliesThatBreakOffOrMakeNoSenseAreUnknown(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":                "",
		"half a status line":     "HTTP/1.1 20",
		"half the headers":       "HTTP/1.1 200 OK\r\nContent-Le",
		"status line only":       "HTTP/1.1 200 OK\r\n",
		"body too short":         "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
		"no last chunk":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
		"interim only":           "HTTP/1.1 100 Continue\r\n\r\n",
		"not http":               "SSH-2.0-x\r\n\r\n",
		"html":                   "<html>\n\n",
		"http/2":                 "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"http/0.9":               "HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n",
		"status 099":             "HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n",
		"status 600":             "HTTP/1.1 600 x\r\nContent-Length: 0\r\n\r\n",
		"status 1000":            "HTTP/1.1 1000 x\r\nContent-Length: 0\r\n\r\n",
		"status -20":             "HTTP/1.1 -20 x\r\nContent-Length: 0\r\n\r\n",
		"no status":              "HTTP/1.1 \r\n\r\n",
		"switching protocols":    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"17 interim ones":        strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 17) + okReply,
		"negative length":        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"two lengths":            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
		"length is a word":       "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok",
		"huge chunk size":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nok",
		"chunk size overflows":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok",
		"chunk garbage":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n0\r\n\r\n",
		"huge chunk extension":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" + strings.Repeat("x", 1<<20) + "\r\nok\r\n0\r\n\r\n",
		"unknown coding":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"header without a colon": "HTTP/1.1 200 OK\r\nX-Secret\r\n\r\n",
		"nul in a header":        "HTTP/1.1 200 OK\r\nX: \x00\r\nContent-Length: 0\r\n\r\n",
		"overlong status line":   "HTTP/1.1 200 " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, raw)
			req := post(s.url)
			req.Headers = []toolabi.Header{{Name: "Authorization", Value: "X-Secret"}}
			_, err := send(t, hostfuncs.Config{}, granted(s.url), req)
			e := wantError(t, err, toolabi.Unavailable, toolabi.EffectUnknown)
			if e.Retry != toolabi.RetryNever || strings.Contains(e.Message, "X-Secret") || s.count() != 1 {
				t.Errorf("got %+v after %d requests", e, s.count())
			}
		})
	}
}

func TestRepliesOverACapAreTooLargeAndTheServerHasActed(t *testing.T) {
	for name, raw := range map[string]string{
		"too many headers":   "HTTP/1.1 201 Created\r\n" + strings.Repeat("Set-Cookie: a\r\n", toolabi.MaxHTTPHeaders+1) + "\r\n",
		"one long header":    "HTTP/1.1 201 Created\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"many long headers":  "HTTP/1.1 201 Created\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 20) + "\r\n",
		"a length too large": "HTTP/1.1 201 Created\r\nContent-Length: 8388609\r\n\r\n",
		"a body too large":   "HTTP/1.1 201 Created\r\n\r\n" + strings.Repeat("x", toolabi.MaxHTTPBody+1),
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, raw)
			_, err := send(t, hostfuncs.Config{}, granted(s.url), post(s.url))
			e := wantError(t, err, toolabi.TooLarge, toolabi.EffectApplied)
			if e.Detail != "status_201" || e.Retry != toolabi.RetryNever {
				t.Errorf("got %+v, want the status in the detail", e)
			}
		})
	}
	s := replies(t, "HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n"+okReply)
	_, err := send(t, hostfuncs.Config{}, granted(s.url), post(s.url))
	wantError(t, err, toolabi.TooLarge, toolabi.EffectUnknown)
}

func TestEndlessRepliesEndAtACap(t *testing.T) {
	for name, tc := range map[string]struct {
		begin, again string
		code         toolabi.Code
		effect       toolabi.EffectState
	}{
		"body":    {"HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 32<<10), toolabi.TooLarge, toolabi.EffectApplied},
		"chunks":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "8000\r\n" + strings.Repeat("x", 32<<10) + "\r\n", toolabi.TooLarge, toolabi.EffectApplied},
		"headers": {"HTTP/1.1 200 OK\r\n", "X: y\r\n", toolabi.TooLarge, toolabi.EffectApplied},
		"interim": {"", "HTTP/1.1 100 Continue\r\n\r\n", toolabi.Unavailable, toolabi.EffectUnknown},
		"line":    {"", "xxxxxxxxxxxxxxxxxxxxxxxx", toolabi.Unavailable, toolabi.EffectUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, func(s *rawServer, c net.Conn) {
				s.readRequest(c)
				_, err := io.WriteString(c, tc.begin)
				for err == nil {
					_, err = io.WriteString(c, tc.again)
				}
			})
			_, err := send(t, hostfuncs.Config{}, granted(s.url), post(s.url))
			wantError(t, err, tc.code, tc.effect)
		})
	}
}

func TestAConnectionResetInTheMiddleIsUnknown(t *testing.T) {
	for name, begin := range map[string]string{"at once": "", "in the headers": "HTTP/1.1 200 OK\r\nX:", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, func(s *rawServer, c net.Conn) {
				s.readRequest(c)
				io.WriteString(c, begin)
				c.(*net.TCPConn).SetLinger(0)
			})
			_, err := send(t, hostfuncs.Config{}, granted(s.url), post(s.url))
			if e := wantError(t, err, toolabi.Unavailable, toolabi.EffectUnknown); e.Detail != "closed" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestTheTimeoutBoundsTheWholeExchange(t *testing.T) {
	for name, begin := range map[string]string{
		"no reply": "", "slow status": "HTTP/1.1", "slow headers": "HTTP/1.1 200 OK\r\nX: 1\r\n", "slow body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
		"slow chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, func(s *rawServer, c net.Conn) {
				s.readRequest(c)
				io.WriteString(c, begin)
				untilGone(c)
			})
			req := post(s.url)
			req.TimeoutMS = 100
			var sent int64
			c := granted(s.url)
			c.Sent = func(n int64) { sent = n }
			_, err := send(t, hostfuncs.Config{}, c, req)
			e := wantError(t, err, toolabi.Timeout, toolabi.EffectUnknown)
			if sent == 0 || !strings.Contains(e.Message, fmt.Sprintf("%d bytes were sent", sent)) {
				t.Errorf("%d bytes sent, message %q", sent, e.Message)
			}
		})
	}
}

func TestARequestThatIsNotReadEndsAtTheTimeout(t *testing.T) {
	gone := make(chan struct{})
	s := serveRaw(t, func(_ *rawServer, c net.Conn) {
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		<-gone
	})
	defer close(gone)
	req := post(s.url)
	req.Body, req.TimeoutMS = bytes.Repeat([]byte("x"), toolabi.MaxHTTPBody), 200
	var sent int64
	c := granted(s.url)
	c.Sent = func(n int64) { sent = n }
	_, err := send(t, hostfuncs.Config{}, c, req)
	wantError(t, err, toolabi.Timeout, toolabi.EffectUnknown)
	if sent == 0 || sent > toolabi.MaxHTTPBody {
		t.Errorf("told of %d bytes, want some and not all", sent)
	}
}

func TestAConnectionThatDoesNotComeAboutInTimeLeavesNothing(t *testing.T) {
	cfg := hostfuncs.Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	c := granted("http://127.0.0.1:9")
	c.Sent = func(int64) { t.Error("told of bytes sent") }
	req := post("http://127.0.0.1:9")
	req.TimeoutMS = 20
	_, err := send(t, cfg, c, req)
	if e := wantError(t, err, toolabi.Timeout, toolabi.EffectNone); e.Retry != toolabi.RetrySafe {
		t.Errorf("got %+v, want a safe retry", e)
	}
}

func TestGivingUpBeforeAndAfterTheRequestLeft(t *testing.T) {
	read := make(chan struct{})
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		s.readRequest(c)
		close(read)
		untilGone(c)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-read
		cancel()
	}()
	ask := func() error {
		_, err := use[toolabi.HTTPRequest, toolabi.HTTPReply](ctx, hostfuncs.Config{}, toolabi.FuncHTTPSend, granted(s.url), post(s.url))
		return err
	}
	if e := wantError(t, ask(), toolabi.Unavailable, toolabi.EffectUnknown); e.Detail != "given_up" {
		t.Errorf("got %+v", e)
	}
	wantError(t, ask(), toolabi.Unavailable, toolabi.EffectNone)
}

func TestCompressedRepliesStayCompressed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("asked for %q", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Write([]byte("\x1f\x8bnot really"))
	}))
	defer srv.Close()
	reply, err := send(t, hostfuncs.Config{}, granted(srv.URL), post(srv.URL))
	if err != nil || string(reply.Body) != "\x1f\x8bnot really" || reply.Header("Content-Encoding") != "gzip" {
		t.Errorf("got %+v, %v", reply, err)
	}
}

// FuzzReply holds that whatever a server sends comes out as a reply within the caps or as an error that a tool can see,
// and that nothing but a whole reply says more than "unknown".
func FuzzReply(f *testing.F) {
	for _, s := range []string{okReply, "", "HTTP/1.1 100 \r\n\r\nHTTP/1.1 204 \r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.0 200\n\nx", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "HTTP/1.1 301 x\r\nLocation: \xff\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nPragma: no-cache\r\nTrailer: X\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg := pipeTo(func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			c.Write(raw)
		})
		reply, err := send(t, cfg, granted("http://h.example"), toolabi.HTTPRequest{Method: "POST", URL: "http://h.example", TimeoutMS: 10_000})
		if err != nil {
			if e := hostfuncs.AsError(err); e.Code == toolabi.Internal || e.Effect == toolabi.EffectNone {
				t.Fatalf("%q gave %v with effect %s", raw, err, e.Effect)
			}
			return
		}
		if reply.Status < 200 || reply.Status > 599 || len(reply.Headers) > toolabi.MaxHTTPHeaders || len(reply.Body) > len(raw) {
			t.Fatalf("%q gave %+v", raw, reply)
		}
		for _, h := range reply.Headers {
			if !utf8.ValidString(h.Value) || strings.ContainsAny(h.Value, "\r\n\x00") {
				t.Fatalf("%q gave the header %+q", raw, h)
			}
		}
	})
}
