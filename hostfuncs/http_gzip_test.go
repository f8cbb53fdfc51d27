package hostfuncs_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// zip sends a reply with the header Content-Encoding: gzip.
func zip(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nX: y\r\n\r\n%s", len(body), body)
}

func TestGzipIsAskedForAndUndone(t *testing.T) {
	long := strings.Repeat("all work and no play ", 10_000)
	for name, tt := range map[string]struct{ raw, body string }{
		"gzip":             {zip(gzipped("hello")), "hello"},
		"x-gzip":           {strings.Replace(zip(gzipped("hello")), "gzip", "X-GZip", 1), "hello"},
		"with identity":    {strings.Replace(zip(gzipped("hello")), "gzip", "identity, gzip,", 1), "hello"},
		"long":             {zip(gzipped(long)), long},
		"empty":            {zip(gzipped("")), ""},
		"nothing at all":   {zip(""), ""},
		"chunked":          {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(gzipped("hello")), gzipped("hello")), "hello"},
		"not encoded":      {okReply, "ok"},
		"identity":         {"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", "ok"},
		"an error's body":  {strings.Replace(zip(gzipped("no")), "200", "503", 1), "no"},
		"a gzip in itself": {zip(gzipped(gzipped("hello"))), gzipped("hello")},
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, tt.raw)
			for _, fn := range []func(*testing.T, hostfuncs.Config, hostfuncs.Call, toolabi.HTTPRequest) (toolabi.HTTPReply, error){send, fetch} {
				req := toolabi.HTTPRequest{Method: "GET", URL: s.url, Decompress: true}
				if s.count() == 0 {
					req.Method = "POST"
				}
				reply, err := fn(t, hostfuncs.Config{}, granted(s.url), req)
				if err != nil || string(reply.Body) != tt.body {
					t.Fatalf("got %.100q, %v, want %.100q", reply.Body, err, tt.body)
				}
				undone := strings.Contains(tt.raw, "zip") && tt.body != "" || name == "empty"
				if undone && (reply.Header("Content-Encoding") != "" || reply.Header("Content-Length") != "") {
					t.Errorf("the headers tell of what is no longer there: %+v", reply.Headers)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, r := range s.requests {
				if got := r.Header["Accept-Encoding"]; len(got) != 1 || got[0] != "gzip" {
					t.Errorf("asked for %q", got)
				}
			}
		})
	}
}

func TestGzipThatIsNotWholeOrNotAloneIsAnError(t *testing.T) {
	z := gzipped("hello, hello, hello")
	damaged := []byte(z)
	damaged[len(damaged)-5] ^= 1 // of the checksum
	for name, raw := range map[string]string{
		"cut in the header":  zip(z[:5]),
		"cut in the middle":  zip(z[:15]),
		"cut in the trailer": zip(z[:len(z)-1]),
		"wrong checksum":     zip(string(damaged)),
		"garbage behind":     zip(z + "x"),
		"zeros behind":       zip(z + "\x00\x00\x00\x00"),
		"two gzips":          zip(z + z),
		"an empty one first": zip(gzipped("") + z),
		"plain":              zip("plain text"),
		"zlib":               zip("\x78\x9c\x03\x00\x00\x00\x00\x01"),
		"reserved bits":      zip("\x1f\x8b\x08\xff" + z[4:]),
		"br":                 strings.Replace(zip(z), "gzip", "br", 1),
		"gzip and br":        strings.Replace(zip(z), "gzip", "gzip, br", 1),
		"gzip twice":         strings.Replace(zip(z), "gzip", "gzip,gzip", 1),
		"chunked inside":     strings.Replace(zip(z), "gzip", "chunked", 1),
		"nonsense":           strings.Replace(zip(z), "gzip", "\"gzip\"", 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, raw)
			req := post(s.url)
			req.Decompress = true
			c := granted(s.url)
			c.Repeatable = true
			_, err := send(t, hostfuncs.Config{}, c, req)
			if e := wantError(t, err, unavailable, applied); e.Detail != "encoding" || e.Retry != toolabi.RetryNever || s.count() != 1 {
				t.Errorf("got %+v after %d requests, want no retry of what took place", e, s.count())
			}
		})
	}
	broken := replies(t, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n"+z[:15])
	req := post(broken.url)
	req.Decompress = true
	_, err := send(t, hostfuncs.Config{}, granted(broken.url), req)
	if e := wantError(t, err, unavailable, unknown); e.Detail != "closed" {
		t.Errorf("a connection that broke: got %+v", e)
	}
}

