package model_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// startTLS is startProvider behind TLS, and the roots that vouch for it.
func startTLS(t *testing.T, serve func(net.Conn, heard)) (*provider, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"h2", "http/1.1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{url: "https://" + l.Addr().String(), serve: serve, gone: make(chan struct{}, 1<<16)}
	p.accept(t, l)
	return p, roots
}

// TestNothingIsPaidForThatWasNotSent holds the faults before the first byte.
func TestNothingIsPaidForThatWasNotSent(t *testing.T) {
	secure, _ := startTLS(t, says(""))
	plain := startProvider(t, says(""))
	nobody := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "model.invalid", Server: "10.0.0.1:53"}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		e      model.Endpoint
		detail string
		retry  toolabi.Retry
	}{
		{"refused", t.Context(), model.Endpoint{BaseURL: "http://127.0.0.1:1"}, "connect", toolabi.RetrySafe},
		{"no name", t.Context(), model.Endpoint{Dial: nobody}, "dns", toolabi.RetrySafe},
		{"an unknown certificate", t.Context(), model.Endpoint{BaseURL: secure.url}, "tls", toolabi.RetrySafe},
		{"no TLS", t.Context(), model.Endpoint{BaseURL: strings.Replace(plain.url, "http:", "https:", 1)}, "tls", toolabi.RetrySafe},
		{"given up", over, model.Endpoint{BaseURL: plain.url}, "given_up", toolabi.RetrySafe},
		{"no proxy", t.Context(), model.Endpoint{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://127.0.0.1:1") }}, "proxy", toolabi.RetrySafe},
		{"a bad proxy", t.Context(), model.Endpoint{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("ann:password@proxy") }}, "connect", toolabi.RetrySafe},
		{"a bad key", t.Context(), model.Endpoint{BaseURL: plain.url, Key: func(context.Context) (string, error) { return secret + "\n\x01x", nil }}, "request", toolabi.RetryNever},
	} {
		if c.e.Key == nil {
			c.e.Key = withKey
		}
		for _, client := range []model.Client{model.OpenAI(c.e), model.Anthropic(c.e)} {
			asked := 0
			a := patient()
			a.BeforeSend = func() error { asked++; return nil }
			_, err := client.Send(c.ctx, question(t, client), a)
			e := told(t, err)
			if e.Effect != toolabi.EffectNone || e.Retry != c.retry || e.Detail != c.detail || asked != 0 {
				t.Errorf("%s: %v, effect %v, retry %d, asked %d times", c.name, e, e.Effect, e.Retry, asked)
			}
			if !strings.Contains(e.Message, "nothing was sent") || strings.Contains(e.Message, "password") {
				t.Errorf("%s: %v", c.name, e)
			}
		}
	}
	if all, _, _ := plain.arrived(); len(all) != 0 {
		t.Errorf("%d requests arrived", len(all))
	}
}

// TestAKeyThatCannotBeReadSendsNothing holds Endpoint.Key, and that a slow one has the time of the exchange and no more.
func TestAKeyThatCannotBeReadSendsNothing(t *testing.T) {
	p := startProvider(t, says(""))
	c := model.OpenAI(model.Endpoint{BaseURL: p.url, Key: func(context.Context) (string, error) { return secret, errors.New("no such file") }})
	_, err := c.Send(t.Context(), question(t, c), patient())
	if e := told(t, err); e.Detail != "key" || e.Effect != toolabi.EffectNone || !strings.Contains(e.Message, "no such file") {
		t.Errorf("%v", e)
	}
	c = model.OpenAI(model.Endpoint{BaseURL: p.url, Key: func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }})
	_, err = c.Send(t.Context(), question(t, c), model.Attempt{Timeout: time.Millisecond})
	if e := told(t, err); e.Code != toolabi.Timeout || e.Effect != toolabi.EffectNone {
		t.Errorf("%v", e)
	}
	if _, conns, _ := p.arrived(); conns != 0 {
		t.Errorf("%d connections", conns)
	}
}

// TestHTTPSIsAskedAboveTLS: the handshake is no byte of the request, and HTTP/2 is not spoken where the server would.
func TestHTTPSIsAskedAboveTLS(t *testing.T) {
	p, roots := startTLS(t, func(c net.Conn, h heard) {
		if got := c.(*tls.Conn).ConnectionState().NegotiatedProtocol; got != "http/1.1" {
			t.Errorf("the protocol is %q", got)
		}
		says(reply(200, openAIWhole))(c, h)
	})
	config := &tls.Config{RootCAs: roots, NextProtos: []string{"h2", "http/1.1"}}
	c := model.OpenAI(model.Endpoint{BaseURL: p.url, Key: withKey, TLS: config})
	a := patient()
	asked := 0
	a.BeforeSend = func() error {
		asked++
		if _, _, n := p.arrived(); n != 0 {
			t.Errorf("%d bytes arrived before BeforeSend", n)
		}
		return nil
	}
	if _, err := c.Send(t.Context(), question(t, c), a); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	refusal := errors.New("no")
	a.BeforeSend = func() error { return refusal }
	<-p.gone
	_, _, before := p.arrived()
	if _, err := c.Send(t.Context(), question(t, c), a); err != refusal {
		t.Errorf("the error is %v", err)
	}
	<-p.gone
	if _, _, after := p.arrived(); after != before {
		t.Errorf("%d bytes arrived", after-before)
	}
}

