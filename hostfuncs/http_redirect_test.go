package hostfuncs_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// web is a server that is found under every name, remembers what it was asked, and answers a path with a redirect.
type web struct {
	*rawServer
	mu    sync.Mutex
	lines []string // "METHOD http://host/path" of each request
	heads []http.Header
}

// redirecting answers requests for host/path with raw, and all others with okReply.
func redirecting(t testing.TB, raw map[string]string) *web {
	w := new(web)
	w.rawServer = serveRaw(t, func(s *rawServer, c net.Conn) {
		if !s.readRequest(c) {
			return
		}
		s.mu.Lock()
		req := s.requests[len(s.requests)-1]
		s.mu.Unlock()
		w.mu.Lock()
		w.lines, w.heads = append(w.lines, req.Method+" "+req.Host+req.RequestURI), append(w.heads, req.Header)
		w.mu.Unlock()
		answer, ok := raw[req.Host+req.RequestURI]
		if !ok {
			answer = okReply
		}
		io.WriteString(c, answer)
	})
	return w
}

func (w *web) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lines)
}

func to(status int, location string) string {
	return fmt.Sprintf("HTTP/1.1 %d x\r\nLocation: %s\r\nContent-Length: 3\r\n\r\nxxx", status, location)
}

// everywhere finds all names of the tests at a public address, and whatever is dialled at w.
func (w *web) everywhere() hostfuncs.Config {
	return leadingTo(w.url, names{"a.example": {"1.1.1.1"}, "b.example": {"1.1.1.1"}, "inside.example": {"10.0.0.1"}})
}

func get(url string, redirects uint8) toolabi.HTTPRequest {
	return toolabi.HTTPRequest{Method: "GET", URL: url, Redirects: redirects}
}

func TestRedirectsAreFollowedWhereAToolAsksForIt(t *testing.T) {
	for _, tt := range []struct {
		name, from, location, want string
	}{
		{"absolute", "/x", "http://b.example/y?z", "b.example/y?z"},
		{"a host alone", "/x", "http://b.example", "b.example/"},
		{"a host in capitals and its port", "/x", "HTTP://B.EXAMPLE:80/y", "b.example/y"},
		{"same scheme", "/x", "//b.example/y", "b.example/y"},
		{"absolute path", "/x/y", "/z", "a.example/z"},
		{"relative path", "/x/y?q", "z", "a.example/x/z"},
		{"up", "/x/y/z", "../w", "a.example/x/w"},
		{"far up", "/x/y", "../../../../w/./v/..", "a.example/w/"},
		{"query", "/x/y?q", "?r", "a.example/x/y?r"},
		{"fragment", "/x", "/y#part", "a.example/y"},
		{"colon in a path", "/x", "./a:b", "a.example/a:b"},
		{"to itself once", "/x", "/x?", "a.example/x?"},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, method := range []string{"GET", "HEAD"} {
				w := redirecting(t, map[string]string{"a.example" + tt.from: to(status, tt.location)})
				req := get("http://a.example"+tt.from, 1)
				req.Method = method
				reply, err := fetch(t, w.everywhere(), granted("http://a.example", "http://b.example"), req)
				if err != nil || reply.Status != 200 || reply.URL != "http://"+tt.want {
					t.Errorf("%s, %d: got %+v, %v, want http://%s", tt.name, status, reply, err, tt.want)
				}
				if got := w.asked(); len(got) != 2 || got[1] != method+" "+tt.want {
					t.Errorf("%s, %d: asked for %q", tt.name, status, got)
				}
			}
		}
	}
}

