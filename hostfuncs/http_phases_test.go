package hostfuncs_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

type hanging struct{}

func (hanging) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// passes waits on the clock of a test.
func passes(d time.Duration) { <-time.After(d) }

// readFrom reads a request from a pipe.
func readFrom(c net.Conn) {
	if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		io.Copy(io.Discard, req.Body)
	}
}

// Each part of an exchange has its own limit, and none of them is longer than what the request has as a whole. The clock of
// these tests is not the machine's.
func TestEachPartOfAnExchangeHasItsOwnTime(t *testing.T) {
	dialling := func(serve func(net.Conn)) hostfuncs.Config { return pipeTo(serve) }
	stuck := pipeTo(func(net.Conn) {})
	stuck.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, tt := range []struct {
		name   string
		cfg    hostfuncs.Config
		scheme string
		detail string
		effect toolabi.EffectState
		want   time.Duration
	}{
		{"resolving", hostfuncs.Config{Resolver: hanging{}}, "http", "dns", toolabi.EffectNone, toolabi.HTTPResolveMS},
		{"connecting", stuck, "http", "connect", toolabi.EffectNone, toolabi.HTTPConnectMS},
		{"handshake", dialling(untilGone), "https", "tls", toolabi.EffectNone, toolabi.HTTPHandshakeMS},
		{"first byte", dialling(func(c net.Conn) { readFrom(c); untilGone(c) }), "http", "timeout", unknown, toolabi.HTTPHeadMS},
		{"rest of the headers", dialling(func(c net.Conn) { readFrom(c); io.WriteString(c, "HTTP/1.1 200 OK\r\n"); untilGone(c) }), "http", "timeout", unknown, toolabi.HTTPHeadMS},
		{"interim replies", dialling(func(c net.Conn) { readFrom(c); io.WriteString(c, "HTTP/1.1 103 x\r\n\r\n"); untilGone(c) }), "http", "timeout", unknown, toolabi.HTTPHeadMS},
		{"body", dialling(func(c net.Conn) { readFrom(c); io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nx"); untilGone(c) }), "http", "timeout", unknown, toolabi.HTTPPauseMS},
	} {
		for _, timeout := range []uint32{5_000, toolabi.MaxHTTPTimeout} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want := min(tt.want, time.Duration(timeout)) * time.Millisecond
					start := time.Now()
					_, err := send(t, tt.cfg, granted(tt.scheme+"://h.example"), toolabi.HTTPRequest{Method: "POST", URL: tt.scheme + "://h.example/", TimeoutMS: timeout})
					e := wantError(t, err, timedOut, tt.effect)
					if took := time.Since(start); e.Detail != tt.detail || took != want {
						t.Errorf("got %+v after %s, want %s after %s", e, took, tt.detail, want)
					}
				})
			})
		}
	}
}

// H02, H03: a byte a second never pauses for long, and ends with the time of the request.
func TestOneByteASecondEndsWithTheTimeOfTheRequest(t *testing.T) {
	for name, begin := range map[string]string{"headers": "HTTP/1.1 200 OK\r\nX: ", "body": "HTTP/1.1 200 OK\r\n\r\n", "chunks": chunkedHead + "ffff\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := pipeTo(func(c net.Conn) {
					readFrom(c)
					_, err := io.WriteString(c, begin)
					for err == nil {
						passes(time.Second)
						_, err = io.WriteString(c, "x")
					}
				})
				start := time.Now()
				_, err := send(t, cfg, granted("http://h.example"), toolabi.HTTPRequest{Method: "POST", URL: "http://h.example/"})
				e := wantError(t, err, timedOut, unknown)
				if took := time.Since(start); e.Detail != "timeout" || took != toolabi.DefaultHTTPTimeout*time.Millisecond {
					t.Errorf("got %+v after %s", e, took)
				}
				passes(2 * time.Second) // for the server to notice
			})
		})
	}
}

func TestABodyThatPausesAndGoesOnIsAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pipeTo(func(c net.Conn) {
			readFrom(c)
			passes(100 * time.Second)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
			for range 3 {
				passes(29 * time.Second)
				io.WriteString(c, "x")
			}
		})
		reply, err := send(t, cfg, granted("http://h.example"), toolabi.HTTPRequest{Method: "POST", URL: "http://h.example/", TimeoutMS: toolabi.MaxHTTPTimeout})
		if err != nil || string(reply.Body) != "xxx" {
			t.Errorf("got %+v, %v", reply, err)
		}
	})
}

// The headers of a reply are waited for from the end of the request on, which may take long to send.
func TestASlowRequestDoesNotUseUpTheTimeOfItsReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pipeTo(func(c net.Conn) {
			passes((toolabi.HTTPHeadMS + 10_000) * time.Millisecond)
			readFrom(c)
			passes(60 * time.Second)
			io.WriteString(c, okReply)
		})
		reply, err := send(t, cfg, granted("http://h.example"), toolabi.HTTPRequest{Method: "POST", URL: "http://h.example/", Body: make([]byte, 1<<20), TimeoutMS: toolabi.MaxHTTPTimeout})
		if err != nil || reply.Status != 200 {
			t.Errorf("got %+v, %v", reply, err)
		}
	})
}

func TestGivingUpEndsEveryPart(t *testing.T) {
	for name, cfg := range map[string]hostfuncs.Config{
		"resolving": {Resolver: hanging{}},
		"head":      pipeTo(func(c net.Conn) { readFrom(c); untilGone(c) }),
		"body":      pipeTo(func(c net.Conn) { readFrom(c); io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nx"); untilGone(c) }),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				start := time.Now()
				_, err := use[toolabi.HTTPRequest, toolabi.HTTPReply](ctx, cfg, toolabi.FuncHTTPSend, granted("http://h.example"), toolabi.HTTPRequest{Method: "POST", URL: "http://h.example/"})
				if e := hostfuncs.AsError(err); err == nil || e.Code != unavailable || time.Since(start) != 3*time.Second {
					t.Errorf("got %v after %s", err, time.Since(start))
				}
			})
		})
	}
}
