package hostfuncs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// quiet is a log that nobody reads.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// trusting is a configuration that trusts srv and finds it under every name.
func trusting(srv *httptest.Server) hostfuncs.Config {
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return hostfuncs.Config{RootCAs: pool, Resolver: names{"example.com": {"1.1.1.1"}, "other.example": {"1.1.1.1"}},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, srv.Listener.Addr().String())
		}}
}

func TestHTTPSIsVerifiedAndNeverHTTP2(t *testing.T) {
	asked := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.ProtoMajor != 1 || r.TLS.NegotiatedProtocol == "h2" || r.TLS.ServerName != "example.com" || r.TLS.Version < tls.VersionTLS12 {
			t.Errorf("came as %s over %q for %q", r.Proto, r.TLS.NegotiatedProtocol, r.TLS.ServerName)
		}
		io.Copy(w, r.Body)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	req := post("https://example.com")
	req.Body = []byte(strings.Repeat("x", 1<<20))
	var sent int64
	c := granted("https://example.com")
	c.Sent = func(n int64) { sent = n }
	reply, err := send(t, trusting(srv), c, req)
	if err != nil || string(reply.Body) != string(req.Body) || asked != 1 {
		t.Fatalf("got %d bytes, %v after %d requests", len(reply.Body), err, asked)
	}
	if sent < 1<<20 || sent > 1<<20+1000 {
		t.Errorf("told of %d bytes, want what lies above TLS", sent)
	}
}

func TestAHandshakeThatFailsLeavesNothing(t *testing.T) {
	newServer := func(cfg *tls.Config) *httptest.Server {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
		srv.TLS, srv.Config.ErrorLog = cfg, quiet()
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv
	}
	plain := newServer(nil)
	for name, tc := range map[string]struct {
		cfg hostfuncs.Config
		url string
	}{
		"unknown authority": {hostfuncs.Config{RootCAs: x509.NewCertPool()}, plain.URL},
		"wrong name":        {trusting(plain), "https://other.example"},
		"old version":       {trusting(newServer(&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})), "https://example.com"},
		"not tls":           {hostfuncs.Config{}, strings.Replace(serveRaw(t, func(_ *rawServer, c net.Conn) { io.WriteString(c, "220 hello\r\n") }).url, "http:", "https:", 1)},
		"closed":            {hostfuncs.Config{}, strings.Replace(serveRaw(t, func(*rawServer, net.Conn) {}).url, "http:", "https:", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			c := granted(tc.url)
			c.BeforeSend = func() error { t.Error("asked for leave to send"); return nil }
			c.Sent = func(int64) { t.Error("told of bytes sent") }
			_, err := send(t, tc.cfg, c, post(tc.url))
			if e := wantError(t, err, toolabi.Unavailable, toolabi.EffectNone); e.Detail != "tls" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestAHandshakeThatStallsTimesOutAndLeavesNothing(t *testing.T) {
	s := serveRaw(t, func(_ *rawServer, c net.Conn) { untilGone(c) })
	url := strings.Replace(s.url, "http:", "https:", 1)
	req := post(url)
	req.TimeoutMS = 50
	_, err := send(t, hostfuncs.Config{}, granted(url), req)
	wantError(t, err, toolabi.Timeout, toolabi.EffectNone)
}

func TestBeforeSendIsAskedAfterTheHandshake(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	defer srv.Close()
	c := granted("https://example.com")
	c.BeforeSend = func() error { return io.ErrNoProgress }
	if _, err := send(t, trusting(srv), c, post("https://example.com")); err != io.ErrNoProgress {
		t.Errorf("got %v, want the very error of BeforeSend", err)
	}
}

func TestADropOverTLSIsUnknown(t *testing.T) {
	asked := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked++
		panic(http.ErrAbortHandler)
	}))
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	defer srv.Close()
	_, err := send(t, trusting(srv), granted("https://example.com"), post("https://example.com"))
	wantError(t, err, toolabi.Unavailable, toolabi.EffectUnknown)
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

// newTLSServer is a server of https that says nothing on the test's log.
func newTLSServer(t testing.TB, h http.Handler) *httptest.Server {
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}