// startProxy is a proxy that answers CONNECT with answer, and then passes on everything when that is a success.
func startProxy(t *testing.T, answer string) *provider {
	return startProvider(t, func(c net.Conn, h heard) {
		io.WriteString(c, answer)
		if !strings.Contains(answer, " 200 ") {
			return
		}
		to, err := net.Dial("tcp", strings.TrimPrefix(h.line, "CONNECT "))
		if err != nil {
			return
		}
		done := make(chan struct{})
		go func() { io.Copy(to, c); to.Close(); close(done) }()
		io.Copy(c, to)
		c.Close()
		<-done
	})
}

// TestAProxyIsAskedOnceAndHearsNoKey: CONNECT is the first byte, so BeforeSend is asked before it; what the proxy refuses has not
// been sent to the provider.
func TestAProxyIsAskedOnceAndHearsNoKey(t *testing.T) {
	p, roots := startTLS(t, says(reply(200, anthropicWhole)))
	for _, refuses := range []bool{false, true} {
		answer := "HTTP/1.1 200 OK\r\n\r\n"
		if refuses {
			answer = "HTTP/1.1 403 Forbidden\r\n\r\n"
		}
		proxy := startProxy(t, answer)
		c := model.Anthropic(model.Endpoint{
			BaseURL: p.url, Key: withKey, TLS: &tls.Config{RootCAs: roots}, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.url) },
		})
		asked := 0
		a := patient()
		a.BeforeSend = func() error {
			asked++
			if _, _, n := proxy.arrived(); n != 0 {
				t.Errorf("%d bytes arrived at the proxy before BeforeSend", n)
			}
			return nil
		}
		_, err := c.Send(t.Context(), question(t, c), a)
		heard, _, _ := proxy.arrived()
		if asked != 1 || len(heard) != 1 || heard[0].header.Get("X-Api-Key") != "" {
			t.Errorf("asked %d times; the proxy heard %+v", asked, heard)
		}
		if !refuses {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if e := told(t, err); e.Effect != toolabi.EffectNone || e.Retry != toolabi.RetrySafe {
			t.Errorf("%v, effect %v", e, e.Effect)
		}
	}
	proxy := startProxy(t, "")
	refusal := errors.New("no")
	c := model.Anthropic(model.Endpoint{BaseURL: p.url, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.url) }})
	if _, err := c.Send(t.Context(), question(t, c), model.Attempt{BeforeSend: func() error { return refusal }}); err != refusal {
		t.Errorf("the error is %v", err)
	}
	<-proxy.gone
	if _, _, n := proxy.arrived(); n != 0 {
		t.Errorf("%d bytes arrived at the proxy", n)
	}
}

// TestABaseURLThatCannotBeIsNotAsked holds Endpoint.Check, and that no part of it is quoted that could be a secret.
func TestABaseURLThatCannotBeIsNotAsked(t *testing.T) {
	for _, base := range []string{"api.acme.example", "ftp://acme.example", "https://", "https://ann:" + secret + "@acme.example", "https://acme.example/#" + secret, "http://acme.example:" + secret, "https:" + secret} {
		e := model.Endpoint{BaseURL: base}
		_, encoded := model.OpenAI(e).Encode(model.Request{Model: "m", Messages: []model.Message{{User: "x"}}})
		_, sent := model.Anthropic(e).Send(t.Context(), []byte("{ }"), patient())
		for _, err := range []error{e.Check(), encoded, sent} {
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", base, err)
			}
		}
	}
	if err := (model.Endpoint{}).Check(); err != nil {
		t.Error(err)
	}
}

// lateConn is a connection to nobody that comes about after it was given up.
type lateConn struct {
	net.Conn
	writes chan []byte
	closed chan struct{}
	once   sync.Once
}

func (c *lateConn) Write(b []byte) (int, error) { c.writes <- bytes.Clone(b); return len(b), nil }

func (c *lateConn) Close() error { c.once.Do(func() { close(c.closed) }); return c.Conn.Close() }

// TestNothingIsSentOnceSendHasReturned: net/http goes on in the background with a connection that nobody waits for any more, and
// would write to a proxy there.
func TestNothingIsSentOnceSendHasReturned(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	here, there := net.Pipe()
	defer there.Close()
	late := &lateConn{Conn: here, writes: make(chan []byte, 16), closed: make(chan struct{})}
	release := make(chan struct{})
	dial := func(context.Context, string, string) (net.Conn, error) {
		cancel()
		<-release
		return late, nil
	}
	c := model.OpenAI(model.Endpoint{Key: withKey, Dial: dial, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://127.0.0.1:1") }})
	a := patient()
	a.BeforeSend = func() error { t.Error("BeforeSend was called after Send had returned"); return nil }
	_, err := c.Send(ctx, question(t, c), a)
	if e := told(t, err); e.Detail != "given_up" || e.Effect != toolabi.EffectNone {
		t.Errorf("%v, effect %v", e, e.Effect)
	}
	close(release)
	<-late.closed
	select {
	case b := <-late.writes:
		t.Errorf("%q was written", b)
	default:
	}
}
