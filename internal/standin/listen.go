package standin

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// Loopback is where a server listens that is not told otherwise: on a free port.
const Loopback = "127.0.0.1:0"

// Listening is a handler that is served.
type Listening struct {
	url  string
	http *http.Server
	done chan error
}

// Listen serves a handler; addr "" means Loopback. It returns once connections are accepted. Errors: *net.OpError.
func Listen(addr string, h http.Handler) (*Listening, error) {
	if addr == "" {
		addr = Loopback
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &Listening{
		url: "http://" + listener.Addr().String(), http: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}, done: make(chan error, 1),
	}
	go func() { l.done <- l.http.Serve(listener) }()
	return l, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (l *Listening) URL() string { return l.url }

// Close cuts every connection, held ones too. It may be called again.
func (l *Listening) Close() error {
	err := l.http.Close()
	if served := <-l.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	l.done <- http.ErrServerClosed // a second Close finds the same
	return err
}