func TestRedirectsThatAreTheReply(t *testing.T) {
	for name, raw := range map[string]string{
		"300":             to(300, "/y"),
		"304":             "HTTP/1.1 304 x\r\nLocation: /y\r\n\r\n",
		"305":             to(305, "http://b.example"),
		"306":             to(306, "/y"),
		"201":             to(201, "/y"),
		"without a place": "HTTP/1.1 302 x\r\nContent-Length: 3\r\n\r\nxxx",
	} {
		w := redirecting(t, map[string]string{"a.example/x": raw})
		reply, err := fetch(t, w.everywhere(), granted("http://a.example"), get("http://a.example/x", 5))
		if err != nil || reply.Status < 201 || reply.URL != "" || len(w.asked()) != 1 {
			t.Errorf("%s: got %+v, %v after %q", name, reply, err, w.asked())
		}
	}
}

func TestRedirectsThatAreRefused(t *testing.T) {
	twice := strings.Replace(to(302, "/y"), "\r\nContent", "\r\nLocation: /z\r\nContent", 1)
	for _, tt := range []struct {
		name, raw string
		code      toolabi.Code
	}{
		{"H09 to the metadata service", to(302, "http://169.254.169.254/latest/meta-data/"), toolabi.Denied},
		{"H09 to the metadata service in IPv6", to(302, "http://[::ffff:a9fe:a9fe]/"), unavailable},
		{"H09 to the metadata service in decimal", to(302, "http://2852039166/"), unavailable},
		{"H09 to a file", to(302, "file:///etc/passwd"), unavailable},
		{"H09 to a name that leads inside", to(307, "http://inside.example/"), toolabi.Denied},
		{"to loopback", to(302, "http://127.0.0.1:9/"), toolabi.Denied},
		{"to loopback in short", to(302, "http://127.1/"), unavailable},
		{"to localhost", to(302, "http://localhost/"), toolabi.Denied},
		{"to what is not granted", to(302, "http://c.example/"), toolabi.Denied},
		{"to another port", to(302, "http://b.example:8080/"), toolabi.Denied},
		{"to a path that is not granted", to(302, "http://b.example/private"), toolabi.Denied},
		{"to a path that could be read in two ways", to(302, "http://b.example/pub/%2e%2e/private"), toolabi.Denied},
		{"with user information", to(302, "http://secret:word@b.example/"), unavailable},
		{"to a host behind user information", to(302, "http://a.example@127.0.0.1/"), unavailable},
		{"to a backslash", to(302, `http://a.example\@127.0.0.1/`), unavailable},
		{"to a backslash for a slash", to(302, `/\127.0.0.1/`), unavailable},
		{"to javascript", to(302, "javascript:alert(1)"), unavailable},
		{"to data", to(302, "data:,x"), unavailable},
		{"to gopher", to(302, "gopher://127.0.0.1/"), unavailable},
		{"to a scheme alone", to(302, "http:"), unavailable},
		{"to a scheme and a path", to(302, "http:/x"), unavailable},
		{"to no host", to(302, "///x"), unavailable},
		{"to blanks", to(302, "/a b"), unavailable},
		{"to a NUL in percent", to(302, "http://b.example%00.a.example/"), unavailable},
		{"to letters beyond ASCII", to(302, "http://раypal.com/"), unavailable},
		{"to a path beyond ASCII", to(302, "/\xff\xfe"), unavailable},
		{"to a secret", to(302, "/{{secret:token}}"), unavailable},
		{"to a place of 10 kB", to(302, "/"+strings.Repeat("x", 10_000)), unavailable},
		{"to two places", twice, unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := redirecting(t, map[string]string{"a.example/x": tt.raw})
			_, err := fetch(t, w.everywhere(), granted("http://a.example", "GET http://b.example/pub", "http://inside.example"), get("http://a.example/x", 5))
			e := wantError(t, err, tt.code, toolabi.EffectApplied)
			if e.Detail != "redirect" || len(w.asked()) != 1 || strings.Contains(e.Message, "secret:word") || strings.Contains(e.Message, "{{") {
				t.Errorf("got %+v after %q", e, w.asked())
			}
		})
	}
}

