package feedserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Listening is a server that listens.
type Listening struct {
	*Server
	url  string
	http *http.Server
	done chan error
}

// Start makes a server and serves it. It returns once connections are accepted.
func Start(cfg Config) (*Listening, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("start feed server: %w", err)
	}
	s := New(cfg)
	l := &Listening{
		Server: s, url: "http://" + listener.Addr().String(),
		http: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}, done: make(chan error, 1),
	}
	go func() { l.done <- l.http.Serve(listener) }()
	return l, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (l *Listening) URL() string { return l.url }

// Close cuts every connection. It is called once.
func (l *Listening) Close() error {
	close(l.closed)
	err := l.http.Close()
	if served := <-l.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
