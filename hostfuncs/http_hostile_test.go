package hostfuncs_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// hostile is one server that means ill, and what a tool is told of it.
type hostile struct {
	name  string
	serve func(s *rawServer, c net.Conn) // has read nothing yet
	ask   func(*toolabi.HTTPRequest)     // changes the request; nil for a POST with a timeout of 10 s

	code   toolabi.Code // 0 for a reply
	detail string
	effect toolabi.EffectState
	reply  func(toolabi.HTTPReply) bool // what a reply has to be
	memory uint64                       // the most that may be allocated for it, server included; 0 means 4 MiB
}

// answering serves a request with what write writes.
func answering(write func(w io.Writer)) func(*rawServer, net.Conn) {
	return func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			write(c)
		}
	}
}

// saying writes parts and says no more.
func saying(parts ...string) func(*rawServer, net.Conn) {
	return func(s *rawServer, c net.Conn) {
		answering(func(w io.Writer) { io.WriteString(w, strings.Join(parts, "")) })(s, c)
		c.(*net.TCPConn).CloseWrite()
	}
}

// silentAfter writes begin, and keeps the connection.
func silentAfter(begin string) func(*rawServer, net.Conn) {
	return answering(func(w io.Writer) { io.WriteString(w, begin) })
}

// withoutEnd writes begin, and then again for as long as somebody reads.
func withoutEnd(begin, again string) func(*rawServer, net.Conn) {
	b := []byte(strings.Repeat(again, 1+(32<<10)/len(again)))
	return answering(func(w io.Writer) {
		_, err := io.WriteString(w, begin)
		for err == nil {
			_, err = w.Write(b)
		}
	})
}

// times writes begin, n times again, and end. Like withoutEnd it allocates nothing per write: how much is written before the client
// hangs up depends on buffers of the system, and would count as the client's memory.
func times(begin, again string, n int, end string) func(*rawServer, net.Conn) {
	b := []byte(again)
	return answering(func(w io.Writer) {
		io.WriteString(w, begin)
		for i := 0; i < n; i++ {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
		io.WriteString(w, end)
	})
}

// trickling writes one byte at a time, with pauses, for as long as somebody reads.
func trickling(begin string) func(*rawServer, net.Conn) {
	return answering(func(w io.Writer) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		_, err := io.WriteString(w, begin)
		for err == nil {
			<-tick.C
			_, err = io.WriteString(w, "x")
		}
	})
}