func TestNoRedirectLeadsFromHTTPSToHTTP(t *testing.T) {
	srv := newTLSServer(t, http.RedirectHandler("http://example.com/", http.StatusFound))
	_, err := fetch(t, trusting(srv), granted("https://example.com", "http://example.com"), get("https://example.com/x", 5))
	if e := wantError(t, err, toolabi.Denied, toolabi.EffectApplied); e.Detail != "redirect" {
		t.Errorf("got %+v", e)
	}
}

// H09: to itself, 1,000 hops.
func TestRedirectsWithoutEndEnd(t *testing.T) {
	var mu sync.Mutex
	n := 0
	hops := serveRaw(t, func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			mu.Lock()
			n++
			io.WriteString(c, to(302, fmt.Sprintf("/hop%d", n)))
			mu.Unlock()
		}
	})
	itself := replies(t, to(301, "/x"))
	for _, s := range []*rawServer{hops, itself} {
		for _, most := range []uint8{1, toolabi.MaxRedirects} {
			before := s.count()
			var sent int64
			asked := 0
			c := granted(s.url)
			c.Sent = func(n int64) { sent = n; asked++ }
			_, err := fetch(t, hostfuncs.Config{}, c, get(s.url+"/x", most))
			e := wantError(t, err, unavailable, toolabi.EffectApplied)
			if got := s.count() - before; e.Detail != "redirect" || got != int(most)+1 || asked != 1 || sent < int64(got)*50 {
				t.Errorf("got %+v after %d requests of %d bytes in all, told %d times", e, got, sent, asked)
			}
		}
	}
}

func TestRedirectsAreForReadingAndHaveABound(t *testing.T) {
	const url = "http://127.0.0.1:9"
	_, err := fetch(t, noNetwork(t), granted(url), get(url, toolabi.MaxRedirects+1))
	wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	req := post(url)
	req.Redirects = 1
	_, err = send(t, noNetwork(t), granted(url), req)
	wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
}

// H09: 307 with a body is the reply; it is not sent again.
func TestARedirectOfWhatWasSentIsTheReply(t *testing.T) {
	w := redirecting(t, map[string]string{"a.example/charges": to(307, "http://b.example/charges")})
	reply, err := send(t, w.everywhere(), granted("http://a.example", "http://b.example"), post("http://a.example"))
	if err != nil || reply.Status != 307 || len(w.asked()) != 1 {
		t.Errorf("got %+v, %v after %q", reply, err, w.asked())
	}
}

// H09, CVE-2024-45336: what was dropped on the way to another origin is not restored on the way back.
func TestHeadersThatWereDroppedAreNotRestored(t *testing.T) {
	w := redirecting(t, map[string]string{
		"a.example/1": to(302, "/2"),
		"a.example/2": to(302, "http://b.example/3"),
		"b.example/3": to(302, "http://a.example/4"),
		"a.example/4": to(302, "http://a.example/5"),
	})
	req := get("http://a.example/1", 5)
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "www-authenticate", "Referer", "Origin", "Accept-Encoding", "accept", "Accept-Language", "Range", "User-Agent"} {
		req.Headers = append(req.Headers, toolabi.Header{Name: name, Value: "v"})
	}
	reply, err := fetch(t, w.everywhere(), granted("http://a.example", "http://b.example"), req)
	if err != nil || reply.URL != "http://a.example/5" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	mild := []string{"Accept", "Accept-Language", "Connection", "Range", "User-Agent"}
	for i, head := range w.heads {
		var got []string
		for name := range head {
			got = append(got, name)
		}
		slices.Sort(got)
		if i < 2 && len(got) != 12 {
			t.Errorf("hop %d on the first origin has %q", i, got)
		}
		if i >= 2 && !slices.Equal(got, mild) {
			t.Errorf("hop %d has %q, want %q", i, got, mild)
		}
	}
}