func TestTheCapsHoldBeforeAndAfterGzip(t *testing.T) {
	noise := func(n int) string { // that no gzip makes shorter
		b := make([]byte, n)
		x := uint64(88172645463325252)
		for i := range b {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			b[i] = byte(x)
		}
		return string(b)
	}
	stored := func(s string) string {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.NoCompression)
		io.WriteString(z, s)
		z.Close()
		return b.String()
	}
	repeated := strings.Repeat(noise(4<<10), toolabi.MaxHTTPBody/(4<<10)+1) // about 150 times shorter
	for name, tt := range map[string]struct {
		body string
		fits bool
	}{
		"as long as may be":        {stored(noise(toolabi.MaxHTTPBody - 2048)), true},
		"too long before":          {stored(noise(toolabi.MaxHTTPBody)), false},
		"too long after":           {gzipped(repeated), false},
		"as long after as may be":  {gzipped(repeated[:toolabi.MaxHTTPBody]), true},
		"a little of a bomb":       {gzipped(strings.Repeat("\x00", toolabi.MinHTTPInflation)), true},
		"a bomb of less than that": {gzipped(strings.Repeat("\x00", 3*toolabi.MinHTTPInflation)), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, zip(tt.body))
			req := post(s.url)
			req.Decompress = true
			_, err := send(t, hostfuncs.Config{}, granted(s.url), req)
			if tt.fits && err != nil {
				t.Errorf("%d bytes of gzip: %v", len(tt.body), err)
			}
			if !tt.fits {
				if e := wantError(t, err, tooLarge, applied); e.Detail != "status_200" {
					t.Errorf("got %+v", e)
				}
			}
		})
	}
}

func TestDecompressionIsTheHostsToAskFor(t *testing.T) {
	const url = "http://127.0.0.1:9"
	for _, name := range []string{"Accept-Encoding", "accept_encoding", "ACCEPT-ENCODING", "Range", "range"} {
		req := post(url)
		req.Decompress = true
		req.Headers = []toolabi.Header{{Name: name, Value: "bytes=0-1"}}
		_, err := send(t, noNetwork(t), granted(url), req)
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
	s := replies(t, zip("\x1f\x8bnot really"))
	req := post(s.url)
	req.Headers = []toolabi.Header{{Name: "Accept-Encoding", Value: "gzip, br"}}
	reply, err := send(t, hostfuncs.Config{}, granted(s.url), req)
	if err != nil || string(reply.Body) != "\x1f\x8bnot really" || reply.Header("Content-Encoding") != "gzip" {
		t.Errorf("got %+v, %v, want what a tool asked for itself as it came", reply, err)
	}
}

func TestTheReplyToHEADSaysHowItWouldBeEncoded(t *testing.T) {
	srv := newTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", "1000")
	}))
	reply, err := fetch(t, trusting(srv), granted("https://example.com"), toolabi.HTTPRequest{Method: "HEAD", URL: "https://example.com/", Decompress: true})
	if err != nil || reply.Header("Content-Encoding") != "gzip" || reply.Header("Content-Length") != "1000" || len(reply.Body) != 0 {
		t.Errorf("got %+v, %v", reply, err)
	}
}

// FuzzGzip holds that whatever a server sends under the name of gzip is undone to what Go's own reader makes of it, or is an error
// that a tool can see.
func FuzzGzip(f *testing.F) {
	f.Add([]byte(gzipped("hello")))
	f.Add([]byte(gzipped("hello") + gzipped("x")))
	f.Add([]byte(gzipped(strings.Repeat("x", 5000)))[:20])
	f.Add([]byte("\x1f\x8b\x08\x08"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg := pipeTo(func(c net.Conn) {
			if new(rawServer).readRequest(c) {
				io.WriteString(c, zip(string(raw)))
			}
		})
		reply, err := send(t, cfg, granted("http://h.example"), toolabi.HTTPRequest{Method: "POST", URL: "http://h.example", Decompress: true, TimeoutMS: 10_000})
		if err != nil {
			if e := hostfuncs.AsError(err); e.Effect != applied || e.Detail != "encoding" && e.Code != tooLarge {
				t.Fatalf("%x gave %v with effect %s", raw, err, e.Effect)
			}
			return
		}
		if len(raw) == 0 && len(reply.Body) == 0 {
			return
		}
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%x is no gzip and gave %q", raw, reply.Body)
		}
		if want, err := io.ReadAll(z); err != nil || !bytes.Equal(want, reply.Body) {
			t.Fatalf("%x gave %q, want %q, %v", raw, reply.Body, want, err)
		}
	})
}
