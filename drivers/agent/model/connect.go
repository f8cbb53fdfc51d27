package model

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// transport returns what does one exchange and no other: on a fresh connection that is not kept, HTTP/1.1 alone. net/http
// sends a request a second time by itself when a connection that it kept dies, if the request has an idempotency key; one on a
// fresh connection it never does.
func (x *exchange) transport() *http.Transport {
	e := x.client.endpoint
	proxy := e.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return &http.Transport{
		Proxy:                  quiet(proxy),
		DialContext:            x.dialPlain,
		DialTLSContext:         x.dialTLS,
		TLSClientConfig:        x.tls(""),
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// quiet hides what is wrong with a proxy: the address can hold a password.
func quiet(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		u, err := proxy(r)
		if err != nil {
			return nil, errors.New("the address of the proxy makes no sense")
		}
		return u, nil
	}
}

// maxHeader bounds the header of an answer, in bytes.
const maxHeader = 256 << 10

func (x *exchange) dialPlain(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := x.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return wire{conn, &x.gate}, nil
}

// dialTLS opens the connection of https without a proxy, or the one to a proxy that wants https.
func (x *exchange) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := x.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, x.tls(host))
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &handshakeError{err}
	}
	return wire{tlsConn{secure, conn}, &x.gate}, nil
}

func (x *exchange) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if dial := x.client.endpoint.Dial; dial != nil {
		return dial(ctx, network, address)
	}
	return (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// tls returns what https with host begins with.
func (x *exchange) tls(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if given := x.client.endpoint.TLS; given != nil {
		c = given.Clone()
	}
	c.NextProtos = []string{"http/1.1"}
	if c.ServerName == "" {
		c.ServerName = host
	}
	return c
}

// handshakeError says that it was TLS that failed.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// tlsConn closes without the farewell of TLS, which can wait for a peer that does not read.
type tlsConn struct {
	*tls.Conn
	raw net.Conn
}

func (c tlsConn) Close() error { return c.raw.Close() }
