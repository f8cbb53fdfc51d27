package fakemodel

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is a fake that listens.
type Server struct {
	*Fake
	url  string
	http *http.Server
	done chan error
}

// ErrConfig is a Config with a value that there is not, or an address that is not to be listened on.
var ErrConfig = errors.New("start a fake model")

// Start makes a server and serves it. It returns once connections are accepted. Errors: ErrConfig, those of the file, and
// a *net.OpError where it cannot listen.
func Start(cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if host, _, err := net.SplitHostPort(cfg.Addr); err == nil && !cfg.Anywhere && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("%w: %s is not an address of the loopback interface", ErrConfig, cfg.Addr)
	}
	f, err := New(cfg)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a fake model: %w", err), f.Close())
	}
	s := &Server{
		Fake: f, url: "http://" + listener.Addr().String(),
		http: &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}, done: make(chan error, 1),
	}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (s *Server) URL() string { return s.url }

// Close cuts every connection, held ones too, and closes the file.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.done <- http.ErrServerClosed // a second Close finds the same
	return errors.Join(err, s.Fake.Close())
}
