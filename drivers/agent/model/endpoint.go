package model

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is where a provider is and how it is talked to. The zero value is the provider who made the protocol, without a key.
type Endpoint struct {
	// BaseURL is http or https, a host, and a path that the protocol's is put behind. "" is the provider who made the protocol.
	BaseURL string
	// Key returns the key of the account. It is asked immediately before each request, for no longer than the request may take. nil
	// or an empty key send none. The key goes to the origin of BaseURL and nowhere else, and stands in no error.
	Key func(ctx context.Context) (string, error)
	// Stream asks for answers in pieces, so that Attempt.Progress is told of the text as it comes.
	Stream bool
	// UserAgent says who asks; "" is wrun/1.
	UserAgent string

	// Dial opens connections; nil is a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Proxy is as in http.Transport; nil is the one that the environment names, if it does.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is what https begins with; nil are the system's roots.
	TLS *tls.Config
}

// Check returns an error when no request can be sent to e. Encode and Send return it too.
func (e Endpoint) Check() error {
	if e.BaseURL == "" {
		return nil
	}
	_, err := e.target(openAI{})
	return err
}

// target is where requests go.
type target struct {
	url    *url.URL
	origin string
	native bool // it is the provider who made the protocol
}

func (e Endpoint) target(p protocol) (target, error) {
	base := e.BaseURL
	if base == "" {
		base = p.base()
	}
	u, err := url.Parse(base)
	if err != nil { // it would quote what may be a password
		return target{}, fmt.Errorf("the base URL of a model is no URL")
	}
	switch {
	case u.User != nil:
		return target{}, fmt.Errorf("the base URL of a model has a user or a password in it: a key is given by itself")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return target{}, fmt.Errorf("the base URL of a model is not http:// or https:// and a host")
	case u.Fragment != "":
		return target{}, fmt.Errorf("the base URL of a model has a fragment")
	}
	native := "https://"+strings.ToLower(u.Host) == nativeOrigin(p)
	t := target{url: u.JoinPath(p.path()), origin: u.Scheme + "://" + u.Host, native: native && u.Scheme == "https"}
	return t, nil
}

func nativeOrigin(p protocol) string {
	scheme, rest, _ := strings.Cut(p.base(), "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// key returns the key, without the blanks that a file has around it.
func (e Endpoint) key(ctx context.Context) (string, error) {
	if e.Key == nil {
		return "", nil
	}
	key, err := e.Key(ctx)
	return strings.TrimSpace(key), err
}

// isHeaderValue says whether s can stand in a header as it is.
func isHeaderValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}