// reset breaks the connection off without a farewell.
func reset(begin string) func(*rawServer, net.Conn) {
	return func(s *rawServer, c net.Conn) {
		s.readRequest(c)
		io.WriteString(c, begin)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// bomb is a gzip of zeros without end.
func bomb(headers string) func(*rawServer, net.Conn) {
	zeros := make([]byte, 64<<10)
	return answering(func(w io.Writer) {
		io.WriteString(w, "HTTP/1.1 200 OK\r\n"+headers+"\r\n")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		var err error
		for err == nil {
			_, err = z.Write(zeros)
		}
	})
}

func impatient(r *toolabi.HTTPRequest)     { r.TimeoutMS = 400 }
func decompressing(r *toolabi.HTTPRequest) { r.Decompress = true }

func body(want string) func(toolabi.HTTPReply) bool {
	return func(r toolabi.HTTPReply) bool { return string(r.Body) == want }
}

const (
	unavailable, tooLarge, timedOut = toolabi.Unavailable, toolabi.TooLarge, toolabi.Timeout
	unknown, applied                = toolabi.EffectUnknown, toolabi.EffectApplied
	chunkedHead                     = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	gzipHead                        = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
)

var hostiles = []hostile{
	{name: "H01 accepts and never replies", serve: answering(func(io.Writer) {}), ask: impatient, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H01 accepts and never reads", serve: func(*rawServer, net.Conn) {}, ask: impatient, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H02 status line by the byte", serve: trickling("HTTP/1.1 200 "), ask: impatient, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H02 headers by the byte", serve: trickling("HTTP/1.1 200 OK\r\nX: "), ask: impatient, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H03 body by the byte", serve: trickling("HTTP/1.1 200 OK\r\n\r\n"), ask: impatient, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H03 gzip by the byte", serve: trickling(gzipHead + "\x1f\x8b\x08\x08aaaaaa"), ask: func(r *toolabi.HTTPRequest) { impatient(r); decompressing(r) }, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H04 infinite body", serve: withoutEnd("HTTP/1.1 200 OK\r\n\r\n", "x"), code: tooLarge, detail: "status_200", effect: applied, memory: 64 << 20},
	{name: "H04 infinite chunks", serve: withoutEnd(chunkedHead, "1000\r\n"+strings.Repeat("x", 4096)+"\r\n"), code: tooLarge, detail: "status_200", effect: applied, memory: 64 << 20},
	{name: "H04 infinite empty chunk lines", serve: withoutEnd(chunkedHead, "00000000000000000000000000000000"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H04 infinite trailers", serve: withoutEnd(chunkedHead+"0\r\n", "X: y\r\n"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H05 gzip bomb", serve: bomb("Content-Encoding: gzip\r\n"), ask: decompressing, code: tooLarge, detail: "status_200", effect: applied, memory: 24 << 20},
	{name: "H05 gzip that was not asked for stays what it is", serve: saying(gzipHead, gzipped("x")), reply: body(gzipped("x"))},
	{name: "H05 two layers in name", serve: saying("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n", gzipped(gzipped("x"))), ask: decompressing, code: unavailable, detail: "encoding", effect: applied},
	{name: "H05 two layers in two headers", serve: saying("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n", gzipped(gzipped("x"))), ask: decompressing, code: unavailable, detail: "encoding", effect: applied},
	{name: "H05 two layers in fact", serve: saying(gzipHead, gzipped(gzipped("x"))), ask: decompressing, reply: body(gzipped("x"))},
	{name: "H05 another encoding", serve: saying("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nxx"), ask: decompressing, code: unavailable, detail: "encoding", effect: applied},
	{name: "H05 deflate", serve: saying("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nxx"), ask: decompressing, code: unavailable, detail: "encoding", effect: applied},
	{name: "H05 not what it says", serve: saying(gzipHead, "plain text, and no gzip at all"), ask: decompressing, code: unavailable, detail: "encoding", effect: applied},
	{name: "H05 endless name in the gzip", serve: withoutEnd(gzipHead+"\x1f\x8b\x08\x08aaaaaa", "n"), ask: decompressing, code: unavailable, detail: "encoding", effect: applied},
	{name: "H06 length larger than the body", serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"), code: unavailable, detail: "closed", effect: unknown},
	{name: "H06 length smaller than the body", serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more"), reply: body("ok")},
	{name: "H06 negative length", serve: saying("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H06 two lengths", serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H06 two lengths in one", serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok!"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H06 length over all numbers", serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H07 chunk of all bits", serve: saying(chunkedHead, "ffffffffffffffff\r\nok"), code: unavailable, detail: "closed", effect: unknown},
	{name: "H07 chunk of all bits and more", serve: saying(chunkedHead, "fffffffffffffffff\r\nok"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H07 chunk of all bits without end", serve: withoutEnd(chunkedHead+"ffffffffffffffff\r\n", "x"), code: tooLarge, detail: "status_200", effect: applied, memory: 64 << 20},
	{name: "H07 chunk of the largest number", serve: withoutEnd(chunkedHead+"7fffffffffffffff\r\n", "x"), code: tooLarge, detail: "status_200", effect: applied, memory: 64 << 20},
	{name: "H07 chunk extension of 1 MB", serve: times(chunkedHead+"2;", strings.Repeat("x", 1000), 1000, "\r\nok\r\n0\r\n\r\n"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H07 extensions without end", serve: withoutEnd(chunkedHead, "1;"+strings.Repeat("x", 1000)+"\r\nx\r\n"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H07 no last chunk", serve: saying(chunkedHead, "2\r\nok\r\n"), code: unavailable, detail: "closed", effect: unknown},
	{name: "H08 100,000 headers", serve: times("HTTP/1.1 200 OK\r\n", "X: y\r\n", 100_000, "\r\n"), code: tooLarge, detail: "status_200", effect: applied},
	{name: "H08 a header of 10 MB", serve: times("HTTP/1.1 200 OK\r\nX: ", strings.Repeat("x", 10_000), 1000, "\r\n\r\n"), code: tooLarge, detail: "status_200", effect: applied},
	{name: "H08 10,000 cookies", serve: times("HTTP/1.1 200 OK\r\n", "Set-Cookie: a=b\r\n", 10_000, "\r\n"), code: tooLarge, detail: "status_200", effect: applied},
	{name: "H08 10,000 times 100", serve: times("", "HTTP/1.1 100 Continue\r\n\r\n", 10_000, okReply), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H08 10,000 times 103", serve: times("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 10_000, okReply), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H08 a status line without end", serve: withoutEnd("HTTP/1.1 200 ", "x"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H12 settings with a frame size of 0", serve: silentAfter("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00"), ask: impatient, code: timedOut, detail: "timeout", effect: unknown},
	{name: "H12 a storm of goaway", serve: withoutEnd("", "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H12 a flood of continuation", serve: withoutEnd("\x00\x00\x01\x01\x00\x00\x00\x00\x01\x88", "\x00\x00\x01\x09\x00\x00\x00\x00\x01\x88"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H12 reset after headers", serve: reset("\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x02"), code: unavailable, detail: "closed", effect: unknown},
	{name: "H12 says that it is HTTP/2", serve: saying("HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H13 status 099", serve: saying("HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nok"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H13 status 1000", serve: saying("HTTP/1.1 1000 x\r\nContent-Length: 2\r\n\r\nok"), code: unavailable, detail: "malformed", effect: unknown},
	{name: "H13 escapes in the status line", serve: saying("HTTP/1.1 200 \x1b[2J\x1b]0;owned\x07\r\nContent-Length: 2\r\n\r\nok"), reply: func(r toolabi.HTTPReply) bool {
		return r.Status == 200 && !strings.Contains(fmt.Sprint(r.Headers), "\x1b")
	}},
	{name: "H14 reply sent twice", serve: saying(okReply, okReply), reply: body("ok")},
	{name: "H14 reply before the request was read", serve: func(_ *rawServer, c net.Conn) { io.WriteString(c, okReply) }, reply: body("ok")},
	{name: "H15 closes after the effect", serve: func(s *rawServer, c net.Conn) { s.readRequest(c); c.Close() }, code: unavailable, detail: "closed", effect: unknown},
	{name: "H16 reset in the body", serve: reset("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), code: unavailable, detail: "closed", effect: unknown},
	{name: "H16 reset in a gzip", serve: reset(gzipHead + "\x1f\x8b\x08\x00"), ask: decompressing, code: unavailable, detail: "closed", effect: unknown},
	{name: "H17 retry after 10⁹ seconds", serve: saying("HTTP/1.1 500 x\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n"), reply: func(r toolabi.HTTPReply) bool {
		return r.Status == 500 && r.RetryAfterMS() == 1e12
	}},
	{name: "H18 binary", serve: saying("HTTP/1.1 200 OK\r\n\r\n\x00\x01\xff\xfe\x80"), reply: body("\x00\x01\xff\xfe\x80")},
	{name: "H18 UTF-16", serve: saying("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\n\r\n\xff\xfeh\x00i\x00"), reply: body("\xff\xfeh\x00i\x00")},
	{name: "H18 NUL and line ends", serve: saying("HTTP/1.1 200 OK\r\n\r\n\x00\r\n\n\r\x00"), reply: body("\x00\r\n\n\r\x00")},
}

// Whatever a server does, the tool has an error of the list or a reply, the connection is closed, nothing goes on behind it, and
// memory stays within its bound.
func TestHostileServersEndInTypedErrorsWithinTheirBounds(t *testing.T) {
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			h.ended(t, func(url string) { h.judge(t, hostfuncs.Config{}, granted(url), url) })
		})
	}
}

// ended serves h to ask, and holds that the connection is closed and that no goroutine is left afterwards.
func (h hostile) ended(t *testing.T, ask func(url string)) {
	t.Helper()
	before := runtime.NumGoroutine()
	gone := make(chan struct{}, 1)
	s := serveRawUntil(t, func(s *rawServer, c net.Conn) {
		h.serve(s, c)
		untilGone(c)
		gone <- struct{}{}
	})
	ask(s.url)
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the connection stays open")
	}
	s.stop()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, before there were %d", runtime.NumGoroutine(), before)
		}
	}
}

// judge asks for url, and holds what comes of it against h.
func (h hostile) judge(t *testing.T, cfg hostfuncs.Config, c hostfuncs.Call, url string) {
	t.Helper()
	req := post(url)
	req.TimeoutMS = 10_000
	if h.ask != nil {
		h.ask(&req)
	}
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	reply, err := send(t, cfg, c, req)
	runtime.ReadMemStats(&end)
	bound := h.memory
	if bound == 0 {
		bound = 4 << 20
	}
	if grown := end.TotalAlloc - start.TotalAlloc; grown > bound {
		t.Errorf("%d bytes were allocated, at most %d are allowed", grown, bound)
	}
	if h.code == 0 {
		if err != nil || !h.reply(reply) {
			t.Fatalf("got %+v, %v", reply, err)
		}
		return
	}
	if e := wantError(t, err, h.code, h.effect); e.Detail != h.detail || strings.ContainsRune(e.Message, 0x1b) {
		t.Errorf("got %+v, want the detail %q", e, h.detail)
	}
}

func gzipped(s string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}
