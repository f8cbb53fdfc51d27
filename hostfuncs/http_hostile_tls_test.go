package hostfuncs_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{key: newKey(t), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert = parsed(t, sign(t, template, template, &a.key.PublicKey, a.key))
	a.pool.AddCert(a.cert)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func parsed(t testing.TB, der []byte) *x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// certificate is one for shop.example that is in order, unless change changes it.
func (a *authority) certificate(t testing.TB, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{"shop.example"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	return tls.Certificate{Certificate: [][]byte{sign(t, template, a.cert, &key.PublicKey, a.key)}, PrivateKey: key}
}

// secured serves TLS with a certificate, and then fn.
func secured(cert tls.Certificate, fn func(*rawServer, net.Conn)) func(*rawServer, net.Conn) {
	return func(s *rawServer, c net.Conn) {
		secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}})
		if secure.Handshake() == nil {
			fn(s, secure)
			secure.Close()
		}
	}
}

// H11: whatever is wrong with a server's certificate or its handshake, nothing is sent.
func TestHostileHandshakesLeaveNothing(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	good := a.certificate(t, nil)
	self := stranger.certificate(t, nil)
	self.Certificate = append(self.Certificate, stranger.cert.Raw)
	huge := a.certificate(t, nil)
	for range 2000 { // 1 MB
		huge.Certificate = append(huge.Certificate, stranger.cert.Raw)
	}
	long := a.certificate(t, nil)
	for range 100 {
		long.Certificate = append(long.Certificate, stranger.cert.Raw)
	}
	never := func(_ *rawServer, c net.Conn) { t.Error("the handshake came to its end") }
	for _, h := range []hostile{
		{name: "H11 signed by a stranger", serve: secured(self, never), code: unavailable, detail: "tls"},
		{name: "H11 expired", serve: secured(a.certificate(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), never), code: unavailable, detail: "tls"},
		{name: "H11 not valid yet", serve: secured(a.certificate(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }), never), code: unavailable, detail: "tls"},
		{name: "H11 for another name", serve: secured(a.certificate(t, func(c *x509.Certificate) { c.DNSNames = []string{"other.example"} }), never), code: unavailable, detail: "tls"},
		{name: "H11 with a name in its subject only", serve: secured(a.certificate(t, func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, "shop.example" }), never), code: unavailable, detail: "tls"},
		{name: "H11 with a wildcard over everything", serve: secured(a.certificate(t, func(c *x509.Certificate) { c.DNSNames = []string{"*"} }), never), code: unavailable, detail: "tls"},
		{name: "H11 for clients", serve: secured(a.certificate(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }), never), code: unavailable, detail: "tls"},
		{name: "H11 a chain of 1 MB", serve: secured(huge, never), code: unavailable, detail: "tls", memory: 16 << 20},
		{name: "H11 a long chain of what does not matter", serve: secured(long, plainly(okReply)), reply: body("ok")},
		{name: "H11 in order", serve: secured(good, plainly(okReply)), reply: body("ok")},
		{name: "H12 HTTP/2 behind a handshake for HTTP/1.1", serve: secured(good, plainly("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\n\n")), code: unavailable, detail: "malformed", effect: unknown},
		{name: "H11 stalls at once", serve: untilGoneFrom, ask: impatient, code: timedOut, detail: "tls"},
		{name: "H11 stalls in the middle", serve: func(_ *rawServer, c net.Conn) { io.WriteString(c, "\x16\x03\x03\x40\x00\x02\x00"); untilGone(c) }, ask: impatient, code: timedOut, detail: "tls"},
		{name: "H11 records without end", serve: func(_ *rawServer, c net.Conn) {
			records := bytes.Repeat([]byte("\x16\x03\x03\x00\x01\x00"), 1000) // once: what is allocated in this process is counted
			for err := error(nil); err == nil; {
				_, err = c.Write(records)
			}
		}, code: unavailable, detail: "tls"},
		{name: "H11 no TLS", serve: func(_ *rawServer, c net.Conn) { io.WriteString(c, okReply) }, code: unavailable, detail: "tls"},
		{name: "H12 nothing but a protocol that was not offered", serve: func(_ *rawServer, c net.Conn) {
			if tls.Server(c, &tls.Config{Certificates: []tls.Certificate{good}, NextProtos: []string{"h3"}}).Handshake() == nil {
				t.Error("it was agreed on")
			}
		}, code: unavailable, detail: "tls"},
	} {
		t.Run(h.name, func(t *testing.T) {
			h.ended(t, func(url string) {
				cfg := leadingTo(url, names{"shop.example": {"93.184.215.14"}})
				cfg.RootCAs = a.pool
				c := granted("https://shop.example")
				if h.detail == "tls" {
					h.effect = toolabi.EffectNone
					c.BeforeSend = func() error { t.Error("asked for leave to send"); return nil }
				}
				h.judge(t, cfg, c, "https://shop.example")
			})
		})
	}
}

func untilGoneFrom(_ *rawServer, c net.Conn) { untilGone(c) }

// plainly is saying for a connection that cannot be closed by half.
func plainly(raw string) func(*rawServer, net.Conn) {
	return answering(func(w io.Writer) { io.WriteString(w, raw) })
}

// A redirect to a server whose certificate is no good ends there, and says so.
func TestARedirectToABadCertificateIsNotFollowed(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	bad := serveRaw(t, secured(stranger.certificate(t, nil), func(*rawServer, net.Conn) { t.Error("the handshake came to its end") }))
	first := serveRaw(t, secured(a.certificate(t, nil), plainly(to(302, "https://shop.example:8443/"))))
	cfg := leadingTo(first.url, names{"shop.example": {"93.184.215.14"}})
	cfg.RootCAs = a.pool
	dial, other := cfg.Dial, leadingTo(bad.url, nil).Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasSuffix(address, ":8443") {
			return other(ctx, network, address)
		}
		return dial(ctx, network, address)
	}
	_, err := fetch(t, cfg, granted("https://shop.example", "https://shop.example:8443"), get("https://shop.example/", 5))
	if e := wantError(t, err, unavailable, toolabi.EffectApplied); e.Detail != "tls" {
		t.Errorf("got %+v", e)
	}
}
