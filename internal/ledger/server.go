package ledger

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is a ledger that listens.
type Server struct {
	*Ledger
	url  string
	http *http.Server
	done chan error
}

// Start makes a ledger and serves it, on a free port of 127.0.0.1 unless cfg says otherwise. It returns once
// connections are accepted.
func Start(cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	l, err := New(cfg)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start ledger: %w", err), l.Close())
	}
	s := &Server{
		Ledger: l, url: "http://" + listener.Addr().String(),
		http: &http.Server{Handler: l, ReadHeaderTimeout: 10 * time.Second}, done: make(chan error, 1),
	}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (s *Server) URL() string { return s.url }

// Close cuts every connection, held replies too, and closes the file.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.done <- http.ErrServerClosed // a second Close finds the same
	return errors.Join(err, s.Ledger.Close())
}