func TestAnotherSchemeOrPortIsAnotherOrigin(t *testing.T) {
	w := redirecting(t, map[string]string{"a.example/x": to(302, "http://a.example:8080/y")})
	req := get("http://a.example/x", 1)
	req.Headers = []toolabi.Header{{Name: "Authorization", Value: "v"}}
	if _, err := fetch(t, w.everywhere(), granted("http://a.example", "http://a.example:8080"), req); err != nil {
		t.Fatal(err)
	}
	if got := w.heads[1].Get("Authorization"); got != "" {
		t.Errorf("the other port was given %q", got)
	}
}

func TestOneDeadlineHoldsForAllHops(t *testing.T) {
	w := redirecting(t, map[string]string{"a.example/x": to(302, "/y"), "a.example/y": ""})
	cfg := w.everywhere()
	req := get("http://a.example/x", 5)
	req.TimeoutMS = 400
	stuck := serveRaw(t, func(_ *rawServer, c net.Conn) { untilGone(c) })
	n := 0
	dial := cfg.Dial
	other := leadingTo(stuck.url, nil).Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if n++; n > 1 {
			return other(ctx, network, address)
		}
		return dial(ctx, network, address)
	}
	_, err := fetch(t, cfg, granted("http://a.example"), req)
	if e := wantError(t, err, timedOut, unknown); e.Detail != "timeout" || n != 2 {
		t.Errorf("got %+v after %d connections", e, n)
	}
}

func TestAHopThatCannotBeReachedSaysWhatItCouldNot(t *testing.T) {
	w := redirecting(t, map[string]string{"a.example/x": to(302, "http://gone.example/")})
	_, err := fetch(t, w.everywhere(), granted("http://a.example", "http://gone.example"), get("http://a.example/x", 5))
	if e := wantError(t, err, unavailable, toolabi.EffectApplied); e.Detail != "dns" || e.Retry != toolabi.RetrySafe {
		t.Errorf("got %+v", e)
	}
}

func TestEachHopAsksWhetherItMayBeSent(t *testing.T) {
	w := redirecting(t, map[string]string{"a.example/x": to(302, "/y")})
	c := granted("http://a.example")
	n := 0
	c.BeforeSend = func() error {
		if n++; n == 2 {
			return io.ErrNoProgress
		}
		return nil
	}
	if _, err := fetch(t, w.everywhere(), c, get("http://a.example/x", 5)); err != io.ErrNoProgress || len(w.asked()) != 1 {
		t.Errorf("got %v after %q", err, w.asked())
	}
}

// FuzzLocation holds that whatever a server says, what is asked for next is below what was granted, or nothing is.
func FuzzLocation(f *testing.F) {
	for _, s := range []string{"/pub/y", "//b.example/", "../../x", "?q", "#f", "http://a.example/pub/%2e%2e/x", "//a.example@127.0.0.1/", "http:\\\\x", "/pub//../x", "/pub/./.", "%2e%2e/x", "..00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, location string) {
		if strings.ContainsAny(location, "\r\n") {
			return
		}
		var lines []string
		cfg := pipeTo(func(c net.Conn) {
			s := new(rawServer)
			if s.readRequest(c) {
				lines = append(lines, s.requests[0].Host+s.requests[0].RequestURI)
				io.WriteString(c, to(302, location))
			}
		})
		_, err := fetch(t, cfg, granted("GET http://h.example/pub"), toolabi.HTTPRequest{Method: "GET", URL: "http://h.example/pub/a/b", Redirects: 2, TimeoutMS: 10_000})
		if e := hostfuncs.AsError(err); err != nil && (e.Code == toolabi.Internal || e.Effect == toolabi.EffectNone) {
			t.Fatalf("%q gave %v", location, err)
		}
		for _, l := range lines {
			if !strings.HasPrefix(l, "h.example/pub/") && l != "h.example/pub" && !strings.HasPrefix(l, "h.example/pub?") || slices.Contains(strings.Split(strings.SplitN(l, "?", 2)[0], "/"), "..") {
				t.Fatalf("%q led to %q", location, l)
			}
		}
	})
}
